//! Where block bytes live: in memory, in mapped segment files, in the write-ahead log; and the
//! manifest that says which of them count.
//!
//! One [`Store`] keeps the blocks of one leaf. A fresh batch is appended to the *log* and
//! acknowledged once it is synced; merged blocks are written to *segments* and become part of the
//! leaf by one *manifest* record, which also says which log frames they hold the rows of.
//! [`Store::open`] brings all of that back, after a clean stop and after a crash. A store without
//! a folder ([`Store::in_memory`]) has the same interface and keeps nothing.
//!
//! ```text
//!   append --> log --sync--> acknowledged
//!   write_block --> segment --sync--> commit --> manifest --sync--> visible
//! ```
//!
//! Blocks are opaque runs of bytes here: nothing below knows rows, columns or queries. The formats
//! are in `spec/segments.md` and `spec/wal.md`. Source: "Fast Database Restarts at Facebook"
//! (SIGMOD 2014) for the idea that bytes outlive the process; the log is an ordinary redo log.

mod adopted;
mod allocator;
mod change;
mod config;
pub mod disk;
mod early;
mod error;
mod frame;
mod journal;
mod lock;
mod log;
mod losses;
mod manifest;
mod memory;
mod recovery;
mod reserve;
mod segment;
mod stopped;
mod store;

pub use allocator::give_free_memory_back;
pub use change::{BlockNumber, Change, DroppedRows, RememberedBatch, Sequence, StoredBlock};
pub use config::{AfterCrash, Config, Durability, Folders, Memory, MemoryConfig, Sizes};
pub use early::EarlyStore;
pub use error::Error;
pub use log::Ticket;
pub use losses::Loss;
pub use memory::{remove as remove_memory, sweep as sweep_memory};
pub use recovery::{LostBlock, RecoveredFrame, RecoveredTable, Recovery, Report, WaitingBlock};
pub use segment::BlockBytes;
pub use segment::moved::Moved;
pub use store::{Figures, Store};
