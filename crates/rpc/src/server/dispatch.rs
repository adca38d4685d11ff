//! From an HTTP/2 request to the method that it calls, past the admission.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use hadal_peer::BoxFuture;
use hadal_types::limits::MESSAGE_BYTES_MAX;
use tokio::sync::watch;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http;
use tonic::server::{Grpc, ServerStreamingService, UnaryService};
use tonic::{Request, Response, Status};

use crate::admission::{Refusal, admit, check_token};
use crate::bytes_codec::BytesCodec;
use crate::identity::Identity;
use crate::method::Method;
use crate::server::handlers::answer;
use crate::server::query::answer_query;
use crate::server::reports::push_reports;
use crate::server::services::Services;

/// The service of all connections of a server.
#[derive(Clone)]
pub(crate) struct Dispatch {
    identity: Arc<Identity>,
    services: Arc<Services>,
    /// True once the server stops.
    stopping: watch::Receiver<bool>,
}

impl Dispatch {
    pub(crate) fn new(
        identity: Arc<Identity>,
        services: Services,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self { identity, services: Arc::new(services), stopping }
    }

    async fn respond(self, request: http::Request<Body>) -> http::Response<Body> {
        let identity = Arc::clone(&self.identity);
        let method = match self.admit(&request) {
            Ok(method) => method,
            Err(status) => {
                let mut response = status.into_http();
                response.headers_mut().extend(identity.public());
                return response;
            }
        };
        let call = Call { method, dispatch: self };
        let mut grpc = Grpc::new(BytesCodec)
            .max_decoding_message_size(method.request_bytes_max())
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let mut response = match method {
            Method::Query | Method::Reports => grpc.server_streaming(call, request).await,
            _ => grpc.unary(call, request).await,
        };
        response.headers_mut().extend(identity.of_server());
        response
    }

    /// Returns the method that an admitted caller calls. Reads nothing but the metadata.
    fn admit(&self, request: &http::Request<Body>) -> Result<Method, Status> {
        let (headers, method) = (request.headers(), Method::of_path(request.uri().path()));
        // A process of another cluster may find out whom it met.
        let admitted = match method {
            Some(Method::SayHello) => check_token(headers, &self.identity),
            _ => admit(headers, &self.identity).map(|caller| {
                tracing::trace!(caller = caller.name, path = request.uri().path(), "call");
            }),
        };
        admitted.map_err(|refusal| self.refuse(&refusal))?;
        method.ok_or_else(|| Status::unimplemented(format!("no method {}", request.uri().path())))
    }

    fn refuse(&self, refusal: &Refusal) -> Status {
        tracing::debug!(process = %self.identity.name(), "a call is refused: {refusal}");
        match refusal {
            Refusal::Token { .. } => Status::unauthenticated(refusal.to_string()),
            _ => Status::failed_precondition(refusal.to_string()),
        }
    }
}

impl Service<http::Request<Body>> for Dispatch {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let dispatch = self.clone();
        Box::pin(async move { Ok(dispatch.respond(request).await) })
    }
}

/// One call of a method.
struct Call {
    method: Method,
    dispatch: Dispatch,
}

impl UnaryService<Bytes> for Call {
    type Response = Bytes;
    type Future = BoxFuture<'static, Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let Dispatch { identity, services, .. } = self.dispatch.clone();
        let method = self.method;
        Box::pin(async move {
            let answering = answer(method, request.into_inner(), &identity, &services);
            without_panic(answering, &identity).await.map(Response::new)
        })
    }
}

/// Converts a panic to a failure of the call: it must not end others.
async fn without_panic<T>(
    answering: impl Future<Output = Result<T, Status>>,
    identity: &Identity,
) -> Result<T, Status> {
    AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|_| {
        let name = identity.name();
        Err(Status::internal(format!("{name} has a bug; its log says more")))
    })
}

impl ServerStreamingService<Bytes> for Call {
    type Response = Bytes;
    type ResponseStream = BoxStream<'static, Result<Bytes, Status>>;
    type Future = BoxFuture<'static, Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let Dispatch { identity, services, stopping } = self.dispatch.clone();
        let method = self.method;
        Box::pin(async move {
            let stream = match (method, &services.reports) {
                (Method::Query, _) => {
                    let answering = answer_query(request.into_inner(), &services);
                    without_panic(answering, &identity).await?.boxed()
                }
                (_, Some(source)) => push_reports(Arc::clone(source), stopping).boxed(),
                (_, None) => return Err(Status::unimplemented("this process reports no tables")),
            };
            Ok(Response::new(stream))
        })
    }
}
