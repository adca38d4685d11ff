//! The strings of one column part while rows are pushed.
//!
//! They are interned some hundred at a time: the tables of one column are then in the processor's
//! nearest memory, and it looks several strings up at once. One by one, a row's strings each wait
//! for a table that the other columns have pushed out.

use crate::interner::StringInterner;

/// Strings that are interned together.
const PENDING_MAX: usize = 256;
/// They are interned earlier where they have more bytes.
const PENDING_BYTES_MAX: usize = 32 << 10;

/// Codes of strings, and the strings by code; and the last strings, which have no codes yet.
#[derive(Debug, Default)]
pub(crate) struct StringPart {
    codes: Vec<u32>,
    strings: StringInterner,
    pending: String,
    /// Where each of them ends.
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

    /// Gives all strings their codes.
    pub(crate) fn intern_pending(&mut self) {
        self.strings.add_all(&self.pending, &self.pending_ends, &mut self.codes);
        self.pending.clear();
        self.pending_ends.clear();
    }

    /// Forgets all strings, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.codes.clear();
        self.strings.clear();
        self.pending.clear();
        self.pending_ends.clear();
    }

    /// The codes, and the strings by code, as of the last [`Self::settle`].
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
                // Of a row that is given up, before or after the string got its code.
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
