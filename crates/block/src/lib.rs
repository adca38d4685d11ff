//! The row block: up to 65,536 rows of one table as one immutable run of bytes, the same on the
//! wire, in the log, in memory and on disk. `spec/row-block.md` describes it to the byte.
//!
//! - [`BlockBuilder`] makes a block from rows, one value at a time.
//! - [`BlockView`] reads a block from borrowed bytes: the front at once, each row block column
//!   (RBC) on request, decoded to [`ColumnData`]: numbers, or codes and their dictionary.
//! - [`merge()`] makes large blocks from small ones, column by column.
//! - [`sample`] keeps some rows of a block and increases their weights.
//! - [`chill`] recompresses a block for the cold tier: fewer bytes, slower to read.
//!
//! This crate does not know where blocks are stored, which blocks count, or what a query is.

mod assemble;
mod builder;
mod cold;
mod data;
mod directory;
mod encode;
mod error;
mod header;
mod interner;
mod merge;
mod part;
mod scale;
#[cfg(test)]
mod tests;
mod view;
mod weighted_sums;

pub use builder::{BlockBuilder, ColumnId, PushError};
pub use cold::{Chill, chill};
pub use data::{ColumnData, Exacts, Values};
pub use directory::Zone;
pub use error::{BlockError, BlockRegion};
pub use header::BatchRows;
pub use merge::{MergeOrder, Sampling, merge, merge_from, merge_without, sample};
pub use view::{BlockView, CodedNumbers, ColumnView, NumbersView, StringsView};
pub use weighted_sums::WeightedSums;
