//! Strings that many blocks of a leaf have, each with an id: what a code of a block stands for is
//! found out once in the life of the block, and from then on a question that groups by the column
//! decodes no string and looks up no text.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hadal_aggregate::StringInterner;
use hadal_block::{BlockError, ColumnView};
use hadal_types::limits::INTERNED_BYTES_MAX;

/// Dictionaries with fewer entries than this are decoded as soon as looked up.
const ENTRIES_MIN: usize = 64;
/// Rows that an entry must have for its id to be worth the memory.
const ROWS_PER_ENTRY_MIN: usize = 8;

/// What whoever holds a block knows of it besides its bytes.
pub trait BlockContext<'a> {
    /// Called with the index of each row block column that is needed and the column, before a value
    /// of it is used: verifies the checksum where that has not been done.
    ///
    /// # Errors
    /// When the column's bytes are damaged.
    fn check(&self, index: usize, column: &ColumnView<'a>) -> Result<(), BlockError>;

    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// The ids of the strings of the column of this index, if there are some.
    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds>;
}

/// The strings of one column of a leaf, each with an id.
#[derive(Debug)]
pub struct SharedInterner {
    /// Told apart from all others of the process.
    own: u64,
    texts: RwLock<StringInterner>,
    is_full: AtomicBool,
}

/// The ids of the strings in a block's dictionary.
#[derive(Clone, Debug)]
pub struct InternedIds {
    /// By code.
    pub ids: Arc<[u32]>,
    /// What ids stand for.
    pub interner: Arc<SharedInterner>,
}

impl Default for SharedInterner {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            own: NEXT.fetch_add(1, Ordering::Relaxed),
            texts: RwLock::default(),
            is_full: AtomicBool::new(false),
        }
    }
}

impl SharedInterner {
    /// The ids of a column's strings, by code; `None` where a column is not worth it, does not
    /// decode, or its strings would make the interner larger than [`INTERNED_BYTES_MAX`].
    #[must_use]
    pub fn ids_of(&self, column: &ColumnView<'_>) -> Option<Arc<[u32]>> {
        let (_, count) = column.string_codes().ok()??;
        if count < ENTRIES_MIN || count.saturating_mul(ROWS_PER_ENTRY_MIN) > column.rows() {
            return None;
        }
        let entries = column.string_entries().ok()?;
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        // Were all of them new: with what it takes to find them, and room to grow.
        let new: usize = entries.iter().map(|text| 2 * (text.len() + 32)).sum();
        if texts.bytes().saturating_add(new) > INTERNED_BYTES_MAX {
            self.is_full.store(true, Ordering::Relaxed);
            return None;
        }
        let mut ids = Vec::with_capacity(count);
        texts.numbers_of(entries.iter(), &mut ids);
        Some(ids.into())
    }

    /// Whether strings had no room any more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Tells this interner apart from all others.
    pub(crate) fn own(&self) -> u64 {
        self.own
    }

    /// Calls `with` with all strings.
    pub(crate) fn with<T>(&self, with: impl FnOnce(&StringInterner) -> T) -> T {
        with(&self.texts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.with(StringInterner::bytes)
    }
}

/// A holder that knows nothing but how to check.
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
