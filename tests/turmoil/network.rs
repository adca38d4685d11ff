//! The simulated network as a transport of `rpc`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::stream::unfold;
use hadal_peer::BoxFuture;
use hadal_rpc::{ByteStream, Transport};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};

/// The port on which every process takes calls.
const PORT: u16 = 4282;

/// Connections through the simulated network.
pub(crate) struct Simulated;

impl Transport for Simulated {
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            Ok(Box::new(Bytes(stream)) as Box<dyn ByteStream>)
        })
    }
}

/// The address of a simulated process.
pub(crate) fn address_of(host: &str) -> SocketAddr {
    SocketAddr::new(turmoil::lookup(host), PORT)
}

/// The connections that this process accepts.
pub(crate) async fn accept_all() -> io::Result<impl Stream<Item = io::Result<Bytes>> + Send> {
    let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), PORT)).await?;
    Ok(unfold(listener, async |listener| {
        let accepted = listener.accept().await.map(|(stream, _)| Bytes(stream));
        Some((accepted, listener))
    }))
}

/// A simulated connection.
pub(crate) struct Bytes(TcpStream);

impl AsyncRead for Bytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Bytes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
