//! The front of the database, behind every door.
//!
//! A door (HTTP, and later the PostgreSQL protocol) turns bytes into a call of [`Frontend`] and its
//! result into bytes:
//!
//! ```text
//! execute(request, principal, deadline) ──> SQL or spec ──> Query ──> root ──> QueryResult
//! ingest(table, options, body)          ──> decompress, parse, encode ──> sink ──> IngestReceipt
//! catalog, table settings, column statistics, self tables
//! ```
//!
//! Errors are [`FrontendError`]: a kind, a detail, a position and a hint. Each door maps the kind
//! to its own codes (HTTP status, SQLSTATE), and puts the hint in its own words. This crate knows
//! no sockets, no HTTP and no JSON bodies; it knows no leaf and no row block either, only the
//! tree's root and a sink.

mod backend;
mod batch_id;
mod cluster;
mod column_stats;
mod column_type;
mod column_values;
mod contrast;
mod dashboard_files;
mod documents;
mod error;
mod frontend;
mod functions;
mod ingest;
mod members;
mod principal;
mod query;
mod query_client;
mod query_runner;
mod query_turn;
mod self_tables;
mod state;
mod tables;
mod token;

pub use backend::Backend;
pub use cluster::rollover::{
    Moment, ObservedLeaf, QueryCounts, RollingLeaf, Rollover, RolloverMoment, RolloverPhase,
    RolloverReport, RolloverSettings,
};
pub use cluster::{
    AggregatorReport, ClusterReport, ClusterTotals, ForgottenLeaf, LeafReport, MachineReport,
    RowCounts, TableCoverage, TableShare,
};
pub use column_stats::ColumnStats;
pub use column_type::{rows_of, type_of};
pub use column_values::{ColumnValues, ColumnValuesRequest};
pub use contrast::Contrast;
pub use contrast::condition::{Condition, Test};
pub use contrast::ranking::Difference;
pub use contrast::request::ContrastRequest;
pub use dashboard_files::{DashboardFile, DashboardFiles};
pub use documents::{DocumentList, StoredDocument, bad_document};
pub use error::{ErrorContext, ErrorKind, FrontendError, Hint, Rejects};
pub use frontend::{Frontend, FrontendConfig, blocking};
pub use ingest::decompress::Decompressor;
pub use ingest::request::{ByteStream, IngestOptions, IngestReceipt};
pub use members::Members;
pub use principal::{Permission, Principal};
pub use query::answer_stream::{AnswerColumn, AnswerStream, RowBatch};
pub use query::column_form::{ColumnForm, NumberForm};
pub use query::columns::OutputColumn;
pub use query::intervals::IntervalForm;
pub use query::number_class::NumberClass;
pub use query::result::{QueryResult, QueryWarning};
pub use query::updates::QueryUpdate;
pub use query::{QueryRequest, QueryText};
pub use query_client::QueryClient;
pub use state::counters::Counters;
pub use state::memory_gauge::{MemoryGauge, MemoryUse};
pub use state::settings_cache::{RestoreError, restore_settings};
pub use state::shutdown::Shutdown;
pub use tables::DroppedTable;
pub use tables::settings::{EffectiveSettings, SettingsReport};
pub use token::Token;
