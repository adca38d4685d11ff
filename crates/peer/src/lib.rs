//! The seams between processes: [`Peer`] answers queries, [`Sink`] accepts batches, [`Admin`]
//! changes tables.
//!
//! A leaf, a remote process and an aggregator over peers all are a `Peer`, so trees nest without
//! further mechanism (Scuba, VLDB 2013, section 3.5). Every argument and every result has a
//! protobuf form (`spec/proto`, crate `wire`). This crate knows no bytes: a process that talks to
//! itself needs no codec.

mod admin;
mod batch;
mod blocks;
mod expected_rows;
mod hello;
mod member;
mod peer;
mod plan;
mod query_watch;
mod report_source;
mod restart;
mod sink;
mod status;

pub use admin::{Admin, TableChange};
pub use batch::{Batch, BatchLookup, ForeignBatch, Receipt, SinkError};
pub use blocks::{BlockStatus, ColumnBlocks, TableBlocks};
pub use expected_rows::{ExpectedRowsDelta, ExpectedRowsSource, ExpectedShare, TableRun};
pub use hello::{Hello, WIRE_VERSION};
pub use member::{Member, MemberRole, MemberState};
pub use peer::Peer;
pub use plan::{Plan, PlannedMachine, PlannedPeer};
pub use query_watch::{QueryProgress, QueryWatch, WatchedPart};
pub use report_source::ReportSource;
pub use restart::{LeafRestart, LeafRestarter};
pub use sink::Sink;
pub use status::{
    ExpiryForecast, LeafLoss, LeafStatus, PeerStatus, StatusScope, TableReport, TableStatus,
};

/// Return type of a seam's asynchronous methods. Dropping the future cancels the work.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
