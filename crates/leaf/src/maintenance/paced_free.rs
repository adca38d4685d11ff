//! Frees many blocks gradually, so that queries do not slow down.
//!
//! Giving back the memory of 1 GiB keeps one processor busy for about 0.3 s, which queries notice.
//! So code that removes many blocks frees them at [`BYTES_A_SECOND`], in small portions. Blocks are
//! freed at once when memory is nearly full, when fresh blocks wait for the merge thread that runs
//! this, or when the leaf stops.

use std::sync::Arc;
use std::time::Duration;

use crate::context::LeafContext;
use crate::maintenance::memory_pressure::MemoryPressure;
use crate::table::block::Block;

/// Frees 1 GiB within a second. Measured on two processors that one client keeps busy: without a
/// pace the 99th percentile of its query times rises up to 1.7-fold, at this pace about 1.2-fold
/// (`bench/lifetimes/expiry.py`).
const BYTES_A_SECOND: u64 = 1_126 << 20;
/// Bytes between two readings of the clock.
const PORTION_BYTES: u64 = 512 << 10;

/// Frees blocks that are no longer visible. A query that still reads one keeps it alive until it
/// ends.
pub(crate) fn free_paced(
    context: &LeafContext,
    pressure: &MemoryPressure,
    blocks: Vec<Arc<Block>>,
) {
    let start = context.clock.running();
    let (mut gone, mut portion) = (0, 0);
    for block in blocks {
        portion += block.byte_count() as u64;
        drop(block);
        if portion >= PORTION_BYTES {
            gone += std::mem::take(&mut portion);
            let rest = rest(gone, context.clock.running().saturating_sub(start));
            if !rest.is_zero() && !is_in_a_hurry(context, pressure) {
                std::thread::park_timeout(rest);
            }
        }
    }
}

/// Whether memory, including that for fresh blocks, or the end of the leaf waits for this.
fn is_in_a_hurry(context: &LeafContext, pressure: &MemoryPressure) -> bool {
    context.is_stopping() || pressure.is_pressed() || context.limits.fresh.is_pressed()
}

/// How long to pause after `gone` bytes were freed within `passed`.
fn rest(gone: u64, passed: Duration) -> Duration {
    let micros = u128::from(gone) * 1_000_000 / u128::from(BYTES_A_SECOND);
    let due = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
    due.saturating_sub(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gibibyte_takes_less_than_a_second() {
        let millis = Duration::from_millis;
        assert!(rest(1 << 30, Duration::ZERO) < millis(950));
        assert_eq!(rest(BYTES_A_SECOND, Duration::ZERO), millis(1000));
        assert_eq!(rest(BYTES_A_SECOND, millis(999)), millis(1));
        assert_eq!(rest(BYTES_A_SECOND, millis(1001)), Duration::ZERO, "who is late does not rest");
        assert_eq!(rest(u64::MAX, Duration::MAX), Duration::ZERO);
    }
}
