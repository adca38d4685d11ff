//! What the fuzz targets share. `make/fuzz` builds and runs them.
//!
//! - `block`: bytes from anywhere, and blocks that were altered and sealed again, are read by every
//!   access that there is: [`access`], [`seal`].
//! - `round_trip`: rows of any shape become blocks, and merged ones, and are read back: [`rows`],
//!   [`read`].
//! - `filter`: what a scan finds in blocks is what `hadal_query` says of the rows: [`filter`].

pub mod access;
pub mod filter;
pub mod read;
pub mod rows;
pub mod seal;
