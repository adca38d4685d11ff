//! The doors: HTTP and JSON on one port.
//!
//! ```text
//! connection (how many, how slow) ──> harden ──> measure ──> guard (scope, Host, Origin, token)
//!     ──> POST /v1/log/{table}   body, inflated ──> ingest ──> batches ──> sink
//!     ──> POST /v1/query         SQL or JSON ──> Query ──> root ──> answer
//!     ──> tables, status, metrics, page
//! ```
//!
//! A request is let in or not by its head alone: nothing of a body is inflated or parsed for
//! somebody without permission. Errors are problem+json. Nothing here knows a leaf or a block.

mod answer;
mod app;
mod auth;
mod blocks;
mod body;
mod cell;
mod columns;
mod coming;
mod config;
mod connection;
mod describe;
mod ending;
mod facts;
mod guests;
mod inflate;
mod journal;
mod known;
mod live_columns;
mod log;
mod losses;
mod memory;
mod metrics;
mod object;
mod outgoing;
mod page;
mod problem;
mod query;
mod revoke;
mod routes;
mod rules;
mod serve;
mod settings;
mod status;
mod summary;
mod tables;
mod values;

pub use app::{App, router};
pub use auth::Scope;
pub use config::{About, Config, ConfigError, Pace, Token};
pub use memory::{MemoryGauge, MemoryUse};
pub use routes::route_list;
pub use rules::{RestoreError, restore_settings};
pub use serve::{ServeError, serve};
