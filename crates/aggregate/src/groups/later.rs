//! Rows of groups by a whole number that are brought in later, many at a time: see `pending.rs`.

use hadal_types::Value;

use super::Groups;
use crate::cells::{Incoming, Layout};
use crate::pending::{PARTS, Pending, WIDTH_MAX};
use crate::places::NOWHERE;

/// Fewer groups than this are found in a cache, in whatever order they are asked for.
const GROUPS_MIN: usize = 1 << 16;

impl Groups {
    /// Whether it is worth while to look for groups later: they have one key, are many, and none
    /// were dropped.
    #[must_use]
    pub fn can_wait(&self) -> bool {
        self.keys.len() == 1 && self.len() >= GROUPS_MIN && self.key_max.is_none()
    }

    /// Lets `add` add rows to the numbers of groups that are looked for later: those of these whole
    /// numbers, and then of one more group, of rows without a value. The layout says where they go,
    /// as for [`Self::add_cells`].
    ///
    /// Returns whether they were added: not where groups [cannot wait](Self::can_wait), and where
    /// there is no room in cells.
    pub fn add_later(
        &mut self,
        wholes: &[i64],
        incoming: &Incoming<'_>,
        add: impl FnOnce(&Layout, &mut [i64]),
    ) -> bool {
        if !self.can_wait() {
            return false;
        }
        let Some(layout) = self.prepare(incoming) else { return false };
        // From now on columns that come to be are told from those that all rows have.
        let _ = self.cells.numbers_mut(self.places.len());
        let width = layout.class_count * layout.columns.len();
        if width > WIDTH_MAX {
            return false;
        }
        let own = self.pending.take().filter(|own| own.width() == width);
        let mut own = own.unwrap_or_else(|| Box::new(Pending::new(width)));
        let mut numbers = std::mem::take(&mut own.added_up);
        numbers.clear();
        numbers.resize((wholes.len() + 1) * width, 0);
        add(&layout, &mut numbers);
        let mut own = match width {
            1 => self.wait::<1>(own, wholes, &numbers),
            2 => self.wait::<2>(own, wholes, &numbers),
            3 => self.wait::<3>(own, wholes, &numbers),
            4 => self.wait::<4>(own, wholes, &numbers),
            5 => self.wait::<5>(own, wholes, &numbers),
            6 => self.wait::<6>(own, wholes, &numbers),
            7 => self.wait::<7>(own, wholes, &numbers),
            _ => self.wait::<WIDTH_MAX>(own, wholes, &numbers),
        };
        own.added_up = numbers;
        self.pending = Some(own);
        true
    }

    /// Lets these whole numbers, and null after them, wait with their numbers, N each.
    fn wait<const N: usize>(
        &mut self,
        mut own: Box<Pending>,
        wholes: &[i64],
        numbers: &[i64],
    ) -> Box<Pending> {
        let (numbers, _) = numbers.as_chunks::<N>();
        for (&whole, numbers) in wholes.iter().zip(numbers) {
            // Values of the block that no row has.
            if self.cells.rows_in(numbers) == 0 {
                continue;
            }
            let tag = self.keys[0].tag_of_whole(whole);
            if !own.push(tag, whole, numbers) {
                self.bring_in(&own);
                own.clear();
                let is_in = own.push(tag, whole, numbers);
                debug_assert!(is_in, "an empty part has room");
            }
        }
        if let Some(of_null) = numbers.get(wholes.len())
            && self.cells.rows_in(of_null) > 0
        {
            let null = self.keys[0].number_of(&Value::Null);
            let place = self.place(&[null]).unwrap_or(NOWHERE);
            self.add_numbers(std::iter::once((place, of_null)));
        }
        own
    }

    /// Makes cells ready, as [`crate::cells::Cells::prepare`]. What waits was made for the cells as
    /// they are, and comes in before they change.
    pub(super) fn prepare(&mut self, incoming: &Incoming<'_>) -> Option<Layout> {
        if self.pending.is_some() && !self.cells.is_ready_for(incoming) {
            self.gather();
        }
        self.cells.prepare(incoming).or_else(|| {
            self.spill();
            self.cells.prepare(incoming)
        })
    }

    /// Brings in all that waits.
    pub(crate) fn gather(&mut self) {
        if let Some(own) = self.pending.take() {
            self.bring_in(&own);
        }
    }

    fn bring_in(&mut self, pending: &Pending) {
        if pending.is_empty() {
            return;
        }
        self.expect_new(pending);
        for part in 0..PARTS {
            let places = self.places_of_wholes(&pending.wholes(part).collect::<Vec<i64>>());
            let places = places.into_iter();
            match pending.width() {
                1 => self.add_numbers(places.zip(pending.entries::<1>(part))),
                2 => self.add_numbers(places.zip(pending.entries::<2>(part))),
                3 => self.add_numbers(places.zip(pending.entries::<3>(part))),
                4 => self.add_numbers(places.zip(pending.entries::<4>(part))),
                5 => self.add_numbers(places.zip(pending.entries::<5>(part))),
                6 => self.add_numbers(places.zip(pending.entries::<6>(part))),
                7 => self.add_numbers(places.zip(pending.entries::<7>(part))),
                _ => self.add_numbers(places.zip(pending.entries::<WIDTH_MAX>(part))),
            }
        }
    }

    /// Makes room for the groups that are not known yet: about as many in each part as in the first.
    fn expect_new(&mut self, pending: &Pending) {
        let key = &mut self.keys[0];
        let new = key.count_new(pending.wholes(0)) * (PARTS + PARTS / 16);
        key.reserve_wholes(new);
        self.cells.reserve(self.len() + new);
    }

    /// Adds to the cells of groups at these places; drops what has none.
    fn add_numbers<'n, const N: usize>(
        &mut self,
        entries: impl Iterator<Item = (u32, &'n [i64; N])>,
    ) {
        let mut dropped: Vec<&[i64; N]> = Vec::new();
        let (all, _) = self.cells.numbers_mut(self.places.len()).as_chunks_mut::<N>();
        for (place, numbers) in entries {
            match all.get_mut(place as usize) {
                Some(own) => own.iter_mut().zip(numbers).for_each(|(own, more)| *own += more),
                None => dropped.push(numbers),
            }
        }
        let rows = dropped.into_iter().map(|numbers| self.cells.rows_in(numbers)).sum();
        self.drop_rows(rows);
    }
}

#[cfg(test)]
mod tests;
