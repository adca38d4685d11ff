//! The hash of a batch's input: XXH3-64 of its records, each followed by a line feed.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// The number of bytes hashed at a time: one call per record would cost more than the hashing.
const PIECE_BYTES: usize = 32 << 10;

/// A hash under construction.
#[derive(Default)]
pub(crate) struct ContentHash {
    hasher: XxHash3_64,
    /// Bytes that are not hashed yet.
    pending: Vec<u8>,
}

impl ContentHash {
    /// Adds a record.
    pub(crate) fn add(&mut self, record: &[u8]) {
        self.pending.extend_from_slice(record);
        self.pending.push(b'\n');
        if self.pending.len() >= PIECE_BYTES {
            self.hasher.write(&self.pending);
            self.pending.clear();
        }
    }

    /// Returns the hash, and begins another.
    pub(crate) fn take(&mut self) -> u64 {
        self.hasher.write(&self.pending);
        self.pending.clear();
        std::mem::take(&mut self.hasher).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_hashed_in_a_row() {
        let mut hash = ContentHash::default();
        for count in [0, 1, 2, 100, 10_000] {
            let records: Vec<String> = (0..count).map(|index| format!("record {index}")).collect();
            records.iter().for_each(|record| hash.add(record.as_bytes()));
            let all: String = records.iter().map(|record| format!("{record}\n")).collect();
            assert_eq!(hash.take(), XxHash3_64::oneshot(all.as_bytes()), "{count}");
        }
    }
}
