//! The record of a merged block in the manifest.

use hadal_types::TableName;

use crate::checksum::Checksum;
use crate::ids::BlockNumber;
use crate::segment::layout::BlockLocation;

/// A block's location and its number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRecord {
    pub(crate) number: BlockNumber,
    pub(crate) table: TableName,
    pub(crate) rows: u32,
    pub(crate) location: BlockLocation,
    pub(crate) checksum: Checksum,
}
