//! The row block: up to 65,536 rows of one table as one immutable run of bytes, the same on the
//! wire, in the log, in memory and on disk. `spec/row-block.md` is its description to the byte.
//!
//! - [`BlockBuilder`] makes a block of rows, one value at a time.
//! - [`BlockView`] reads one from borrowed bytes: the front at once, each row block column (RBC)
//!   when asked, decoded to [`ColumnData`]: numbers, or codes and what they stand for.
//! - [`merge`] makes large blocks of small ones, a column at a time.
//! - [`sample`] keeps some rows of a block, each of which stands for more than before.
//! - [`chill`] makes a block that takes fewer bytes, and longer to read.
//!
//! Nothing here knows where blocks lie, which of them count, or what a query is.

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
#[cfg(test)]
mod tests;
mod view;

pub use builder::{BlockBuilder, ColumnId, PushError};
pub use cold::{Chill, chill};
pub use data::{ColumnData, Exacts, Values};
pub use directory::Zone;
pub use error::{BlockError, BlockRegion};
pub use header::BatchRows;
pub use merge::{MergeOrder, Sampling, merge, merge_from, merge_without, sample};
pub use view::{BlockView, CodedNumbers, ColumnView, NearNumbers, NumbersView, StringsView};
