//! What a process says of itself in the metadata of every call.

use std::fmt;
use std::sync::Arc;

use hadal_peer::{Hello, WIRE_VERSION};
use hadal_types::limits::{
    CLUSTER_TOKEN_BYTES_MAX, CLUSTER_TOKEN_BYTES_MIN, NAME_BYTES_MAX as NAME_MAX,
};
use hadal_types::{Clock, LeafName};
use tonic::codegen::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::tls::Tls;

/// The process's cluster.
pub(crate) const CLUSTER: HeaderName = HeaderName::from_static("hadal-cluster");
/// The process's name.
pub(crate) const NAME: HeaderName = HeaderName::from_static("hadal-name");
/// The version of the messages that the process writes.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("hadal-wire-version");
/// The start of the process that answers, in microseconds since the Unix epoch.
pub(crate) const STARTED: HeaderName = HeaderName::from_static("hadal-started");
/// The name of the process that the call is for.
pub(crate) const RECIPIENT: HeaderName = HeaderName::from_static("hadal-to");

/// The start of the process that the call is for, in microseconds since the Unix epoch.
pub(crate) const RECIPIENT_STARTED: HeaderName = HeaderName::from_static("hadal-to-started");

/// Whom a call is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipient<'a> {
    /// The name of the process.
    pub(crate) name: &'a LeafName,
    /// Its start; `None` for any process of the name.
    pub(crate) started: Option<u64>,
}

impl<'a> From<&'a LeafName> for Recipient<'a> {
    fn from(name: &'a LeafName) -> Self {
        Self { name, started: None }
    }
}

/// The secret that the members of a cluster share.
#[derive(Clone)]
pub struct ClusterToken(Arc<str>);

/// One process of a cluster, as other processes see it.
#[derive(Clone)]
pub struct Identity {
    cluster: Arc<str>,
    name: LeafName,
    release: Arc<str>,
    wire_version: u32,
    started: u64,
    token: Option<ClusterToken>,
    tls: Option<Tls>,
    clock: Arc<dyn Clock>,
}

/// Why an identity or a token was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The cluster's name is empty, too long or has other characters.
    #[error(
        "cluster name {0:?} has not 1 to {NAME_MAX} letters, digits and _ . : - of ASCII; choose \
         another"
    )]
    Cluster(String),
    /// The process's name is empty, too long or has control characters.
    #[error(
        "process name {0:?} has not 1 to {NAME_MAX} bytes without control characters; choose \
         another"
    )]
    Name(String),
    /// The token is too short or too long, or has characters that cannot be sent.
    #[error(
        "the cluster token has {0} bytes; it needs {CLUSTER_TOKEN_BYTES_MIN} to \
         {CLUSTER_TOKEN_BYTES_MAX} visible characters of ASCII"
    )]
    Token(usize),
}

impl ClusterToken {
    /// Checks and stores a token; white space around it is ignored, as files end in a line break.
    ///
    /// # Errors
    /// [`IdentityError::Token`], which does not show the token.
    pub fn parse(text: &str) -> Result<Self, IdentityError> {
        let text = text.trim();
        let lengths = CLUSTER_TOKEN_BYTES_MIN..=CLUSTER_TOKEN_BYTES_MAX;
        if lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(IdentityError::Token(text.len()))
        }
    }

    /// Whether a caller's credentials are this token, in a time that depends on no byte of it.
    pub(crate) fn matches(&self, credentials: &[u8]) -> bool {
        let Some(token) = credentials.strip_prefix(b"Bearer ") else { return false };
        let bytes = self.0.as_bytes();
        let pairs = bytes.iter().zip(token);
        let difference = pairs.fold(0, |all, (left, right)| all | (left ^ right));
        token.len() == bytes.len() && std::hint::black_box(difference) == 0
    }
}

/// The token stays secret.
impl fmt::Debug for ClusterToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClusterToken(..)")
    }
}

impl Identity {
    /// Makes the identity of a process without a token; `started` is its start in microseconds
    /// since the Unix epoch.
    ///
    /// # Errors
    /// [`IdentityError`] for a name that cannot be sent.
    pub fn new(
        cluster: &str,
        name: LeafName,
        release: &str,
        started: u64,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, IdentityError> {
        let is_cluster_character = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
        if !(1..=NAME_MAX).contains(&cluster.len()) || !cluster.chars().all(is_cluster_character) {
            return Err(IdentityError::Cluster(cluster.to_owned()));
        }
        if !(1..=NAME_MAX).contains(&name.0.len()) || name.0.chars().any(char::is_control) {
            return Err(IdentityError::Name(name.to_string()));
        }
        Ok(Self {
            cluster: cluster.into(),
            name,
            release: release.into(),
            wire_version: WIRE_VERSION,
            started,
            token: None,
            tls: None,
            clock,
        })
    }

    /// The same identity with a token: it is sent with every call, and required of every caller.
    #[must_use]
    pub fn with_token(self, token: Option<ClusterToken>) -> Self {
        Self { token, ..self }
    }

    /// The same identity with certificates: calls from and to the process are by mutual TLS.
    #[must_use]
    pub fn with_tls(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// The same identity with another start.
    #[must_use]
    pub fn with_started(self, started: u64) -> Self {
        Self { started, ..self }
    }

    /// The same identity with another version of messages, as another release has.
    #[must_use]
    pub fn with_wire_version(self, wire_version: u32) -> Self {
        Self { wire_version, ..self }
    }

    /// The cluster's name.
    #[must_use]
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// The process's name.
    #[must_use]
    pub const fn name(&self) -> &LeafName {
        &self.name
    }

    /// The token, if the cluster has one.
    #[must_use]
    pub const fn token(&self) -> Option<&ClusterToken> {
        self.token.as_ref()
    }

    pub(crate) const fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// The introduction of the process now.
    #[must_use]
    pub fn hello(&self) -> Hello {
        Hello {
            cluster: self.cluster.to_string(),
            name: self.name.clone(),
            wire_version: self.wire_version,
            release: self.release.to_string(),
            started: self.started,
            clock: self.clock.now(),
        }
    }

    /// The metadata of a call to `recipient`, or to whichever process has the address.
    pub(crate) fn of_caller(&self, recipient: Option<Recipient<'_>>) -> HeaderMap {
        let mut headers = self.public();
        put(&mut headers, NAME, self.name.0.as_bytes());
        if let Some(Recipient { name, started }) = recipient {
            put(&mut headers, RECIPIENT, name.0.as_bytes());
            if let Some(started) = started {
                headers.insert(RECIPIENT_STARTED, HeaderValue::from(started));
            }
        }
        if let Some(token) = &self.token {
            put(&mut headers, AUTHORIZATION, format!("Bearer {}", token.0).as_bytes());
        }
        headers
    }

    /// The metadata of a response to a caller that was admitted.
    pub(crate) fn of_server(&self) -> HeaderMap {
        let mut headers = self.public();
        put(&mut headers, NAME, self.name.0.as_bytes());
        headers.insert(STARTED, HeaderValue::from(self.started));
        headers
    }

    /// The metadata of a response to any caller.
    pub(crate) fn public(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        put(&mut headers, CLUSTER, self.cluster.as_bytes());
        headers.insert(VERSION, HeaderValue::from(self.wire_version));
        headers
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {}", self.name, self.cluster)
    }
}

/// Adds a header, whose value was checked by [`Identity::new`].
fn put(headers: &mut HeaderMap, name: HeaderName, value: &[u8]) {
    if let Ok(mut value) = HeaderValue::from_bytes(value) {
        value.set_sensitive(name == AUTHORIZATION);
        headers.insert(name, value);
    }
}

/// The text of a header; `None` if there is none, or it is not UTF-8.
pub(crate) fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.as_bytes();
    std::str::from_utf8(value).ok().map(str::to_owned)
}

/// The number in a header.
pub(crate) fn number(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}
