//! What a leaf may take: bytes of a table, of a merge, and of batches that are in memory only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hadal_types::TableSettings;
use hadal_types::limits::{
    CLOCK_PROVING_SECONDS, FRESH_BYTES_MAX, MERGE_BYTES_MAX, SCRUB_BYTES_PER_SECOND,
    TABLE_BYTES_MAX,
};

/// The limits of a leaf.
#[derive(Clone, Debug)]
pub struct LeafLimits {
    /// Bytes of row blocks that one table may have here, before its oldest blocks are dropped.
    pub table_bytes_max: u64,
    /// Raw bytes of the blocks that one merge takes; a larger block is merged alone.
    pub merge_bytes_max: u64,
    /// What all leaves of a process may hold of batches that have no place in a segment yet.
    pub fresh: Arc<FreshBytes>,
    /// Bytes of row blocks that are verified in a second, after the first round.
    pub scrub_bytes_per_second: u64,
    /// Disk that is set aside for row blocks, from which batches are kept where it is full.
    pub disk_reserve_bytes: u64,
    /// Threads that bring row blocks back after a start that believes none of them; at least 1.
    pub recovery_threads: usize,
    /// How long after a start, and after a jump of the clock, no row goes for its age.
    pub clock_proving: Duration,
    /// Leaves that a table's bytes are shared out to, this one among them; at least 1.
    pub leaves: u64,
}

impl LeafLimits {
    /// The usual limits of each of the leaves of one process: of a table's bytes it has its share,
    /// as placement spreads every table evenly. No disk is set aside, and one thread recovers.
    #[must_use]
    pub fn of_one_in(leaves: usize) -> Self {
        Self {
            table_bytes_max: TABLE_BYTES_MAX / leaves.max(1) as u64,
            merge_bytes_max: MERGE_BYTES_MAX,
            fresh: FreshBytes::new(FRESH_BYTES_MAX),
            scrub_bytes_per_second: SCRUB_BYTES_PER_SECOND / leaves.max(1) as u64,
            disk_reserve_bytes: 0,
            recovery_threads: 1,
            clock_proving: Duration::from_secs(CLOCK_PROVING_SECONDS),
            leaves: leaves.max(1) as u64,
        }
    }

    /// Bytes that a table may have here: its share of what a person set for it, or the usual.
    #[must_use]
    pub(crate) fn table_bytes(&self, settings: Option<&TableSettings>) -> u64 {
        let set = settings.and_then(|settings| settings.bytes);
        set.map_or(self.table_bytes_max, |bytes| bytes / self.leaves.max(1))
    }
}

/// Bytes of batches in memory that have no place in a segment yet: counted, and bounded.
///
/// The log has them too, but is not read while the process runs; so until they are merged, or
/// moved to a segment as they are, each costs memory.
#[derive(Debug)]
pub struct FreshBytes {
    max: u64,
    held: AtomicU64,
    /// The last batch was refused.
    has_refused: AtomicBool,
}

impl FreshBytes {
    /// A bound of `max` bytes.
    #[must_use]
    pub fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { max, held: AtomicU64::new(0), has_refused: AtomicBool::new(false) })
    }

    /// Bytes that are held now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Bytes of a batch that would be let in now.
    pub(crate) fn free(&self) -> u64 {
        match self.held() {
            0 => u64::MAX,
            held => self.max.saturating_sub(held),
        }
    }

    /// Counts the bytes of a batch that comes in, or refuses it. One of any size is let in where
    /// nothing is held.
    pub(crate) fn admit(self: &Arc<Self>, bytes: u64) -> Option<Hold> {
        let with = |held: u64| held.checked_add(bytes).filter(|&all| held == 0 || all <= self.max);
        let admitted = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with);
        self.has_refused.store(admitted.is_err(), Ordering::Relaxed);
        admitted.ok().map(|_| Hold { of: Arc::clone(self), bytes })
    }

    /// Counts bytes that are there whatever the bound is.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> Hold {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Hold { of: Arc::clone(self), bytes }
    }

    /// Whether so much is held that some of it should get its place before long: more than half, or
    /// more than leaves room for the batch that came last.
    pub(crate) fn is_pressed(&self) -> bool {
        let held = self.held();
        held > self.max / 2 || held > 0 && self.has_refused.load(Ordering::Relaxed)
    }
}

/// Bytes that count as held until it is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    of: Arc<FreshBytes>,
    bytes: u64,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.of.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_admitted_than_there_is_room_for() {
        let fresh = FreshBytes::new(10);
        let whole = fresh.admit(11).expect("nothing is held, so any size is let in");
        assert!(fresh.admit(1).is_none());
        drop(whole);
        let (six, four) = (fresh.admit(6).expect("room"), fresh.admit(4).expect("room"));
        assert!(fresh.admit(1).is_none() && fresh.is_pressed());
        drop(six);
        assert!(fresh.is_pressed(), "the last one was refused");
        let one = fresh.admit(1).expect("room");
        assert!(!fresh.is_pressed());
        assert!(fresh.admit(6).is_none() && fresh.is_pressed());
        drop(one);
        let more = fresh.count(100);
        assert_eq!(fresh.held(), 104);
        drop((four, more));
        assert_eq!(fresh.held(), 0);
        assert!(fresh.admit(u64::MAX).is_some());
    }

    #[test]
    fn the_leaves_of_a_process_share_a_table_s_bytes() {
        for leaves in [1, 2, 64] {
            let limits = LeafLimits::of_one_in(leaves);
            assert_eq!(limits.table_bytes_max * leaves as u64, TABLE_BYTES_MAX);
            let default = TableSettings::default();
            assert_eq!(limits.table_bytes(None), limits.table_bytes_max);
            assert_eq!(limits.table_bytes(Some(&default)), limits.table_bytes_max);
            let set = TableSettings { bytes: Some(6_400 << 20), ..default };
            assert_eq!(limits.table_bytes(Some(&set)) * leaves as u64, 6_400 << 20);
        }
    }
}
