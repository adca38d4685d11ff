//! The shared code of the fuzz targets. `make/fuzz` builds and runs them.
//!
//! - `block`: arbitrary bytes, and blocks that were altered and sealed again, are read by every
//!   access: [`access`], [`seal`].
//! - `round_trip`: rows of any shape become blocks, and merged ones, and are read back: [`rows`],
//!   [`read`].
//! - `filter`: a scan of blocks finds the rows for which `hadal_query` is true: [`filter`].
//! - `import`: any bytes are read as any format of import: [`import`].

pub mod access;
pub mod filter;
pub mod import;
pub mod read;
pub mod rows;
pub mod seal;
