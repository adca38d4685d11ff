//! Deferred rows by plain strings.

use super::AHEAD;
use crate::groups::Groups;
use crate::groups::hash_table::{hasher, tag_by};
use crate::groups::radix_partition::{PARTS, WIDTH_MAX};
use crate::groups::string_partition::StringPartitions;

impl Groups {
    /// Defers these strings with their numbers.
    pub(super) fn defer_strings(
        &mut self,
        partitions: &mut StringPartitions,
        texts: &[&str],
        numbers: &[i64],
    ) {
        match partitions.width() {
            1 => self.defer_string_chunk::<1>(partitions, texts, numbers),
            2 => self.defer_string_chunk::<2>(partitions, texts, numbers),
            3 => self.defer_string_chunk::<3>(partitions, texts, numbers),
            4 => self.defer_string_chunk::<4>(partitions, texts, numbers),
            5 => self.defer_string_chunk::<5>(partitions, texts, numbers),
            6 => self.defer_string_chunk::<6>(partitions, texts, numbers),
            7 => self.defer_string_chunk::<7>(partitions, texts, numbers),
            _ => self.defer_string_chunk::<WIDTH_MAX>(partitions, texts, numbers),
        }
    }

    /// Defers these strings with their numbers, N each.
    fn defer_string_chunk<const N: usize>(
        &mut self,
        partitions: &mut StringPartitions,
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
            if !partitions.push(tag, text, numbers) {
                self.merge_string_partitions(partitions);
                partitions.clear();
                let is_in = partitions.push(tag, text, numbers);
                debug_assert!(is_in, "an empty part has room");
            }
        }
    }

    /// Adds the rows deferred by strings to their groups.
    pub(super) fn merge_string_partitions(&mut self, deferred: &StringPartitions) {
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
