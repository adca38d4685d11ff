//! The server: answers calls of admitted callers from the parts of this process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use hadal_types::limits::{RPC_HEADER_BYTES_MAX, RPC_STREAMS_MAX};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::transport::Server;

use crate::identity::Identity;
use crate::server::dispatch::Dispatch;
use crate::server::incoming::{LimitedStream, accept_all};
use crate::transport::ByteStream;

mod dispatch;
mod handlers;
mod incoming;
mod query;
mod reports;
mod services;

pub use services::Services;

/// How often a silent client is tested by a ping, and how long its answer may take. A server loses
/// little when a dead client stays connected.
const CLIENT_PING_TIME: Duration = Duration::from_secs(10);

/// Why a server ended, or never began.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A certificate or key cannot be read, or the connections cannot be served.
    #[error("cannot serve other processes: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// Serves calls on `listener` until `shutdown` is ready and running calls have ended. Streams of
/// reports end with it.
///
/// # Errors
/// When a certificate or key of the identity is not readable.
pub async fn serve(
    listener: TcpListener,
    identity: Arc<Identity>,
    services: Services,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    serve_limited(accept_all(listener), identity, services, shutdown).await
}

/// Serves calls on byte streams that were accepted elsewhere, as [`serve`] does.
///
/// # Errors
/// As [`serve`].
pub async fn serve_streams<S: ByteStream + 'static>(
    incoming: impl Stream<Item = io::Result<S>> + Send,
    identity: Arc<Identity>,
    services: Services,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let incoming = incoming.map(|stream| Ok(LimitedStream::new(stream?, None)));
    serve_limited(incoming, identity, services, shutdown).await
}

async fn serve_limited<S: ByteStream + 'static>(
    incoming: impl Stream<Item = io::Result<LimitedStream<S>>> + Send,
    identity: Arc<Identity>,
    services: Services,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(CLIENT_PING_TIME))
        .http2_keepalive_timeout(Some(CLIENT_PING_TIME))
        .http2_max_header_list_size(RPC_HEADER_BYTES_MAX)
        .max_concurrent_streams(RPC_STREAMS_MAX)
        // Stragglers are cut off often, and their calls end by a reset.
        .http2_max_pending_accept_reset_streams(Some(RPC_STREAMS_MAX as usize));
    if let Some(tls) = identity.tls() {
        server = server.tls_config(tls.of_server())?;
    }
    let (stop, stopping) = watch::channel(false);
    let dispatch = Dispatch::new(identity, services, stopping);
    let shutdown = async move {
        shutdown.await;
        stop.send_replace(true);
    };
    Ok(server.serve_with_incoming_shutdown(dispatch, incoming, shutdown).await?)
}
