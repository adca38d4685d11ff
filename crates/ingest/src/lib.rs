//! Bytes from outside to batches: JSON, CSV and plain lines become rows, rows become row blocks.
//!
//! No input or output happens here: whoever has bytes pushes them in, in pieces of any size, and
//! takes [`Batch`](hadal_peer::Batch)es out. Memory is bounded by one line and one batch.
//!
//! ```text
//! push(bytes) ── split, csv ──> one record ── json | lines ──> fields ── row ──> builder ──> batch
//! ```
//!
//! A record that is wrong is rejected with a reason, and the rest goes on. The rules are in
//! `spec/import.md`. This crate knows neither who sends nor who takes.

mod age_policy;
mod columns;
mod content_hash;
mod csv;
mod distinct_names;
mod ingest;
mod json;
mod lines;
mod name_cache;
mod rejects;
mod row_writer;
mod self_table_rows;
mod split;
mod summary;
mod time_column;

pub use age_policy::AgePolicy;
pub use columns::TableColumns;
pub use csv::{CsvToJson, Unclosed};
pub use distinct_names::distinct_names;
pub use ingest::{Format, Ingest, Settings};
pub use rejects::{REJECTS_TABLE, Reject, rejects_batch};
pub use self_table_rows::{SelfTableRow, self_table_batch};
pub use summary::{Summary, Warning, counted};
pub use time_column::CANDIDATES as TIME_COLUMNS;
