//! Reusable memory for one 32-bit number per row.
//!
//! A decoded block is needed for a moment only, and takes a quarter of a megabyte per column. The
//! allocator would zero that memory each time before it is written; zeroing took a tenth of a
//! scan's time. So each thread keeps its last dropped buffers for the next block.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

use hadal_types::limits::{BLOCK_ROWS_MAX, BUFFERS_KEPT_MAX};

thread_local! {
    static KEPT: RefCell<Vec<Vec<u32>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers whose memory, when dropped, is kept for the next buffer of the same thread.
#[derive(Default)]
pub struct Buffer {
    memory: Vec<u32>,
    length: usize,
}

impl Buffer {
    /// A buffer of `length` numbers with unspecified values: write each number before you read it.
    #[must_use]
    pub fn of(length: usize) -> Self {
        let mut memory = KEPT.with_borrow_mut(Vec::pop).unwrap_or_default();
        if memory.len() < length {
            memory.resize(length, 0);
        }
        if cfg!(debug_assertions) {
            memory.fill(u32::MAX - 1);
        }
        Self { memory, length }
    }

    /// Forgets all but the first `length` numbers.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Larger buffers belong to no block; smaller ones are hardly worth keeping.
        let size = self.memory.len();
        if (KEPT_LENGTH_MIN..=BLOCK_ROWS_MAX).contains(&size) {
            let memory = std::mem::take(&mut self.memory);
            // A thread that is ending keeps nothing.
            let _ = KEPT.try_with(|kept| {
                let mut kept = kept.borrow_mut();
                if kept.len() < BUFFERS_KEPT_MAX {
                    kept.push(memory);
                }
            });
        }
    }
}

/// For fewer numbers the allocator is as fast.
const KEPT_LENGTH_MIN: usize = 1 << 12;

impl Deref for Buffer {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.memory[..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.memory[..self.length]
    }
}

impl From<Vec<u32>> for Buffer {
    fn from(memory: Vec<u32>) -> Self {
        let length = memory.len();
        Self { memory, length }
    }
}

impl FromIterator<u32> for Buffer {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<u32>>().into()
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Self::of(self.length);
        copy.copy_from_slice(self);
        copy
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_up_to_a_limit() {
        let numbers = |length: usize| Buffer::of(length).as_ptr();
        let mut first = Buffer::of(BLOCK_ROWS_MAX);
        first.fill(7);
        let place = first.as_ptr();
        drop(first);
        // The memory is reused for any length.
        assert_eq!((numbers(5_000), numbers(BLOCK_ROWS_MAX)), (place, place));
        let mut again = Buffer::of(6_000);
        again.fill(8);
        again.truncate(10);
        assert_eq!((again.as_ptr(), again.len(), &again[..]), (place, 10, &[8; 10][..]));
        let copy = again.clone();
        assert!(copy == again && copy.as_ptr() != place);
        drop([again, copy]);
        let many: Vec<Buffer> = (0..2 * BUFFERS_KEPT_MAX).map(|_| Buffer::of(5_000)).collect();
        drop(many);
        drop((Buffer::of(10), Buffer::from(vec![0; BLOCK_ROWS_MAX + 1])));
        let kept = KEPT.with_borrow(|kept| kept.iter().map(Vec::len).max());
        assert_eq!(KEPT.with_borrow(Vec::len), BUFFERS_KEPT_MAX);
        assert_eq!(kept, Some(BLOCK_ROWS_MAX));
    }

    #[test]
    fn numbers_come_from_anywhere() {
        assert_eq!(Buffer::from(vec![1, 2]), (1..3).collect());
        assert_eq!(
            (Buffer::default().len(), format!("{:?}", Buffer::from(vec![1]))),
            (0, "[1]".into())
        );
    }
}
