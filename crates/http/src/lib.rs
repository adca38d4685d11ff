//! The HTTP door: bytes, routes, JSON and the page on one port.
//!
//! ```text
//! connection (how many, how slow) ──> harden ──> measure ──> guard (scope, Host, Origin, token)
//!     ──> handler: reads the request ──> frontend ──> writes the response
//! ```
//!
//! A request is accepted or refused by its head alone: no part of a body is read for a client
//! without permission. Errors are problem+json. The meaning of a request is the front's concern
//! ([`hadal_frontend::Frontend`]); nothing here knows a leaf or a row block.

mod auth;
mod config;
mod connection;
mod connection_limits;
mod handlers;
mod json_value;
mod metrics;
mod page;
mod parameters;
mod problem;
mod query_response;
mod request_body;
mod response_body;
mod router;
mod routes;
mod serve;
mod state;
mod strict_object;

pub use config::{About, Config, ConfigError, Pace};
pub use routes::route_list;
pub use serve::{ServeError, serve};
