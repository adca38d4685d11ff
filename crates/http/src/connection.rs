//! One connection: requests one after the other, with a time limit for every way in which a client
//! can stall.
//!
//! | the client | is cut off after |
//! |---|---|
//! | sends a head, byte by byte | [`limits::HEADER_SECONDS`] |
//! | sends nothing between requests | [`limits::IDLE_SECONDS`] |
//! | stops sending a body | [`limits::STALL_SECONDS`] (`request_body.rs`) |
//! | sends a body, byte by byte | the same time, if it sends less than [`limits::BODY_BYTES_PER_SECOND_MIN`] |
//! | stops reading an answer | [`limits::STALL_SECONDS`] |

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hadal_frontend::QueryClient;
use hadal_types::limits;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, Sleep, sleep, timeout_at};
use tower::ServiceExt;

/// Guaranteed time for a new client to send its first request, even if the server stops.
const FIRST_REQUEST: Duration = Duration::from_millis(100);

/// Serves requests of a client until it is done or too slow, or `stop` is set. The request in
/// flight is finished after `stop`. A client that has only just connected may still send its first
/// request, because it could not know of the stop.
pub(crate) async fn serve_connection<S>(
    stream: S,
    client: QueryClient,
    router: Router,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let start = Instant::now();
    let first_request = Arc::new(Notify::new());
    let request_arrived = Arc::clone(&first_request);
    let is_answering = Arc::new(AtomicBool::new(false));
    let paced = Paced::new(stream, Arc::clone(&is_answering));
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(client);
        is_answering.store(true, Ordering::Relaxed);
        request_arrived.notify_one();
        let (router, is_answering) = (router.clone(), Arc::clone(&is_answering));
        async move {
            let response = router.oneshot(request.map(Body::new)).await;
            is_answering.store(false, Ordering::Relaxed);
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Runs between requests too, and includes the head that follows.
        .header_read_timeout(Duration::from_secs(limits::IDLE_SECONDS))
        .max_header_size(limits::HEADER_BYTES_MAX)
        .max_buf_size(limits::READ_BYTES_MAX)
        .serve_connection(TokioIo::new(paced), service);
    let mut connection = pin!(connection);
    let stopped = async {
        drop(stop.wait_for(|stop| *stop).await);
        // Returns immediately if a request has arrived or the connection is older than
        // `FIRST_REQUEST`.
        let _ = timeout_at(start + FIRST_REQUEST, first_request.notified()).await;
    };
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stopped => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A stream that fails when the client is too slow.
struct Paced<S> {
    stream: S,
    /// A request has arrived and its answer is not ready: reads may take any time.
    is_answering: Arc<AtomicBool>,
    /// Runs while a head is arriving.
    head: Option<Pin<Box<Sleep>>>,
    /// Runs while the client does not read its answer.
    write: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    fn new(stream: S, is_answering: Arc<AtomicBool>) -> Self {
        Self { stream, is_answering, head: None, write: None }
    }

    /// `written`, unless that has been pending for too long.
    fn pace<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write = None;
            return written;
        }
        let stall = Duration::from_secs(limits::STALL_SECONDS);
        let timer = self.write.get_or_insert_with(|| Box::pin(sleep(stall)));
        timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.is_answering.load(Ordering::Relaxed) {
            self.head = None;
            return read;
        }
        if read.is_ready() {
            if buffer.filled().len() > filled_before && self.head.is_none() {
                let longest = Duration::from_secs(limits::HEADER_SECONDS);
                self.head = Some(Box::pin(sleep(longest)));
            }
            return read;
        }
        match &mut self.head {
            Some(timer) => {
                timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.pace(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.pace(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.pace(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.pace(context, shut)
    }
}

#[cfg(test)]
mod tests;
