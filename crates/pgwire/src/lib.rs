//! The PostgreSQL door: the wire protocol of PostgreSQL, version 3, on a port of its own.
//!
//! ```text
//! serve ──> startup (TLS, version, token) ──> session ──> statements ──> command
//!     ──> query: frontend ──> rows as text or binary
//!     ──> session commands: SET, SHOW, BEGIN …
//! ```
//!
//! The protocol is read and written here, byte by byte, so that every length is checked before it
//! is used and every limit has a name. What a query means is the front's concern
//! ([`hadal_frontend::Frontend`]); nothing here knows HTTP, a leaf or a row block.

mod backend_message;
mod body_reader;
mod cancel;
mod catalog;
mod column_type;
mod command;
mod config;
mod connection;
mod copy;
mod door;
mod execute;
mod extended;
mod failure;
mod frontend_message;
mod insert;
mod lexer;
mod notices;
mod parameter;
mod parameter_types;
mod protocol_error;
mod rows;
mod scram;
mod serve;
mod session;
mod session_state;
mod settings;
mod startup;
mod statement_reader;
mod statements;
mod value_binary;
mod value_text;
mod write;

pub use config::{Config, ConfigError, Tls};
pub use serve::{ServeError, serve};
