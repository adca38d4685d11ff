//! Accepted connections: a limited number. Each must begin to speak in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use hadal_types::limits::RPC_CONNECTIONS_MAX;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;

use crate::transport::ByteStream;

/// How long a client may take to send its first bytes. A connection that stays silent for longer
/// is closed.
const FIRST_BYTES_TIME: Duration = Duration::from_secs(10);
/// Bytes that every HTTP/2 client and every TLS client sends first, at least.
const FIRST_BYTES: usize = 24;
/// How long to wait after a failure to accept, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// One connection, until it is closed.
pub(crate) struct LimitedStream<S> {
    stream: S,
    /// The right to be open, if connections are limited.
    _permit: Option<OwnedSemaphorePermit>,
    /// Bytes that are to be read by the deadline, and the deadline.
    first: Option<(usize, Pin<Box<Sleep>>)>,
}

impl<S> LimitedStream<S> {
    pub(crate) fn new(stream: S, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            stream,
            _permit: permit,
            first: Some((FIRST_BYTES, Box::pin(sleep(FIRST_BYTES_TIME)))),
        }
    }
}

/// Accepts connections. At most [`RPC_CONNECTIONS_MAX`] are open at the same time; further ones
/// wait.
pub(crate) fn accept_all(
    listener: TcpListener,
) -> impl Stream<Item = io::Result<LimitedStream<TcpStream>>> + Send {
    let permits = Arc::new(Semaphore::new(RPC_CONNECTIONS_MAX));
    unfold((listener, permits), async |(listener, permits)| {
        let permit = Arc::clone(&permits).acquire_owned().await.ok()?;
        let accepted = accept(&listener).await;
        let stream = accepted.map(|stream| LimitedStream::new(stream, Some(permit)));
        Some((stream, (listener, permits)))
    })
}

async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    match listener.accept().await {
        Ok((stream, _)) => stream.set_nodelay(true).map(|()| stream),
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection of another process");
            sleep(ACCEPT_PAUSE).await;
            Err(error)
        }
    }
}

impl<S> Connected for LimitedStream<S> {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl<S: ByteStream> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        let Self { stream, first, .. } = &mut *self;
        let read = Pin::new(stream).poll_read(context, buffer);
        if let Some((missing, deadline)) = first {
            *missing = missing.saturating_sub(buffer.filled().len() - filled);
            if *missing == 0 {
                *first = None;
            } else if read.is_pending() && deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl<S: ByteStream> AsyncWrite for LimitedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
