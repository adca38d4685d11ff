//! The list of a table's blocks: a snapshot of it never changes.

use std::collections::HashSet;
use std::ops::DerefMut;

use super::locks::{Arc, RwLock};

/// A list that readers take a snapshot of. A writer changes it in place, where nobody has one, or
/// else a copy: a table may have a hundred thousand blocks, and batches come one by one.
///
/// What a writer takes out and puts in changes in one step: a snapshot has either all of what
/// was taken out or all of what was put in.
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

    /// The list for a writer.
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

    /// Replaces the blocks `removed`, which are told by identity, by `added`, which come where
    /// the first of them was, or last.
    ///
    /// Returns false, and changes nothing, when one of `removed` is not in the list any more.
    #[must_use = "where it returns false, nothing was replaced"]
    pub(crate) fn swap(&self, removed: &[Arc<T>], added: Vec<Arc<T>>) -> bool {
        let gone: HashSet<*const T> = removed.iter().map(Arc::as_ptr).collect();
        let is_removed = |block: &Arc<T>| gone.contains(&Arc::as_ptr(block));
        let mut list = self.locked();
        let found = list.iter().filter(|block| is_removed(block)).count();
        if found != removed.len() {
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
