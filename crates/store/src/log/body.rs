//! The body of a log frame: one batch. A small batch is LZ4-compressed if that takes fewer bytes.
//! `spec/wal.md`, section 2.

use hadal_types::limits::BLOCK_BYTES_MAX;
use hadal_types::{BatchId, TableName};
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::error::Error;
use crate::frame::{Draft, HEADER_BYTES, LOG};
use crate::segment::checked_length;

const RAW: u8 = 0;
const LZ4: u8 = 1;
const PREFIX_BYTES: usize = 8;
/// Larger blocks are not compressed. Their columns are compressed already, so LZ4 gains a few
/// percent, and its search takes longer than writing all bytes.
const COMPRESSED_BYTES_MAX: usize = 256 << 10;
/// An LZ4 block is at most this many times as long as its compressed bytes: a length is encoded in
/// bytes that each add at most 255.
const LZ4_RATIO_MAX: usize = 255;

/// A batch as it is in the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) table: TableName,
    pub(crate) batch: BatchId,
    pub(crate) bytes: Vec<u8>,
}

/// Makes the frame of a batch, complete but for its sequence.
pub(crate) fn encode(
    salt: u64,
    table: &TableName,
    batch: &BatchId,
    bytes: &[u8],
) -> Result<Draft, Error> {
    let length = checked_length(bytes)?;
    let refused = || Error::BatchId(batch.to_string());
    // A batch that could not be read back must not be acknowledged.
    BatchId::new(batch.as_str()).ok_or_else(refused)?;
    let (table, batch) = (table.as_str().as_bytes(), batch.as_str().as_bytes());
    let stored_max = match bytes.len() > COMPRESSED_BYTES_MAX {
        true => bytes.len(),
        false => get_maximum_output_size(bytes.len()),
    };
    let front = HEADER_BYTES + PREFIX_BYTES + table.len() + batch.len();
    let mut frame = Vec::with_capacity(front + stored_max);
    frame.resize(HEADER_BYTES, 0);
    let name_length = |name: &[u8]| u8::try_from(name.len()).map_err(|_| refused());
    frame.extend_from_slice(&[LZ4, name_length(table)?, name_length(batch)?, 0]);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(table);
    frame.extend_from_slice(batch);
    store(&mut frame, bytes);
    // The frame may wait in the queue, which counts used bytes, not capacity.
    frame.shrink_to_fit();
    Draft::new(LOG, salt, frame).ok_or(Error::BlockSize(bytes.len()))
}

/// Appends the stored bytes, and corrects the codec if they stay uncompressed.
fn store(frame: &mut Vec<u8>, bytes: &[u8]) {
    let start = frame.len();
    if bytes.len() <= COMPRESSED_BYTES_MAX {
        frame.resize(start + get_maximum_output_size(bytes.len()), 0);
        if let Ok(compressed) = compress_into(bytes, &mut frame[start..])
            && compressed < bytes.len()
        {
            return frame.truncate(start + compressed);
        }
        frame.truncate(start);
    }
    frame[HEADER_BYTES] = RAW;
    frame.extend_from_slice(bytes);
}

/// Reads the body of a frame; `None` if it breaks a rule of the format.
pub(crate) fn decode(body: &[u8]) -> Option<Batch> {
    let (prefix, rest) = body.split_at_checked(PREFIX_BYTES)?;
    let &[codec, table_length, batch_length, 0, a, b, c, d] = prefix else { return None };
    let (table, rest) = rest.split_at_checked(usize::from(table_length))?;
    let (batch, stored) = rest.split_at_checked(usize::from(batch_length))?;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    Some(Batch {
        table: TableName::new(std::str::from_utf8(table).ok()?).ok()?,
        batch: BatchId::new(std::str::from_utf8(batch).ok()?)?,
        bytes: restore(codec, length, stored)?,
    })
}

/// The block of `length` bytes that is stored as `stored`. Refuses an impossible length before it
/// allocates.
fn restore(codec: u8, length: usize, stored: &[u8]) -> Option<Vec<u8>> {
    if !is_possible(codec, length, stored.len()) {
        return None;
    }
    match codec {
        RAW => Some(stored.to_vec()),
        LZ4 => {
            let mut bytes = vec![0; length];
            (decompress_into(stored, &mut bytes).ok()? == length).then_some(bytes)
        }
        _ => None,
    }
}

/// Whether a block of `length` bytes can be stored in `stored` bytes.
fn is_possible(codec: u8, length: usize, stored: usize) -> bool {
    let is_allowed = (1..=BLOCK_BYTES_MAX).contains(&length);
    is_allowed
        && match codec {
            RAW => length == stored,
            LZ4 => length <= stored.saturating_mul(LZ4_RATIO_MAX),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> (TableName, BatchId) {
        (TableName::new("requests").expect("a name"), BatchId::new("batch-1").expect("an id"))
    }

    fn body_of(bytes: &[u8]) -> Vec<u8> {
        let (table, batch) = names();
        let frame = encode(1, &table, &batch, bytes).expect("encoded").seal(1, 1);
        frame[HEADER_BYTES..].to_vec()
    }

    #[test]
    fn a_batch_is_compressed_only_when_that_is_smaller() {
        let even = body_of(&[7; 10_000]);
        assert_eq!(even[0], LZ4);
        assert!(even.len() < 200, "{}", even.len());
        let odd = body_of(b"q");
        assert_eq!(odd[0], RAW);
        assert_eq!(odd, b"\0\x08\x07\0\x01\0\0\0requestsbatch-1q");
    }

    #[test]
    fn a_large_block_is_logged_as_it_is() {
        for (length, codec) in [(COMPRESSED_BYTES_MAX, LZ4), (COMPRESSED_BYTES_MAX + 1, RAW)] {
            let bytes = vec![7; length];
            let body = body_of(&bytes);
            assert_eq!(body[0], codec);
            assert_eq!(decode(&body).expect("decoded").bytes, bytes);
        }
    }

    #[test]
    fn a_lying_length_is_refused_before_memory_is_taken() {
        let sound = body_of(&[7; 10_000]);
        for length in [0u32, 1, 9_999, 10_001, 1 << 28, (1 << 28) + 1, u32::MAX] {
            let mut body = sound.clone();
            body[4..8].copy_from_slice(&length.to_le_bytes());
            assert_eq!(decode(&body), None, "{length}");
        }
        let stored = BLOCK_BYTES_MAX.div_ceil(LZ4_RATIO_MAX);
        assert!(is_possible(LZ4, BLOCK_BYTES_MAX, stored));
        assert!(!is_possible(LZ4, BLOCK_BYTES_MAX, stored - 1));
        assert!(!is_possible(LZ4, BLOCK_BYTES_MAX + 1, stored + 1));
        assert!(!is_possible(RAW, 10, 11) && !is_possible(2, 10, 10));
    }

    #[test]
    fn an_id_that_could_not_be_read_back_is_refused() {
        let (table, _) = names();
        let long = BatchId::new(&"x".repeat(128)).expect("an id").part(1);
        assert!(matches!(encode(1, &table, &long, b"rows"), Err(Error::BatchId(_))));
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(bytes in prop::collection::vec(0u8..4, 1..2_000)) {
            let (table, batch) = names();
            prop_assert_eq!(decode(&body_of(&bytes)), Some(Batch { table, batch, bytes }));
        }

        #[test]
        fn any_bytes_are_decoded_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200), prefix in 0usize..24
        ) {
            let mut body = body_of(&[3; 100]);
            body.truncate(prefix);
            body.extend(bytes);
            if let Some(batch) = decode(&body) {
                prop_assert!(batch.bytes.len() <= body.len() * LZ4_RATIO_MAX);
            }
        }
    }
}
