//! Hands one open stream to the HTTP/2 client.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;

use crate::transport::ByteStream;

/// Returns its stream once. The client asks a second time when the connection has broken; then the
/// caller decides whether a new connection is opened.
pub(crate) struct Connector(Option<Box<dyn ByteStream>>);

/// The connection has broken before the request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub(crate) struct StreamUsed;

impl Connector {
    pub(crate) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self(Some(stream))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn ByteStream>>;
    type Error = StreamUsed;
    type Future = Ready<Result<Self::Response, StreamUsed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StreamUsed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().map(TokioIo::new).ok_or(StreamUsed))
    }
}
