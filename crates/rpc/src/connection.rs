//! One HTTP/2 connection to a process, opened when it is first needed and again after it broke.
//!
//! Calls that need the connection while it is being opened wait for the same attempt and share its
//! outcome. All calls to a dead process thus fail after one connect time, not one after another.
//! Pings find out within two of their intervals that a process is frozen or cut off.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hadal_peer::BoxFuture;
use hadal_types::LeafName;
use hadal_types::limits::{
    MESSAGE_BYTES_MAX, RPC_HEADER_BYTES_MAX, RPC_PING_MILLIS, RPC_STREAMS_MAX,
};
use parking_lot::Mutex;
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::codec::Streaming;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::bytes_codec::BytesCodec;
use crate::call::{CallFailure, ConnectError, Reply, innermost, is_unsent};
use crate::connection::connector::Connector;
use crate::identity::{Identity, Recipient, STARTED, number};
use crate::method::Method;
use crate::transport::{CONNECT_TIME, Tcp, Transport, now};

mod connector;

pub(crate) use connector::StreamUsed;

/// After how much silence a ping is sent, and how long its answer may take.
const PING_TIME: Duration = Duration::from_millis(RPC_PING_MILLIS);

/// A connection to the process at one address.
pub struct Connection {
    address: SocketAddr,
    identity: Arc<Identity>,
    endpoint: Endpoint,
    transport: Arc<dyn Transport>,
    open: Mutex<Option<Open>>,
    /// Locked while the connection is being opened: when that failed last, and why.
    opening: tokio::sync::Mutex<Option<(Instant, ConnectError)>>,
}

/// An open connection.
#[derive(Clone)]
struct Open {
    channel: Channel,
    opened: Instant,
}

impl Connection {
    /// Makes a connection by TCP, without opening it.
    ///
    /// # Errors
    /// When a certificate or key of the identity is not readable.
    pub fn new(
        address: SocketAddr,
        identity: Arc<Identity>,
    ) -> Result<Self, tonic::transport::Error> {
        Self::over(Arc::new(Tcp), address, identity)
    }

    /// Makes a connection over another transport, without opening it.
    ///
    /// # Errors
    /// When a certificate or key of the identity is not readable.
    pub fn over(
        transport: Arc<dyn Transport>,
        address: SocketAddr,
        identity: Arc<Identity>,
    ) -> Result<Self, tonic::transport::Error> {
        let endpoint = match identity.tls() {
            None => Endpoint::from_static("http://hadal"),
            Some(tls) => Endpoint::from_static("https://hadal").tls_config(tls.of_client())?,
        };
        let endpoint = endpoint
            .http2_keep_alive_interval(PING_TIME)
            .keep_alive_timeout(PING_TIME)
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(RPC_HEADER_BYTES_MAX)
            // A call that is dropped resets its stream, which is no sign of an attack here.
            .http2_max_concurrent_reset_streams(RPC_STREAMS_MAX as usize)
            .http2_max_local_error_reset_streams(None);
        let (open, opening) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { address, identity, endpoint, transport, open, opening })
    }

    /// The address of the process.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the open connection, after opening it if necessary.
    async fn opened(&self) -> Result<Open, ConnectError> {
        let is_open = || self.open.lock().clone();
        if let Some(open) = is_open() {
            return Ok(open);
        }
        let start = now();
        let mut last_failure = self.opening.lock().await;
        if let Some(open) = is_open() {
            return Ok(open);
        }
        if let Some((failed, error)) = &*last_failure
            && *failed >= start
        {
            return Err(error.clone());
        }
        match timeout(CONNECT_TIME, self.try_open()).await.unwrap_or(Err(ConnectError::TimedOut)) {
            Ok(channel) => {
                let open = Open { channel, opened: now() };
                *self.open.lock() = Some(open.clone());
                Ok(open)
            }
            Err(error) => {
                *last_failure = Some((now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn try_open(&self) -> Result<Channel, ConnectError> {
        let stream = self.transport.connect(self.address).await?;
        let channel = self.endpoint.connect_with_connector(Connector::new(stream)).await;
        channel.map_err(|error| ConnectError::Other(innermost(&error)))
    }

    /// Forgets a broken connection, unless it was replaced already.
    fn forget(&self, broken: &Open) {
        let mut open = self.open.lock();
        if open.as_ref().is_some_and(|open| open.opened == broken.opened) {
            *open = None;
        }
    }

    /// Calls a method of `recipient`, or of any process at the address. Dropping the future cancels
    /// the call.
    pub(crate) async fn call(
        &self,
        method: Method,
        recipient: Option<Recipient<'_>>,
        message: Bytes,
    ) -> Result<Reply, CallFailure> {
        let response = self
            .send(recipient, message, |mut grpc, request| {
                let path = method.path_and_query();
                Box::pin(async move { grpc.unary(request, path, BytesCodec).await })
            })
            .await?;
        let (metadata, message, _) = response.into_parts();
        Ok(Reply { message, metadata })
    }

    /// Opens the stream of responses of a method. Also returns the start of the process.
    pub(crate) async fn stream(
        &self,
        method: Method,
        recipient: &LeafName,
        message: Bytes,
    ) -> Result<(Streaming<Bytes>, Option<u64>), CallFailure> {
        let response = self
            .send(Some(recipient.into()), message, |mut grpc, request| {
                let path = method.path_and_query();
                Box::pin(async move { grpc.server_streaming(request, path, BytesCodec).await })
            })
            .await?;
        let started = number(response.metadata().as_ref(), &STARTED);
        Ok((response.into_inner(), started))
    }

    /// Sends a request. If a connection that was open before turns out to be closed before anything
    /// was sent, the request is sent once more over a new one.
    async fn send<T>(
        &self,
        recipient: Option<Recipient<'_>>,
        message: Bytes,
        send: impl Fn(Grpc<Channel>, Request<Bytes>) -> BoxFuture<'static, Result<T, Status>>,
    ) -> Result<T, CallFailure> {
        let metadata = self.identity.of_caller(recipient);
        let start = now();
        loop {
            let open = self.opened().await?;
            let mut request = Request::new(message.clone());
            *request.metadata_mut() = MetadataMap::from_headers(metadata.clone());
            let mut grpc = Grpc::new(open.channel.clone())
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX);
            let sent = match grpc.ready().await {
                Ok(()) => send(grpc, request).await,
                Err(error) => Err(Status::from_error(error.into())),
            };
            let status = match sent {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            if status.source().is_some() {
                self.forget(&open);
            }
            if open.opened >= start || !is_unsent(&status) {
                return Err(status.into());
            }
        }
    }
}
