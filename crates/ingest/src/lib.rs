//! Converts bytes to batches: JSON, CSV and plain lines become rows, rows become row blocks.
//!
//! This crate does no I/O: the caller pushes bytes, in pieces of any size, and takes
//! [`Batch`](hadal_peer::Batch)es. Memory is bounded by one line and one batch.
//!
//! ```text
//! push(bytes) ── split, csv, log ──> one record ── json ──> fields ── row ──> builder ──> batch
//! ```
//!
//! An invalid record is rejected with a reason, and reading continues. `spec/import.md` has the
//! rules. This crate knows neither the sender nor the receiver of batches.

mod age_policy;
mod columns;
mod content_hash;
mod csv;
mod depth;
mod detect;
mod distinct_names;
mod documents;
mod explained_row;
mod file_times;
mod ingest;
mod input_format;
mod json;
mod json_rows;
mod log;
mod name_cache;
mod read_options;
mod regex_option;
mod reject_kinds;
mod rejects;
mod row_reject;
mod row_writer;
mod self_table_rows;
mod split;
mod summary;
mod time;
mod time_wording;
mod warning;

pub use age_policy::AgePolicy;
pub use columns::TableColumns;
pub use csv::{CsvToJson, Dialect, Unclosed};
pub use detect::{Detection, HEAD_BYTES, Unreadable, detect, refuse_unreadable};
pub use distinct_names::distinct_names;
pub use explained_row::ExplainedRow;
pub use file_times::{FileTimes, TimeColumn};
pub use ingest::{Format, Ingest, IngestError, Settings};
pub use input_format::InputFormat;
pub use json_rows::JsonRows;
pub use log::LogToJson;
pub use read_options::{OPTION_BYTES_MAX, Quote, ReadOptions, SKIP_LINES_MAX, Untimed};
pub use reject_kinds::{RejectKind, RejectKinds};
pub use rejects::{Reject, rejects_batch};
pub use self_table_rows::{SelfTableRow, self_table_batch};
pub use summary::{Explanation, Summary, counted};
pub use time::CANDIDATES as TIME_COLUMNS;
pub use time_wording::TimeWording;
pub use warning::Warning;
