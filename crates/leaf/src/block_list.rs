//! The list of a table's blocks: immutable, and swapped as a whole.

use std::collections::HashSet;

use super::locks::{Arc, RwLock};

/// A list that readers take a snapshot of and writers swap for another.
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

    /// Appends `added`.
    pub(crate) fn push(&self, added: Arc<T>) {
        self.swap(&[], vec![added]);
    }

    /// Puts blocks before all others.
    pub(crate) fn put_first(&self, first: Vec<Arc<T>>) {
        let mut list = match self.0.write() {
            Ok(list) => list,
            Err(poisoned) => poisoned.into_inner(),
        };
        *list = Arc::new(first.into_iter().chain(list.iter().cloned()).collect());
    }

    /// Replaces the blocks `removed`, which are told by identity, by `added`, which come where
    /// the first of them was, or last.
    ///
    /// Returns false, and changes nothing, when one of `removed` is not in the list any more.
    pub(crate) fn swap(&self, removed: &[Arc<T>], added: Vec<Arc<T>>) -> bool {
        let gone: HashSet<*const T> = removed.iter().map(Arc::as_ptr).collect();
        let is_removed = |block: &Arc<T>| gone.contains(&Arc::as_ptr(block));
        let mut list = match self.0.write() {
            Ok(list) => list,
            Err(poisoned) => poisoned.into_inner(),
        };
        let found = list.iter().filter(|block| is_removed(block)).count();
        if found != removed.len() {
            return false;
        }
        let at = list.iter().position(is_removed).unwrap_or(list.len());
        let mut next: Vec<Arc<T>> = Vec::with_capacity(list.len() + added.len() - found);
        next.extend_from_slice(&list[..at]);
        next.extend(added);
        next.extend(list[at..].iter().filter(|block| !is_removed(block)).cloned());
        *list = Arc::new(next);
        true
    }

    /// Takes all blocks out.
    pub(crate) fn clear(&self) -> Arc<Vec<Arc<T>>> {
        let mut list = match self.0.write() {
            Ok(list) => list,
            Err(poisoned) => poisoned.into_inner(),
        };
        std::mem::take(&mut *list)
    }
}
