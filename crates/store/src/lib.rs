//! Stores block bytes: in memory, in mapped segment files, and in the write-ahead log. A manifest
//! says which blocks and log frames count.
//!
//! One [`Store`] keeps the blocks of one leaf. A fresh batch is appended to the *log* and
//! acknowledged once it is synced. Merged blocks are written to *segments*. One *manifest* record
//! makes merged blocks part of the leaf, and also names the log frames whose rows the blocks hold.
//! [`Store::open`] restores these blocks and batches, after a clean stop and after a crash. A store
//! without a folder ([`Store::in_memory`]) has the same interface and keeps nothing.
//!
//! ```text
//!   append --> log --sync--> acknowledged
//!   write_block --> segment --sync--> commit --> manifest --sync--> visible
//! ```
//!
//! Blocks are opaque bytes here: this crate knows no rows, columns or queries. The formats are in
//! `spec/segments.md` and `spec/wal.md`. The idea that bytes outlive the process is from "Fast
//! Database Restarts at Facebook" (SIGMOD 2014); the log is an ordinary redo log.

mod append_file;
mod block_record;
mod change;
mod checksum;
mod clean_shutdown;
mod config;
mod data_loss;
pub mod disk;
mod error;
mod folders;
mod frame;
mod ids;
mod log;
mod log_marks;
mod manifest;
mod options;
mod preopen;
mod recovered_table;
mod recovery;
mod recovery_report;
mod segment;
mod sequence_set;
mod space;
mod start;
mod store;
mod tmpfs;
mod tmpfs_sweep;

pub use change::{Change, DroppedRows, RememberedBatch, StoredBlock};
pub use config::Config;
pub use data_loss::Loss;
pub use error::Error;
pub use folders::{Folders, Memory};
pub use ids::{BlockNumber, Sequence};
pub use log::Ticket;
pub use options::{AfterCrash, Durability, MemoryConfig, Sizes};
pub use preopen::PreopenedStore;
pub use recovered_table::{RecoveredFrame, RecoveredTable, WaitingBlock};
pub use recovery::Recovery;
pub use recovery_report::{LostBlock, Report};
pub use segment::BlockBytes;
pub use segment::promote::Promotion;
pub use space::allocator::give_free_memory_back;
pub use store::{Store, StoreStats};
pub use tmpfs::remove as remove_memory;
pub use tmpfs_sweep::sweep as sweep_memory;
