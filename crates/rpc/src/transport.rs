//! How byte streams to other processes are opened: by TCP, or in a simulated network.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hadal_peer::BoxFuture;
use hadal_types::limits::RPC_CONNECT_MILLIS;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// How long the opening of a connection may take.
pub(crate) const CONNECT_TIME: Duration = Duration::from_millis(RPC_CONNECT_MILLIS);

/// The time of the runtime, which a simulation may own.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Bytes to and from another process.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// Opens byte streams to other processes.
pub trait Transport: Send + Sync {
    /// Opens a stream to the process at `address`.
    ///
    /// # Errors
    /// When nothing takes the connection.
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>>;
}

/// The network of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Transport for Tcp {
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // Small messages must not wait for more.
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}
