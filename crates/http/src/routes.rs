//! Every route: its method, its path, the permission that it needs, and its handler.
//!
//! `spec/openapi.json` describes them for clients; a test compares the two.

use std::sync::Arc;

use axum::http::Method;
use axum::routing::{MethodRouter, delete, get, post, put};
use hadal_frontend::Permission;
use hadal_types::DocumentKind;

use crate::handlers::{
    blocks, cluster, column_values, columns, contrast, documents, functions, ingest, losses, query,
    revoke, rollover, snapshots, status, table_settings, tables,
};
use crate::page;
use crate::state::AppState;

/// One route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// The permission that the route requires; `None` if it requires none.
    pub(crate) scope: Option<Permission>,
    pub(crate) handler: MethodRouter<Arc<AppState>>,
}

/// All routes.
pub(crate) fn routes() -> Vec<Route> {
    use Permission::{Admin, Define, Functions, Log, Query};
    let route = |method, path, scope, handler| Route { method, path, scope, handler };
    let mut routes = vec![
        route(Method::POST, "/v1/log/{table}", Some(Log), post(ingest::post)),
        route(Method::PUT, "/v1/log/{table}", Some(Log), put(ingest::post)),
        route(Method::DELETE, "/v1/log/{table}", Some(Define), delete(revoke::revoke)),
        route(Method::POST, "/v1/query", Some(Query), post(query::post)),
        route(Method::POST, "/v1/explain", Some(Query), post(contrast::post)),
        route(Method::GET, "/v1/tables", Some(Query), get(tables::list)),
        route(Method::GET, "/v1/tables/{table}", Some(Query), get(tables::get)),
        route(Method::DELETE, "/v1/tables/{table}", Some(Define), delete(tables::delete)),
        route(Method::GET, "/v1/tables/{table}/settings", Some(Query), get(table_settings::get)),
        route(Method::PUT, "/v1/tables/{table}/settings", Some(Admin), put(table_settings::put)),
        route(
            Method::DELETE,
            "/v1/tables/{table}/settings",
            Some(Admin),
            delete(table_settings::delete),
        ),
        route(Method::GET, "/v1/tables/{table}/blocks", Some(Query), get(blocks::blocks)),
        route(Method::GET, "/v1/tables/{table}/columns", Some(Query), get(columns::columns)),
        route(
            Method::GET,
            "/v1/tables/{table}/columns/{column}/values",
            Some(Query),
            get(column_values::values),
        ),
        route(Method::GET, "/v1/functions", Some(Query), get(functions::list)),
        route(Method::GET, "/v1/functions/{function}", Some(Query), get(functions::get)),
        route(Method::PUT, "/v1/functions/{function}", Some(Functions), put(functions::put)),
        route(
            Method::DELETE,
            "/v1/functions/{function}",
            Some(Functions),
            delete(functions::delete),
        ),
        route(Method::DELETE, "/v1/losses", Some(Admin), delete(losses::forget)),
        route(Method::GET, "/v1/cluster", Some(Query), get(cluster::get)),
        route(Method::DELETE, "/v1/cluster/members/{member}", Some(Admin), delete(cluster::forget)),
        route(Method::GET, "/v1/rollover", Some(Query), get(rollover::get)),
        route(Method::POST, "/v1/rollover", Some(Admin), post(rollover::begin)),
        route(Method::DELETE, "/v1/rollover", Some(Admin), delete(rollover::stop)),
        route(Method::GET, "/v1/status", Some(Query), get(status::status)),
        route(Method::POST, "/v1/stop", Some(Admin), post(status::stop)),
        route(Method::GET, "/v1/version", Some(Query), get(status::version)),
        route(Method::GET, "/metrics", Some(Query), get(status::metrics)),
        route(Method::GET, "/healthz", None, get(status::healthy)),
        route(Method::GET, "/readyz", None, get(status::ready)),
        route(Method::GET, "/openapi.json", None, get(page::openapi)),
        route(Method::GET, "/", None, get(page::home)),
    ];
    routes.extend(document_routes());
    routes
}

/// The routes of what people save.
fn document_routes() -> Vec<Route> {
    use Permission::{Query, Save};
    let route = |method, path, scope, handler| Route { method, path, scope, handler };
    let mut routes = Vec::new();
    let all = [
        (DocumentKind::Dashboard, "/v1/dashboards", "/v1/dashboards/{name}"),
        (DocumentKind::View, "/v1/views", "/v1/views/{name}"),
        (DocumentKind::Snapshot, "/v1/snapshots", "/v1/snapshots/{name}"),
    ];
    for (kind, every, one) in all {
        let list = get(move |state, principal| documents::list(kind, state, principal));
        routes.push(route(Method::GET, every, Some(Query), list));
        let read = get(move |state, principal, name| documents::get(kind, state, principal, name));
        routes.push(route(Method::GET, one, Some(Query), read));
        let remove = delete(move |state, principal, name, based_on| {
            documents::delete(kind, state, principal, name, based_on)
        });
        routes.push(route(Method::DELETE, one, Some(Save), remove));
        let save = match kind {
            DocumentKind::Snapshot => route(Method::POST, every, Some(Save), post(snapshots::post)),
            _ => {
                let save = put(move |state, principal, name, request| {
                    documents::put(kind, state, principal, name, request)
                });
                route(Method::PUT, one, Some(Save), save)
            }
        };
        routes.push(save);
    }
    routes
}

/// Method and address of every route, for a comparison with their description.
#[must_use]
pub fn route_list() -> Vec<(String, &'static str)> {
    routes().iter().map(|route| (route.method.to_string(), route.path)).collect()
}
