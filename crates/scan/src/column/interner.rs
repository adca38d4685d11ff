//! Ids for strings that many blocks of a leaf share. A block's codes are mapped to ids once in the
//! life of the block. From then on, a query that groups by the column decodes no string and looks
//! up no text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use hadal_aggregate::StringInterner;
use hadal_block::{BlockError, ColumnView};
use hadal_types::limits::INTERNED_BYTES_MAX;
use parking_lot::RwLock;

/// Dictionaries with fewer entries get no ids: decoding them is as fast as a lookup.
const ENTRIES_MIN: usize = 64;
/// The rows per entry from which ids are worth their memory.
const ROWS_PER_ENTRY_MIN: usize = 8;

/// What the holder of a block provides besides the block's bytes.
pub trait BlockContext<'a> {
    /// Verifies the column's checksum, unless that was done before. Called with the index of each
    /// row block column before its values are used.
    ///
    /// # Errors
    /// When the column's bytes are damaged.
    fn check(&self, index: usize, column: &ColumnView<'a>) -> Result<(), BlockError>;

    /// Whether the client no longer waits for the result.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// When the query ends; `None` if it has no end.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The ids of the column's strings, if the holder has them; `index` is the column's index.
    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds>;
}

/// The strings of one column of a leaf, each with an id.
#[derive(Debug)]
pub struct SharedInterner {
    /// Distinguishes this interner from all others of the process.
    id: u64,
    texts: RwLock<StringInterner>,
    is_full: AtomicBool,
}

/// The ids of the strings in a block's dictionary.
#[derive(Clone, Debug)]
pub struct InternedIds {
    /// The id of each code.
    pub ids: Arc<[u32]>,
    /// The strings of the ids.
    pub interner: Arc<SharedInterner>,
}

impl Default for SharedInterner {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            texts: RwLock::default(),
            is_full: AtomicBool::new(false),
        }
    }
}

impl SharedInterner {
    /// Returns the ids of a column's strings, by code. `None` if the column is not worth it, does
    /// not decode, or would grow the interner beyond [`INTERNED_BYTES_MAX`].
    #[must_use]
    pub fn ids_of(&self, column: &ColumnView<'_>) -> Option<Arc<[u32]>> {
        let (_, count) = column.string_codes().ok()??;
        if count < ENTRIES_MIN || count.saturating_mul(ROWS_PER_ENTRY_MIN) > column.rows() {
            return None;
        }
        let entries = column.string_entries().ok()?;
        let mut texts = self.texts.write();
        // The upper bound, if all strings are new: their bytes and hash table entries, doubled for
        // growth.
        let new: usize = entries.iter().map(|text| 2 * (text.len() + 32)).sum();
        if texts.bytes().saturating_add(new) > INTERNED_BYTES_MAX {
            self.is_full.store(true, Ordering::Relaxed);
            return None;
        }
        let mut ids = Vec::with_capacity(count);
        texts.numbers_of(entries.iter(), &mut ids);
        Some(ids.into())
    }

    /// Whether a column was refused because the interner is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// The number that distinguishes this interner from all others of the process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Calls `with` with all strings, under a read lock.
    pub(crate) fn with<T>(&self, with: impl FnOnce(&StringInterner) -> T) -> T {
        with(&self.texts.read())
    }

    /// The memory of the strings in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.with(StringInterner::bytes)
    }
}

/// A holder that can only verify checksums.
pub(crate) struct ChecksumContext<'c, 'a>(
    pub(crate) &'c dyn Fn(usize, &ColumnView<'a>) -> Result<(), BlockError>,
);

impl<'a> BlockContext<'a> for ChecksumContext<'_, 'a> {
    fn check(&self, index: usize, column: &ColumnView<'a>) -> Result<(), BlockError> {
        (self.0)(index, column)
    }

    fn interned(&self, _: usize, _: &ColumnView<'a>) -> Option<InternedIds> {
        None
    }
}

#[cfg(test)]
mod tests;
