//! The mark of a clean shutdown. It lets the next process trust the segments in memory without
//! reading them ("Fast Database Restarts at Facebook", SIGMOD 2014, section 4.2: the valid bit).
//!
//! The mark is a file in the memory of the store. It is written last, and removed before it is
//! trusted: if a start fails half-way, the next start verifies the segments. The mark contains the
//! manifest's position, and is invalid with any other manifest. Layout: `spec/segments.md`, section
//! 5.
//!
//! A store without memory of its own has a mark in its folder, which says the same of the segments
//! on disk. A later process with memory then has all rows at once, as after any clean shutdown.
//! After a reboot this mark is invalid, because no segment is cached then. Queries would wait for
//! the disk, instead of answering from a part of the rows at once.

use std::collections::BTreeSet;

use hadal_types::limits::STOP_MARK_BYTES_MAX;
use twox_hash::XxHash3_64;

use crate::disk::Disk;
use crate::error::Error;
use crate::ids::BlockNumber;

/// The file name of the mark.
pub(crate) const NAME: &str = "stopped";
const MAGIC: [u8; 8] = *b"\x89HDLSTP\x01";
const SUM_BYTES: usize = 8;

/// The position of a manifest: the number of its next record, and its bytes.
pub(crate) type Position = (u64, u64);

/// Writes the mark, as the last step of a process. `on_disk` are the blocks that are not in memory.
pub(crate) fn write(
    memory: &dyn Disk,
    salt: u64,
    position: Position,
    on_disk: &[BlockNumber],
) -> Result<(), Error> {
    let failed = |error| Error::io("write", &memory.path_of(NAME), error);
    let mut file = memory.create(NAME).map_err(failed)?;
    file.append(&encode(salt, position, on_disk)).map_err(failed)
}

/// The salt of a mark on disk: it differs after each start of the machine. `None` if the system has
/// no boot id.
pub(crate) fn salt_on_disk(salt: u64) -> Option<u64> {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    Some(XxHash3_64::oneshot_with_seed(salt, &boot))
}

/// Removes the mark. Returns the blocks that are not in memory if it belongs to this store and this
/// position; `None` means that nothing in memory may be trusted. An unreadable mark, such as a
/// folder, may stay: no process trusts it.
pub(crate) fn take(
    memory: &dyn Disk,
    salt: u64,
    position: Position,
) -> Result<Option<BTreeSet<BlockNumber>>, Error> {
    let failed = |error| Error::io("read and remove", &memory.path_of(NAME), error);
    if !memory.list().map_err(failed)?.iter().any(|name| name == NAME) {
        return Ok(None);
    }
    let bytes = memory.read(NAME, STOP_MARK_BYTES_MAX);
    match (memory.remove(NAME), bytes) {
        (Ok(()), Ok(bytes)) => Ok(decode(&bytes, salt, position)),
        (Err(error), Ok(_)) => Err(failed(error)),
        (_, Err(_)) => Ok(None),
    }
}

fn encode(salt: u64, position: Position, on_disk: &[BlockNumber]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let count = on_disk.len() as u64;
    for field in
        [salt, position.0, position.1, count].into_iter().chain(on_disk.iter().map(|n| n.0))
    {
        bytes.extend(field.to_le_bytes());
    }
    let sum = XxHash3_64::oneshot_with_seed(salt, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], salt: u64, position: Position) -> Option<BTreeSet<BlockNumber>> {
    let (rest, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if XxHash3_64::oneshot_with_seed(salt, rest) != u64::from_le_bytes(*sum) {
        return None;
    }
    let (fields, odd) = rest.strip_prefix(&MAGIC)?.as_chunks::<8>();
    let mut fields = fields.iter().map(|field| u64::from_le_bytes(*field));
    let head = (fields.next()?, (fields.next()?, fields.next()?), fields.next()?);
    let on_disk: Vec<u64> = fields.collect();
    let is_ours = odd.is_empty() && head == (salt, position, on_disk.len() as u64);
    is_ours.then(|| on_disk.into_iter().map(BlockNumber).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: Position = (7, 1_000);

    fn mark() -> Vec<u8> {
        encode(3, POSITION, &[BlockNumber(5), BlockNumber(9)])
    }

    #[test]
    fn a_mark_is_believed_by_its_own_store_and_position_only() {
        let numbers = [5, 9].map(BlockNumber).into();
        assert_eq!(decode(&mark(), 3, POSITION), Some(numbers));
        assert_eq!(decode(&encode(3, POSITION, &[]), 3, POSITION), Some(BTreeSet::new()));
        for (salt, position) in [(4, POSITION), (3, (8, 1_000)), (3, (7, 999))] {
            assert_eq!(decode(&mark(), salt, position), None);
        }
    }

    #[test]
    fn no_altered_or_cut_mark_is_believed() {
        let mark = mark();
        for bit in 0..mark.len() * 8 {
            let mut altered = mark.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&altered, 3, POSITION), None, "bit {bit}");
        }
        for cut in 0..mark.len() {
            assert_eq!(decode(&mark[..cut], 3, POSITION), None, "cut at {cut}");
        }
    }
}
