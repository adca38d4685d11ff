//! Errors of reading or making a row block.

use std::fmt;

use hadal_encoding::EncodingError;
use hadal_types::limits::{BLOCK_BYTES_MAX, BLOCK_COLUMNS_MAX, BLOCK_ROWS_MAX};
use hadal_types::{ColumnName, Kind};

/// The part of a row block that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockRegion {
    /// Header, directory or batches.
    Front,
    /// One row block column.
    Column(ColumnName, Kind),
}

impl fmt::Display for BlockRegion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Front => formatter.write_str("the front of a row block"),
            Self::Column(name, kind) => write!(formatter, "row block column {name:?}::{kind}"),
        }
    }
}

/// Why bytes are not a row block, or rows cannot become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The bytes do not begin with the magic number.
    #[error("bytes that begin with {0:02x?} are not a row block")]
    Magic(Vec<u8>),
    /// The block was written by a newer or a much older release.
    #[error("{what} version {version} is not known, the newest known is {newest}")]
    Version {
        /// "row block frame" or "row block encoding".
        what: &'static str,
        /// The version in the bytes.
        version: u16,
        /// The newest version that this release reads.
        newest: u16,
    },
    /// Bytes were altered.
    #[error("{0} has a wrong checksum")]
    Checksum(BlockRegion),
    /// A rule of the format is broken although the checksum is right.
    #[error("{region} is corrupt: {reason}")]
    Corrupt {
        /// The part of the block.
        region: BlockRegion,
        /// The value in the bytes, and the expected one.
        reason: String,
    },
    /// Bytes do not decode although the checksum is right.
    #[error("{region} is corrupt: {source}")]
    Encoding {
        /// The part of the block.
        region: BlockRegion,
        /// The decoder's error.
        source: EncodingError,
    },
    /// A block has at least one row.
    #[error("a row block without rows")]
    Empty,
    /// More rows than a block can have.
    #[error("a row block of {0} rows; at most {BLOCK_ROWS_MAX} are allowed")]
    TooManyRows(usize),
    /// More row block columns than a block can have.
    #[error("a row block of {0} columns; at most {BLOCK_COLUMNS_MAX} are allowed")]
    TooManyColumns(usize),
    /// More bytes than a block can have, encoded or raw.
    #[error("a row block of {0} bytes; at most {BLOCK_BYTES_MAX} are allowed")]
    TooLarge(u64),
    /// Blocks to be merged name different time columns.
    #[error("time column {other} in a merge of blocks with time column {first}")]
    TimeColumns {
        /// The first block's time column.
        first: ColumnName,
        /// Another block's.
        other: ColumnName,
    },
    /// Blocks to be merged have different sample factors.
    #[error("a block of one row in {other} in a merge of blocks of one in {first}")]
    Samples {
        /// The first block's sample factor.
        first: u16,
        /// Another block's sample factor.
        other: u16,
    },
}

impl BlockRegion {
    /// Wraps an error of decoding this part.
    pub(crate) fn of(&self) -> impl Fn(EncodingError) -> BlockError + '_ {
        |source| BlockError::Encoding { region: self.clone(), source }
    }

    /// Fails with `reason` unless `holds`.
    pub(crate) fn check(
        &self,
        holds: bool,
        reason: impl FnOnce() -> String,
    ) -> Result<(), BlockError> {
        if holds {
            return Ok(());
        }
        Err(BlockError::Corrupt { region: self.clone(), reason: reason() })
    }
}
