//! Limits of what a leaf accepts: bytes of a table, of a merge, and of batches that are only in
//! memory.

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
    /// Bytes of row blocks that one table may have in this leaf before its oldest blocks are
    /// dropped.
    pub table_bytes_max: u64,
    /// Raw bytes of the blocks that one merge takes; a larger block is merged alone.
    pub merge_bytes_max: u64,
    /// The bound on batches not yet in a segment, shared by all leaves of a process.
    pub fresh: Arc<FreshBytes>,
    /// Bytes of row blocks that are verified per second, after the first round.
    pub scrub_bytes_per_second: u64,
    /// Bytes of disk set aside for row blocks: while the disk is too full to keep this reserve,
    /// batches are refused.
    pub disk_reserve_bytes: u64,
    /// Threads that restore row blocks after a start that trusts none of them; at least 1.
    pub recovery_threads: usize,
    /// The time after a start, and after a jump of the clock, during which no row expires.
    pub clock_proving: Duration,
    /// The number of leaves that share a table's bytes, including this one; at least 1.
    pub leaves: u64,
}

impl LeafLimits {
    /// The usual limits of each leaf of a process with this many leaves. Each leaf gets an equal
    /// share of a table's bytes, as placement spreads every table evenly. No disk is reserved, and
    /// one thread recovers.
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

    /// Returns the bytes that a table may have in this leaf: its share of the configured size, or
    /// the default.
    #[must_use]
    pub(crate) fn table_bytes(&self, settings: Option<&TableSettings>) -> u64 {
        let set = settings.and_then(|settings| settings.bytes);
        set.map_or(self.table_bytes_max, |bytes| bytes / self.leaves.max(1))
    }
}

/// Counts and bounds the bytes of in-memory batches that are not yet in a segment.
///
/// The log has these batches too, but it is not read while the process runs. So each batch takes
/// memory until it is merged or flushed to a segment.
#[derive(Debug)]
pub struct FreshBytes {
    max: u64,
    held: AtomicU64,
    /// Whether the last batch was refused.
    has_refused: AtomicBool,
}

impl FreshBytes {
    /// Makes a bound of `max` bytes.
    #[must_use]
    pub fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { max, held: AtomicU64::new(0), has_refused: AtomicBool::new(false) })
    }

    /// Returns the bytes held now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns the size of the largest batch that would be admitted now.
    pub(crate) fn free(&self) -> u64 {
        match self.held() {
            0 => u64::MAX,
            held => self.max.saturating_sub(held),
        }
    }

    /// Counts the bytes of an incoming batch, or refuses it. A batch of any size is admitted when
    /// nothing is held.
    pub(crate) fn admit(self: &Arc<Self>, bytes: u64) -> Option<Hold> {
        let with = |held: u64| held.checked_add(bytes).filter(|&all| held == 0 || all <= self.max);
        let admitted = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with);
        self.has_refused.store(admitted.is_err(), Ordering::Relaxed);
        admitted.ok().map(|_| Hold { counter: Arc::clone(self), bytes })
    }

    /// Counts bytes that are already in memory, regardless of the bound.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> Hold {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Hold { counter: Arc::clone(self), bytes }
    }

    /// Whether some held batches should be flushed soon: more than half of the bound is held, or
    /// the last batch was refused and bytes are still held.
    pub(crate) fn is_pressed(&self) -> bool {
        let held = self.held();
        held > self.max / 2 || held > 0 && self.has_refused.load(Ordering::Relaxed)
    }
}

/// Bytes that count as held until this value is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    counter: Arc<FreshBytes>,
    bytes: u64,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.counter.held.fetch_sub(self.bytes, Ordering::Relaxed);
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
