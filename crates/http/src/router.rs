//! The layers of each request, from the first header to the response.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hadal_frontend::{FrontendError, Permission, QueryClient};

use crate::auth::{admit, one_host};
use crate::page;
use crate::problem::{Problem, ProblemKind};
use crate::routes::{Route, routes};
use crate::state::AppState;

/// Returns all routes as served by [`crate::serve`], without connections and their limits.
pub(crate) fn router_of(state: &Arc<AppState>) -> Router {
    let mut router = Router::new();
    for Route { path, scope, handler, .. } in routes() {
        let guarded = match scope {
            None => handler,
            Some(scope) => handler.layer(from_fn_with_state((Arc::clone(state), scope), guard)),
        };
        router = router.route(path, guarded);
    }
    router
        .fallback(page::other)
        .method_not_allowed_fallback(|| async {
            Problem::new(ProblemKind::Method, "see /openapi.json")
        })
        .layer(from_fn(unambiguous))
        .layer(from_fn_with_state(Arc::clone(state), measure))
        .layer(from_fn(harden))
        .with_state(Arc::clone(state))
}

/// Admits or refuses a request before a byte of its body is read.
async fn guard(
    State((state, scope)): State<(Arc<AppState>, Permission)>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(scope, request.headers(), &state.config) {
        Ok(principal) => {
            let client = request.extensions().get::<QueryClient>().copied().unwrap_or_default();
            request.extensions_mut().insert(principal.of_client(client));
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Refuses a request with more than one `Host`, whatever its route.
async fn unambiguous(request: Request, next: Next) -> Response {
    match one_host(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Counts requests, and turns a panic in a request into an answer.
async fn measure(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = response
        .unwrap_or_else(|panic| Problem::from(FrontendError::of_panic(&*panic)).into_response());
    state.metrics.request(route, response.status().as_u16());
    response
}

/// Adds headers that tell browsers how answers must never be used.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    harden_headers(response.headers_mut());
    response
}

/// The page loads nothing from other origins, and no page may frame it. Its component library
/// writes style elements (never attributes), and the page itself generates the images of saved
/// charts. Text becomes markup only by the one policy that the page defines:
/// `ui/src/app/trusted.ts`.
const CONTENT_SECURITY: &str = "default-src 'self'; script-src 'self'; \
    style-src 'self' 'unsafe-inline'; style-src-attr 'none'; img-src 'self' data: blob:; \
    connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types default";

fn harden_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
