//! Deferred rows by plain strings.

use super::AHEAD;
use crate::groups::Groups;
use crate::groups::hash_table::{hasher, tag_by};
use crate::groups::radix_partition::{PARTS, WIDTH_MAX};
use crate::groups::string_partition::StringPartitions;

impl Groups {
    /// Defers these strings with their numbers.
    pub(super) fn wait_texts(
        &mut self,
        own: &mut StringPartitions,
        texts: &[&str],
        numbers: &[i64],
    ) {
        match own.width() {
            1 => self.wait_whole_texts::<1>(own, texts, numbers),
            2 => self.wait_whole_texts::<2>(own, texts, numbers),
            3 => self.wait_whole_texts::<3>(own, texts, numbers),
            4 => self.wait_whole_texts::<4>(own, texts, numbers),
            5 => self.wait_whole_texts::<5>(own, texts, numbers),
            6 => self.wait_whole_texts::<6>(own, texts, numbers),
            7 => self.wait_whole_texts::<7>(own, texts, numbers),
            _ => self.wait_whole_texts::<WIDTH_MAX>(own, texts, numbers),
        }
    }

    /// Defers these strings with their numbers, N each.
    fn wait_whole_texts<const N: usize>(
        &mut self,
        own: &mut StringPartitions,
        texts: &[&str],
        numbers: &[i64],
    ) {
        let hasher = hasher();
        for (&text, numbers) in texts.iter().zip(numbers.as_chunks::<N>().0) {
            if self.accumulators.rows_in(numbers) == 0 {
                continue;
            }
            if !StringPartitions::takes(text) {
                let group_indexes = self.groups_of_strings(std::iter::once(text));
                self.add_numbers(&group_indexes, numbers);
                continue;
            }
            let tag = tag_by(&hasher, text);
            if !own.push(tag, text, numbers) {
                self.bring_in_texts(own);
                own.clear();
                let is_in = own.push(tag, text, numbers);
                debug_assert!(is_in, "an empty part has room");
            }
        }
    }

    /// Adds the rows deferred by strings to their groups.
    pub(super) fn bring_in_texts(&mut self, deferred: &StringPartitions) {
        if deferred.is_empty() {
            return;
        }
        let new = self.keys[0].count_new_strings(deferred.texts(0)) * (PARTS + PARTS / 16);
        self.expect_strings(new, AHEAD * new);
        for part in 0..PARTS {
            let group_indexes = self.groups_of_strings(deferred.texts(part));
            self.add_numbers(&group_indexes, deferred.numbers(part));
        }
    }

    /// Reserves space for `new` groups of strings. If a table must grow, it grows by `others` in
    /// addition.
    pub(in crate::groups) fn expect_strings(&mut self, new: usize, others: usize) {
        self.keys[0].reserve_strings(new, others);
        self.accumulators.reserve(new);
    }
}
