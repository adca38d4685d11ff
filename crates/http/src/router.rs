//! The doors put together: what each request goes through, from the first header to the answer.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hadal_console::Definitions;
use hadal_tree::{Ledger, Root};
use hadal_types::Clock;
use hadal_wire::Sink;
use tokio::sync::Semaphore;

use crate::auth::{Scope, admit, one_host};
use crate::column_stats::cache::ColumnStatsCache;
use crate::config::Config;
use crate::ingest::Backpressure;
use crate::ingest::in_flight::InFlight;
use crate::ingest::live_columns::LiveColumns;
use crate::memory_gauge::MemoryGauge;
use crate::metrics::Metrics;
use crate::page;
use crate::problem::{Problem, ProblemKind};
use crate::routes::{Route, routes};
use crate::self_tables::SelfTables;
use crate::shutdown::Shutdown;
use crate::tables::settings_cache::TableSettingsCache;

/// What is behind the doors.
#[derive(Clone)]
pub struct App {
    /// Where queries go.
    pub root: Root,
    /// Where batches go.
    pub sink: Arc<dyn Sink>,
    /// What people set.
    pub definitions: Definitions,
    /// What each leaf should hold.
    pub ledger: Arc<Ledger>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How much memory the process takes.
    pub memory: MemoryGauge,
    /// What keeps leaves from serving that have rows, a sentence each: until the next start.
    pub damage: Arc<[String]>,
}

/// What all doors share. Cheap to clone.
pub(crate) type Doors = Arc<Shared>;

/// What all doors share.
pub(crate) struct Shared {
    pub(crate) app: App,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    /// What is to be written down about what goes on here.
    pub(crate) journal: SelfTables,
    pub(crate) started: Instant,
    pub(crate) facts: ColumnStatsCache,
    pub(crate) rules: TableSettingsCache,
    /// Bodies that are parsed at the same time: as many as there are cores.
    pub(crate) parsers: Semaphore,
    /// Bodies that are logged.
    pub(crate) coming: InFlight,
    /// Columns of the tables that bodies come in for.
    pub(crate) columns: LiveColumns,
    /// Memory of bodies that are logged.
    pub(crate) room: Backpressure,
    /// When questions and bodies are to end.
    pub(crate) ending: Shutdown,
    /// Whether the last batch that could have been taken was refused for want of disk.
    pub(crate) is_disk_full: AtomicBool,
}

impl Shared {
    pub(crate) fn new(config: Config, app: App) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            app,
            config,
            metrics: Metrics::default(),
            journal: SelfTables::default(),
            started: Instant::now(),
            facts: ColumnStatsCache::default(),
            rules: TableSettingsCache::default(),
            parsers: Semaphore::new(cores),
            coming: InFlight::default(),
            columns: LiveColumns::default(),
            room: Backpressure::default(),
            ending: Shutdown::default(),
            is_disk_full: AtomicBool::new(false),
        }
    }
}

/// All doors of `app`, as [`crate::serve`] opens them, without connections and their limits.
pub fn router(config: Config, app: App) -> Router {
    router_of(&Arc::new(Shared::new(config, app)))
}

pub(crate) fn router_of(doors: &Doors) -> Router {
    let mut router = Router::new();
    for Route { path, scope, handler, .. } in routes() {
        let guarded = match scope {
            None => handler,
            Some(scope) => handler.layer(from_fn_with_state((Arc::clone(doors), scope), guard)),
        };
        router = router.route(path, guarded);
    }
    router
        .fallback(page::other)
        .method_not_allowed_fallback(|| async {
            Problem::new(ProblemKind::Method, "see /openapi.json")
        })
        .layer(from_fn(unambiguous))
        .layer(from_fn_with_state(Arc::clone(doors), measure))
        .layer(from_fn(harden))
        .with_state(Arc::clone(doors))
}

/// Lets a request in, or not, before a byte of its body is read.
async fn guard(
    State((doors, scope)): State<(Doors, Scope)>,
    request: Request,
    next: Next,
) -> Response {
    match admit(scope, request.headers(), &doors.config) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Lets no request in that is for two servers, whichever door it is for.
async fn unambiguous(request: Request, next: Next) -> Response {
    match one_host(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Counts requests, and turns a panic of one into an answer.
async fn measure(State(doors): State<Doors>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = response.unwrap_or_else(|panic| panicked(&*panic).into_response());
    doors.metrics.request(route, response.status().as_u16());
    response
}

/// Tells browsers what these answers must never be used for.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    harden_headers(response.headers_mut());
    response
}

/// The page loads nothing from elsewhere, and nobody frames it. Its library of components writes
/// elements of style (never attributes); its charts are saved as images that it makes itself. Text
/// that becomes markup goes by the one rule that the page sets up: `ui/src/app/trusted.ts`.
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

fn panicked(panic: &(dyn Any + Send)) -> Problem {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Problem::internal("the request failed by a fault of the server", &text)
}

/// Runs what takes its time on a thread that may be blocked.
///
/// # Errors
/// When it panics.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => panicked(&*panic),
        Err(error) => Problem::internal("the server is stopping", &error),
    })
}
