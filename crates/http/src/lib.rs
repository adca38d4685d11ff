//! HTTP and JSON on one port.
//!
//! ```text
//! connection (how many, how slow) ──> harden ──> measure ──> guard (scope, Host, Origin, token)
//!     ──> POST /v1/log/{table}   body, decompressed ──> ingest ──> batches ──> sink
//!     ──> POST /v1/query         SQL or JSON ──> Query ──> root ──> answer
//!     ──> tables, status, metrics, page
//! ```
//!
//! A request is let in or not by its head alone: nothing of a body is inflated or parsed for
//! somebody without permission. Errors are problem+json. Nothing here knows a leaf or a block.

mod auth;
mod column_stats;
mod column_values;
mod columns;
mod config;
mod connection;
mod connection_limits;
mod ingest;
mod json_value;
mod memory_gauge;
mod metrics;
mod page;
mod problem;
mod query;
mod query_response;
mod request_body;
mod response_body;
mod router;
mod routes;
mod self_tables;
mod serve;
mod shutdown;
mod status;
mod strict_object;
mod tables;

pub use auth::Scope;
pub use config::{About, Config, ConfigError, Pace, Token};
pub use memory_gauge::{MemoryGauge, MemoryUse};
pub use router::{App, router};
pub use routes::route_list;
pub use serve::{ServeError, serve};
pub use tables::settings_cache::{RestoreError, restore_settings};
