//! The configuration of the PostgreSQL door, and which configurations are refused.
//!
//! As at the HTTP door: on loopback no token is required. Any other address needs a token, and TLS
//! or the word that TLS ends elsewhere.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::Token;
use hadal_types::limits;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The configuration of the PostgreSQL door.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The password of every user. Required unless `listen` is a loopback address.
    pub admin_token: Option<Token>,
    /// Declares that TLS ends elsewhere, or is not wanted.
    pub no_tls: bool,
    /// The certificate for TLS; without one, TLS is declined.
    pub tls: Option<Tls>,
    /// Limit of concurrent connections.
    pub connections_max: usize,
    /// The release of the server.
    pub version: String,
    /// How long statements may continue once the server stops.
    pub stopping_time: Duration,
}

/// A certificate with its private key, which is never shown.
#[derive(Clone)]
pub struct Tls(pub(crate) Arc<ServerConfig>);

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls(..)")
    }
}

impl Tls {
    /// Takes the contents of two PEM files: the certificates, the server's first, and its key.
    ///
    /// # Errors
    /// When there is no certificate or no key, or they do not belong together.
    pub fn new(certificates: &[u8], key: &[u8]) -> io::Result<Self> {
        let invalid = |what: &str, error: &dyn fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{what}: {error}"))
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| invalid("no certificate in PEM", &error))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| invalid("no private key in PEM", &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|error| invalid("certificate and key", &error))?;
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Other machines could connect without a token.
    #[error(
        "--pg-listen {0} can be reached from other machines, and there is no admin token: \
         give --data DIR, where the token is kept, or --pg-listen 127.0.0.1:{port}",
        port = .0.port()
    )]
    NoToken(SocketAddr),
    /// Other machines would send rows in the clear.
    #[error(
        "--pg-listen {0} can be reached from other machines: give --pg-certificate FILE and \
         --pg-key FILE, or say with --no-tls that a proxy ends TLS, or --pg-listen \
         127.0.0.1:{port}",
        port = .0.port()
    )]
    NoTls(SocketAddr),
}

impl Config {
    /// Returns a configuration for `listen` with defaults for the rest.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            admin_token: None,
            no_tls: false,
            tls: None,
            connections_max: limits::PG_CONNECTIONS_MAX,
            version: String::new(),
            stopping_time: Duration::from_secs(limits::STOPPING_SECONDS),
        }
    }

    /// Returns whether only this machine can connect.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }

    /// Returns whether clients must use TLS.
    #[must_use]
    pub(crate) fn requires_tls(&self) -> bool {
        !self.is_loopback() && !self.no_tls
    }

    /// Refuses configurations that would be open to other machines by accident.
    ///
    /// # Errors
    /// [`ConfigError`] names the flags that would fix the configuration.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.is_loopback() {
            return Ok(());
        }
        if self.admin_token.is_none() {
            return Err(ConfigError::NoToken(self.listen));
        }
        if self.tls.is_none() && !self.no_tls {
            return Err(ConfigError::NoTls(self.listen));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listen: &str, token: bool, no_tls: bool) -> Result<(), ConfigError> {
        let admin_token = token.then(|| Token::random().expect("randomness"));
        let listen = listen.parse().expect("an address");
        Config { admin_token, no_tls, ..Config::new(listen) }.check()
    }

    #[test]
    fn a_wide_bind_needs_a_token_and_a_word_on_tls() {
        for (token, no_tls) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(check("127.0.0.1:1", token, no_tls), Ok(()));
            assert_eq!(check("[::1]:1", token, no_tls), Ok(()));
        }
        let address: SocketAddr = "0.0.0.0:4281".parse().expect("an address");
        assert_eq!(check("0.0.0.0:4281", false, true), Err(ConfigError::NoToken(address)));
        assert_eq!(check("0.0.0.0:4281", true, false), Err(ConfigError::NoTls(address)));
        assert_eq!(check("0.0.0.0:4281", true, true), Ok(()));
        let message = ConfigError::NoTls(address).to_string();
        assert!(message.contains("--pg-certificate") && message.contains("--no-tls"), "{message}");
    }

    #[test]
    fn other_bytes_are_no_certificate() {
        assert!(Tls::new(b"x", b"y").is_err());
        assert!(Tls::new(b"", b"").is_err());
    }
}
