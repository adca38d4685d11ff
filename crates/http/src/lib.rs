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

mod accept;
mod answer_format;
mod answer_summary;
mod auth;
mod config;
mod connection;
mod connection_limits;
mod csv_answer;
mod event_stream;
mod handlers;
mod json_lines_answer;
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
mod streamed_answer;
mod strict_object;

pub use answer_format::{AnswerEncoder, AnswerFormat, SUMMARY_KEY};
pub use config::{About, Config, ConfigError, Pace};
pub use csv_answer::write_csv_record;
pub use json_lines_answer::distinct_column_names;
pub use json_value::json_text;
pub use routes::route_list;
pub use serve::{ServeError, serve};
