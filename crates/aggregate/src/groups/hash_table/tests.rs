use std::cell::Cell;

use super::*;

thread_local! {
    static PROBES: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn note_probe() {
    PROBES.set(PROBES.get() + 1);
}

/// The number of slots of all tables that this thread probes during `work`.
pub(crate) fn probes<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = PROBES.get();
    let done = work();
    (PROBES.get() - before, done)
}

/// Inserts numbers of these tags, `at_once` at a time, and then looks up each. Returns the
/// maximum number of probes of an insertion, and the mean of all.
fn put_in(table: &mut TagTable, tags: &[u32], at_once: usize) -> (usize, usize) {
    let (mut most, first) = (0, table.len);
    let (all, ()) = probes(|| {
        for tags in tags.chunks(at_once) {
            table.reserve_ahead(tags.len(), 0);
            for &tag in tags {
                let number = u32::try_from(table.len).expect("few");
                most = most.max(probes(|| table.insert(tag, number)).0);
            }
        }
        for (number, &tag) in (first..).zip(tags) {
            let matches = |candidate| candidate as usize == number;
            assert!(table.find(tag, matches).is_some(), "what was put in is found");
        }
    });
    (most, all / tags.len().max(1))
}

/// The tags of `count` keys from `first`: `SplitMix64` (Steele et al. 2014), so that each run
/// counts the same slots.
fn tags(count: u64, first: u64) -> Vec<u32> {
    let tag = |key: u64| {
        let mut bits = key.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 32) as u32
    };
    (first..first + count).map(tag).collect()
}

#[test]
fn what_comes_in_the_order_of_hashes_is_put_in_as_soon_as_what_comes_in_any() {
    for present in [0, 1_000, 30_000, 49_000, 60_000, 98_000] {
        for (at_once, sorted) in
            [(1, false), (64, false), (10_000, false), (1, true), (64, true), (10_000, true)]
        {
            let mut table = TagTable::default();
            put_in(&mut table, &tags(present, 0), 64);
            let mut new = tags(60_000, present);
            // In the order of another table, tag by tag or partition by partition.
            if sorted {
                new.sort_unstable()
            } else {
                new.sort_by_key(|tag| tag >> 24)
            }
            let (most, mean) = put_in(&mut table, &new, at_once);
            assert!(
                most < 500 && mean < 50,
                "{present} are present, {at_once} at once, sorted {sorted}: {most} looks for one, \
                 {mean} for each"
            );
        }
    }
}

#[test]
fn the_last_free_slot_is_found_from_everywhere() {
    for tag in [0, 1, 77, u32::MAX] {
        let mut table = TagTable { table: vec![Slot { tag: 0, number: 0 }; 64], len: 63 };
        for free in 0..64 {
            table.table[free].number = FREE;
            assert_eq!(table.search(tag, |_| false), Err(free));
            table.table[free].number = 0;
        }
    }
}
