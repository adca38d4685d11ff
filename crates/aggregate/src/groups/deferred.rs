//! Rows of groups by a whole number, by a text or its form, or by the numbers of a few keys, that
//! are brought in later, many at a time: see `groups/radix_partition.rs`.

use hadal_encoding::LiftedTexts;
use hadal_types::Value;
use hadal_types::limits::GROUP_KEYS_MAX;

use super::Groups;
use super::lookup::side_by_side;
use crate::groups::accumulators::{AccumulatorInput, AccumulatorLayout};
use crate::groups::group_index::NOWHERE;
use crate::groups::int_table::Whole;
use crate::groups::key_dictionary::KeyWhole;
use crate::groups::radix_partition::{PARTS, Pending, WIDTH_MAX};
use crate::groups::string_partition::PendingTexts;

/// Fewer groups than this are found in a cache, in whatever order they are asked for.
pub(super) const GROUPS_MIN: usize = 1 << 16;

/// Where some groups are new, more are to come: so many times as many.
const AHEAD: usize = 2;

/// The keys of groups that are looked for later.
#[derive(Clone, Copy, Debug)]
pub enum DeferredKeys<'k> {
    /// Whole numbers.
    Wholes(&'k [i64]),
    /// Lifted strings, where they are [taken](Groups::takes_lifted).
    Lifted(&'k LiftedTexts<'k>),
    /// Strings as they are, where lifted ones are not kept.
    Texts(&'k [&'k str]),
    /// By key, the numbers that its dictionary [gave out](Groups::key_mut): some groups may be told
    /// more than once.
    Numbers(&'k [Vec<u32>]),
}

impl DeferredKeys<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Wholes(wholes) => wholes.len(),
            Self::Lifted(texts) => texts.len(),
            Self::Texts(texts) => texts.len(),
            Self::Numbers(keys) => keys.iter().map(Vec::len).min().unwrap_or(0),
        }
    }
}

/// What waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    by: By,
    /// What rows are added up in, block by block, before they wait.
    added_up: Vec<i64>,
}

#[derive(Clone, Debug)]
enum By {
    Wholes(Pending<i64>),
    /// Of no use without the key that made them.
    Forms(Pending<u128>),
    Texts(PendingTexts),
    /// Of no use without the keys that gave them out.
    Two(Pending<[u32; 2]>),
    Three(Pending<[u32; 3]>),
    Four(Pending<[u32; 4]>),
    /// Of five keys to eight.
    Eight(Pending<[u32; 8]>),
    /// Of more.
    Most(Pending<[u32; GROUP_KEYS_MAX]>),
}

impl By {
    /// What waits for groups of these keys, with so many numbers.
    fn new(keys: DeferredKeys<'_>, width: usize) -> Self {
        match keys {
            DeferredKeys::Wholes(_) => Self::Wholes(Pending::new(width)),
            DeferredKeys::Lifted(_) => Self::Forms(Pending::new(width)),
            DeferredKeys::Texts(_) => Self::Texts(PendingTexts::new(width)),
            DeferredKeys::Numbers([_, _]) => Self::Two(Pending::new(width)),
            DeferredKeys::Numbers([_, _, _]) => Self::Three(Pending::new(width)),
            DeferredKeys::Numbers([_, _, _, _]) => Self::Four(Pending::new(width)),
            DeferredKeys::Numbers(keys) if keys.len() <= 8 => Self::Eight(Pending::new(width)),
            DeferredKeys::Numbers(_) => Self::Most(Pending::new(width)),
        }
    }

    /// Whether that is so here.
    fn fits(&self, keys: DeferredKeys<'_>, width: usize) -> bool {
        match (self, keys) {
            (Self::Wholes(own), DeferredKeys::Wholes(_)) => own.width() == width,
            (Self::Forms(own), DeferredKeys::Lifted(_)) => own.width() == width,
            (Self::Texts(own), DeferredKeys::Texts(_)) => own.width() == width,
            (Self::Two(own), DeferredKeys::Numbers([_, _])) => own.width() == width,
            (Self::Three(own), DeferredKeys::Numbers([_, _, _])) => own.width() == width,
            (Self::Four(own), DeferredKeys::Numbers([_, _, _, _])) => own.width() == width,
            // The keys of groups do not change.
            (Self::Eight(own), DeferredKeys::Numbers(_)) => own.width() == width,
            (Self::Most(own), DeferredKeys::Numbers(_)) => own.width() == width,
            _ => false,
        }
    }
}

/// What tells groups apart while their rows wait.
pub(super) trait Waits: Whole {
    /// The first bits of the hash: asking in their order is quick.
    fn tag(self, groups: &Groups) -> u32;

    /// Where the groups of these are; new ones are made where there are none yet.
    fn places(all: &[Self], groups: &mut Groups) -> Vec<u32>;

    /// How many of these there are no groups of yet.
    fn count_new(some: &[Self], groups: &mut Groups) -> usize;

    /// Makes room for so many new ones, and where there is none for some others, too.
    fn reserve(groups: &mut Groups, new: usize, others: usize);
}

impl<W: KeyWhole> Waits for W {
    #[inline]
    fn tag(self, groups: &Groups) -> u32 {
        groups.keys[0].tag_of(self)
    }

    fn places(all: &[Self], groups: &mut Groups) -> Vec<u32> {
        groups.places_of(|key, numbers| key.numbers_of_all(all, numbers))
    }

    fn count_new(some: &[Self], groups: &mut Groups) -> usize {
        groups.keys[0].count_new(some)
    }

    fn reserve(groups: &mut Groups, new: usize, others: usize) {
        groups.keys[0].reserve::<W>(new, others);
    }
}

impl<const N: usize> Waits for [u32; N] {
    #[inline]
    fn tag(self, groups: &Groups) -> u32 {
        groups.places.tag(groups.places.own(&self))
    }

    fn places(all: &[Self], groups: &mut Groups) -> Vec<u32> {
        groups.places_of_numbers(all)
    }

    fn count_new(some: &[Self], groups: &mut Groups) -> usize {
        let places = &groups.places;
        let is_new = |numbers: &Self| places.find(places.own(numbers)).is_none();
        let mut new: Vec<Self> = some.iter().copied().filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        new.len()
    }

    fn reserve(groups: &mut Groups, new: usize, others: usize) {
        groups.places.reserve(new, others);
    }
}

impl Waiting {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let own = match &self.by {
            By::Wholes(own) => own.bytes(),
            By::Forms(own) => own.bytes(),
            By::Texts(own) => own.bytes(),
            By::Two(own) => own.bytes(),
            By::Three(own) => own.bytes(),
            By::Four(own) => own.bytes(),
            By::Eight(own) => own.bytes(),
            By::Most(own) => own.bytes(),
        };
        own + self.added_up.capacity() * size_of::<i64>()
    }
}

impl Groups {
    /// Whether it is worth while to look for groups later: they are many, found by hash, and none
    /// were dropped.
    #[must_use]
    pub fn can_wait(&self) -> bool {
        let is_hashed = self.keys.len() == 1 || self.places.are_hashed();
        is_hashed && self.len() >= GROUPS_MIN && self.key_max.is_none()
    }

    /// Lets `add` add rows to the numbers of groups that are looked for later: those of these keys,
    /// and then of one more group, of rows without a value. The layout says where they go, as for
    /// [`Self::add_cells`].
    ///
    /// Returns whether they were added: not where groups [cannot wait](Self::can_wait), and where
    /// there is no room in cells.
    pub fn add_later(
        &mut self,
        keys: DeferredKeys<'_>,
        incoming: &AccumulatorInput<'_>,
        add: impl FnOnce(&AccumulatorLayout, &mut [i64]),
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
        // What waits otherwise may be what makes an end of forms.
        if !self.pending.as_ref().is_some_and(|waiting| waiting.by.fits(keys, width)) {
            self.gather();
        }
        let is_kept_so = match keys {
            DeferredKeys::Lifted(_) => self.takes_lifted(),
            DeferredKeys::Texts(_) => !self.keys[0].is_lifted(),
            DeferredKeys::Wholes(_) | DeferredKeys::Numbers(_) => true,
        };
        if !is_kept_so {
            return false;
        }
        let new = || Box::new(Waiting { by: By::new(keys, width), added_up: Vec::new() });
        let mut waiting = self.pending.take().unwrap_or_else(new);
        let mut numbers = std::mem::take(&mut waiting.added_up);
        numbers.clear();
        numbers.resize((keys.len() + 1) * width, 0);
        add(&layout, &mut numbers);
        self.add_null(numbers.split_off(keys.len() * width));
        match (keys, &mut waiting.by) {
            (DeferredKeys::Wholes(wholes), By::Wholes(own)) => self.wait_all(own, wholes, &numbers),
            (DeferredKeys::Lifted(texts), By::Forms(own)) => {
                let with_rows = numbers.chunks_exact(width).enumerate();
                let with_rows = with_rows.map(|(index, numbers)| {
                    Some(index).filter(|_| self.cells.rows_in(numbers) > 0)
                });
                let forms = self.keys[0].forms_of(texts, with_rows).unwrap_or_default();
                debug_assert_eq!(forms.len(), texts.len(), "the key takes forms");
                self.wait_all(own, &forms, &numbers);
            }
            (DeferredKeys::Texts(texts), By::Texts(own)) => self.wait_texts(own, texts, &numbers),
            (DeferredKeys::Numbers(keys), By::Two(own)) => {
                self.wait_all(own, &side_by_side(keys), &numbers);
            }
            (DeferredKeys::Numbers(keys), By::Three(own)) => {
                self.wait_all(own, &side_by_side(keys), &numbers);
            }
            (DeferredKeys::Numbers(keys), By::Four(own)) => {
                self.wait_all(own, &side_by_side(keys), &numbers);
            }
            (DeferredKeys::Numbers(keys), By::Eight(own)) => {
                self.wait_all(own, &side_by_side(keys), &numbers);
            }
            (DeferredKeys::Numbers(keys), By::Most(own)) => {
                self.wait_all(own, &side_by_side(keys), &numbers);
            }
            _ => debug_assert!(false, "what waits fits the keys"),
        }
        waiting.added_up = numbers;
        self.pending = Some(waiting);
        true
    }

    /// Adds these numbers to the group of rows without a value.
    fn add_null(&mut self, numbers: Vec<i64>) {
        if self.cells.rows_in(&numbers) > 0 {
            let null = self.keys[0].number_of(&Value::Null);
            let place = self.place(&[null]).unwrap_or(NOWHERE);
            self.add_numbers(&[place], &numbers);
        }
    }

    fn wait_all<W: Waits>(&mut self, own: &mut Pending<W>, wholes: &[W], numbers: &[i64]) {
        match own.width() {
            1 => self.wait::<W, 1>(own, wholes, numbers),
            2 => self.wait::<W, 2>(own, wholes, numbers),
            3 => self.wait::<W, 3>(own, wholes, numbers),
            4 => self.wait::<W, 4>(own, wholes, numbers),
            5 => self.wait::<W, 5>(own, wholes, numbers),
            6 => self.wait::<W, 6>(own, wholes, numbers),
            7 => self.wait::<W, 7>(own, wholes, numbers),
            _ => self.wait::<W, WIDTH_MAX>(own, wholes, numbers),
        }
    }

    /// Lets these whole numbers wait with their numbers, N each.
    fn wait<W: Waits, const N: usize>(
        &mut self,
        own: &mut Pending<W>,
        wholes: &[W],
        numbers: &[i64],
    ) {
        let (numbers, _) = numbers.as_chunks::<N>();
        for (&whole, numbers) in wholes.iter().zip(numbers) {
            // Values of the block that no row has.
            if self.cells.rows_in(numbers) == 0 {
                continue;
            }
            let tag = whole.tag(self);
            if !own.push(tag, whole, numbers) {
                self.bring_in(own);
                own.clear();
                let is_in = own.push(tag, whole, numbers);
                debug_assert!(is_in, "an empty part has room");
            }
        }
    }

    /// Makes cells ready, as [`crate::groups::accumulators::Cells::prepare`]. What waits was made for the cells as
    /// they are, and comes in before they change.
    pub(super) fn prepare(&mut self, incoming: &AccumulatorInput<'_>) -> Option<AccumulatorLayout> {
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
        if let Some(waiting) = self.pending.take() {
            match &waiting.by {
                By::Wholes(own) => self.bring_in(own),
                By::Forms(own) => self.bring_in(own),
                By::Texts(own) => self.bring_in_texts(own),
                By::Two(own) => self.bring_in(own),
                By::Three(own) => self.bring_in(own),
                By::Four(own) => self.bring_in(own),
                By::Eight(own) => self.bring_in(own),
                By::Most(own) => self.bring_in(own),
            }
        }
    }

    /// Brings in what waits by its form, so that the key may change its forms, or keep none.
    pub(super) fn gather_forms(&mut self) {
        if self.pending.as_ref().is_some_and(|waiting| matches!(waiting.by, By::Forms(_))) {
            self.gather();
        }
    }

    fn bring_in<W: Waits>(&mut self, pending: &Pending<W>) {
        if pending.is_empty() {
            return;
        }
        // About as many in each part as in the first.
        let new = W::count_new(pending.wholes(0), self) * (PARTS + PARTS / 16);
        self.expect::<W>(new, AHEAD * new);
        for part in 0..PARTS {
            let places = W::places(pending.wholes(part), self);
            self.add_numbers(&places, pending.numbers(part));
        }
    }

    /// Makes room for so many new groups, and where there is none for some others, too.
    pub(super) fn expect<W: Waits>(&mut self, new: usize, others: usize) {
        W::reserve(self, new, others);
        self.cells.reserve(new);
    }

    /// Adds to the cells of groups at these places; drops what has none.
    fn add_numbers(&mut self, places: &[u32], numbers: &[i64]) {
        match numbers.len() / places.len().max(1) {
            1 => self.add_entries::<1>(places, numbers),
            2 => self.add_entries::<2>(places, numbers),
            3 => self.add_entries::<3>(places, numbers),
            4 => self.add_entries::<4>(places, numbers),
            5 => self.add_entries::<5>(places, numbers),
            6 => self.add_entries::<6>(places, numbers),
            7 => self.add_entries::<7>(places, numbers),
            _ => self.add_entries::<WIDTH_MAX>(places, numbers),
        }
    }

    fn add_entries<const N: usize>(&mut self, places: &[u32], numbers: &[i64]) {
        let mut dropped: Vec<&[i64; N]> = Vec::new();
        let (all, _) = self.cells.numbers_mut(self.places.len()).as_chunks_mut::<N>();
        for (&place, numbers) in places.iter().zip(numbers.as_chunks::<N>().0) {
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
mod texts;
