//! The list of a table's blocks: a snapshot of it never changes.

use std::collections::HashSet;
use std::ops::DerefMut;

use super::locks::{Arc, RwLock};

/// A list that readers take snapshots of. A writer changes it in place if no snapshot exists, or
/// else changes a copy: a table may have 100,000 blocks, and batches come one by one.
///
/// Removed and added blocks change in one step: a snapshot has either all of the removed or all of
/// the added blocks.
#[derive(Debug)]
pub(crate) struct BlockList<T>(RwLock<Arc<Vec<Arc<T>>>>);

impl<T> Default for BlockList<T> {
    fn default() -> Self {
        Self(RwLock::new(Arc::new(Vec::new())))
    }
}

impl<T> BlockList<T> {
    /// The list as it is now.
    pub(crate) fn snapshot(&self) -> Arc<Vec<Arc<T>>> {
        match self.0.read() {
            Ok(list) => Arc::clone(&list),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// Locks the list for a writer.
    fn locked(&self) -> impl DerefMut<Target = Arc<Vec<Arc<T>>>> {
        match self.0.write() {
            Ok(list) => list,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    /// Appends `added`.
    pub(crate) fn push(&self, added: Arc<T>) {
        Arc::make_mut(&mut self.locked()).push(added);
    }

    /// Puts blocks before all others.
    pub(crate) fn put_first(&self, first: Vec<Arc<T>>) {
        Arc::make_mut(&mut self.locked()).splice(..0, first);
    }

    /// Replaces the blocks `removed`, compared by identity, by `added`, at the position of the
    /// first removed block, or at the end.
    ///
    /// Returns false, and changes nothing, if one of `removed` is no longer in the list.
    #[must_use = "where it returns false, nothing was replaced"]
    pub(crate) fn swap(&self, removed: &[Arc<T>], added: Vec<Arc<T>>) -> bool {
        let gone: HashSet<*const T> = removed.iter().map(Arc::as_ptr).collect();
        let is_removed = |block: &Arc<T>| gone.contains(&Arc::as_ptr(block));
        let mut list = self.locked();
        let present = list.iter().filter(|block| is_removed(block)).count();
        if present != removed.len() {
            return false;
        }
        let at = list.iter().position(is_removed).unwrap_or(list.len());
        let list = Arc::make_mut(&mut list);
        list.retain(|block| !is_removed(block));
        list.splice(at..at, added);
        true
    }

    /// Takes all blocks out.
    pub(crate) fn clear(&self) -> Arc<Vec<Arc<T>>> {
        std::mem::take(&mut *self.locked())
    }
}
