//! Verifies the bytes of a block in memory.

use super::layout::BlockLocation;
use crate::checksum::Checksum;
use crate::disk::SegmentFile;

/// Bytes that are read at once for verification: they stay in a processor's own cache.
const PART: usize = 128 << 10;

/// Whether memory has all bytes of a block as they were written. The bytes are copied, not read
/// through the mapping: the system adds its pages one by one, or few by few, which takes several
/// times as long. A range that was never written is not read, because that could take memory.
pub(super) fn is_verified(
    memory: &dyn SegmentFile,
    location: BlockLocation,
    checksum: Checksum,
    salt: u64,
) -> bool {
    let length = u64::from(location.length);
    if !checksum.is_known() || memory.has_hole(location.offset, length).unwrap_or(true) {
        return false;
    }
    let read = |at: u64, part: &mut [u8]| memory.read(location.offset.saturating_add(at), part);
    Checksum::of_read(salt, length, PART, read).is_ok_and(|read_sum| read_sum == checksum)
}
