//! The strings of one column part while rows are pushed.
//!
//! Strings are interned a few hundred at a time: the tables of one column then stay in the L1
//! cache, and several look-ups overlap. If each row's strings were interned one by one, each
//! look-up would wait for a table that the other columns have evicted from the cache.

use crate::interner::StringInterner;

/// Maximum number of strings that are interned together.
const PENDING_MAX: usize = 256;
/// Pending strings are interned earlier if they reach this many bytes.
const PENDING_BYTES_MAX: usize = 32 << 10;

/// Codes of strings, the strings by code, and the last strings, which have no codes yet.
#[derive(Debug, Default)]
pub(crate) struct StringPart {
    codes: Vec<u32>,
    strings: StringInterner,
    pending: String,
    /// The end of each pending string.
    pending_ends: Vec<u32>,
}

impl StringPart {
    #[inline]
    pub(crate) fn push(&mut self, string: &str) {
        self.pending.push_str(string);
        self.pending_ends.push(u32::try_from(self.pending.len()).unwrap_or(u32::MAX));
        if self.pending_ends.len() >= PENDING_MAX || self.pending.len() >= PENDING_BYTES_MAX {
            self.intern_pending();
        }
    }

    /// Drops the last string.
    pub(crate) fn pop(&mut self) {
        if self.pending_ends.pop().is_some() {
            self.pending.truncate(self.pending_ends.last().map_or(0, |&end| end as usize));
        } else {
            self.codes.pop();
        }
    }

    /// Assigns codes to all pending strings.
    pub(crate) fn intern_pending(&mut self) {
        self.strings.add_all(&self.pending, &self.pending_ends, &mut self.codes);
        self.pending.clear();
        self.pending_ends.clear();
    }

    /// Forgets all strings but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.codes.clear();
        self.strings.clear();
        self.pending.clear();
        self.pending_ends.clear();
    }

    /// The codes, and the strings by code, as of the last [`Self::intern_pending`].
    pub(crate) fn interned(&self) -> (&[u32], &StringInterner) {
        debug_assert!(self.pending_ends.is_empty(), "all strings have codes");
        (&self.codes, &self.strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_whenever_they_got_their_codes() {
        let huge = "x".repeat(PENDING_BYTES_MAX);
        let text = |number: usize| match number % 100 {
            99 => huge.clone(),
            0 => String::new(),
            number => format!("é{number}"),
        };
        let mut part = StringPart::default();
        for round in 0..3 {
            for number in 0..2_000 {
                part.push(&text(number));
                // A value of an abandoned row, before or after the string got its code.
                if number % 7 == round {
                    part.push("given up");
                    if number % 2 == 0 {
                        part.intern_pending();
                    }
                    part.pop();
                }
            }
            part.intern_pending();
            let (codes, strings) = part.interned();
            assert_eq!(codes.len(), 2_000);
            for (number, &code) in codes.iter().enumerate() {
                assert_eq!(strings.get(code), text(number));
            }
            part.clear();
            assert_eq!((part.interned().0.len(), part.interned().1.len()), (0, 0));
        }
    }
}
