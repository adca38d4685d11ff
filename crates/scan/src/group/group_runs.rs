//! Runs of rows whose cells follow each other: sensors that report in turn, minute by minute.
//!
//! Summing such rows needs no lookup of each row's cell: a run of values is added to a run of sums.

use std::ops::Range;

use hadal_encoding::{Bitmap, kernels};

/// The minimum average length of runs, in rows, for which they are used.
const ROWS_MIN: usize = 16;
/// The number of rows that are checked before all are.
const SAMPLE: usize = 1_024;

/// Cells whose sums fit the L1 cache.
const CELLS_AT_ONCE: usize = 2_048;
/// The maximum number of runs that are cut into pieces.
const CUT_MAX: usize = 64;

/// The runs of some rows.
pub(crate) struct GroupRuns {
    all: Vec<GroupRun>,
    /// Ranges of cells that have rows, ascending, with the number of rows per cell.
    counts: Vec<(Range<usize>, u64)>,
}

/// Rows whose cells ascend by one from row to row.
struct GroupRun {
    rows: Range<usize>,
    /// The cell of the first row.
    cell: usize,
}

impl GroupRuns {
    /// Finds the runs in the cells of rows; `None` if they are short.
    pub(crate) fn new(cells: &[u32]) -> Option<Self> {
        let breaks = |cells: &[u32]| {
            let mut words = vec![0; cells.len().saturating_sub(1).div_ceil(64)];
            kernels::breaks_u32(cells, &mut words);
            let are_few = kernels::count_ones(&words) <= (cells.len() / ROWS_MIN) as u64;
            are_few.then(|| Bitmap::from_words(words, cells.len().saturating_sub(1)))
        };
        breaks(&cells[..cells.len().min(SAMPLE)])?;
        let breaks = breaks(cells)?;
        let ends = breaks.iter_ones().map(|row| row + 1).chain([cells.len()]);
        let mut start = 0;
        let all = ends.map(|end| {
            let rows = std::mem::replace(&mut start, end)..end;
            GroupRun { cell: cells.get(rows.start).map_or(0, |cell| *cell as usize), rows }
        });
        let all: Vec<GroupRun> = all.collect();
        Some(Self { counts: counts(&all), all })
    }

    /// The ranges of cells that have rows, ascending.
    pub(crate) fn used(&self) -> impl Iterator<Item = Range<usize>> {
        self.counts.iter().map(|(cells, _)| cells.clone())
    }

    /// The number of rows of each of `space` cells.
    pub(crate) fn counts(&self, space: usize) -> Vec<u64> {
        let mut counts = vec![0; space];
        self.counts.iter().for_each(|(cells, count)| counts[cells.clone()].fill(*count));
        counts
    }

    /// Sums numbers by row into `space` cells.
    pub(crate) fn sums(&self, numbers: &[u32], space: usize) -> Vec<u64> {
        let mut sums = vec![0; space];
        self.for_each_piece(|rows, cells| kernels::add_adjacent(&numbers[rows], &mut sums[cells]));
        sums
    }

    /// The minimum and the maximum by cell of numbers by row; arbitrary for cells without rows.
    pub(crate) fn ends(&self, numbers: &[u32], space: usize) -> (Vec<u32>, Vec<u32>) {
        let (mut low, mut high) = (vec![u32::MAX; space], vec![0; space]);
        self.for_each_piece(|rows, cells| {
            kernels::widen_adjacent(&numbers[rows], &mut low[cells.clone()], &mut high[cells]);
        });
        (low, high)
    }

    /// Calls `see` with the rows and cells of each run. Up to [`CUT_MAX`] runs are cut so that the
    /// sums of neighbouring cells stay in the L1 cache; cutting more would cost more than it saves.
    fn for_each_piece(&self, mut see: impl FnMut(Range<usize>, Range<usize>)) {
        let end = self.counts.last().map_or(0, |(cells, _)| cells.end);
        let size = if self.all.len() <= CUT_MAX { CELLS_AT_ONCE } else { end };
        for first in (0..end).step_by(size.max(1)) {
            for GroupRun { rows, cell } in &self.all {
                let cells = first.max(*cell)..(first + size).min(cell + rows.len());
                if !cells.is_empty() {
                    let row = rows.start + cells.start - cell;
                    see(row..row + cells.len(), cells);
                }
            }
        }
    }
}

/// Ranges of cells that have rows, ascending, with the number of rows per cell.
fn counts(all: &[GroupRun]) -> Vec<(Range<usize>, u64)> {
    let ends = all.iter().flat_map(|GroupRun { rows, cell }| {
        [(*cell, true), (*cell + rows.len(), false)].into_iter().filter(|_| !rows.is_empty())
    });
    let mut ends: Vec<(usize, bool)> = ends.collect();
    ends.sort_unstable();
    let (mut counts, mut open, mut start) = (Vec::new(), 0u64, 0);
    for (cell, begins) in ends {
        if open > 0 && start < cell {
            counts.push((start..cell, open));
        }
        open = if begins { open + 1 } else { open - 1 };
        start = cell;
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_come_to_what_their_rows_do(
            parts in prop::collection::vec((0u32..3_000, 1u32..400), 0..30),
            seed in any::<u64>(),
        ) {
            let cells = parts.iter().flat_map(|&(first, length)| first..first + length);
            let cells: Vec<u32> = cells.collect();
            let mut seed = seed;
            let mut number = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u32::try_from(seed >> 32).expect("32 bits")
            };
            let numbers: Vec<u32> = cells.iter().map(|_| number()).collect();
            let Some(runs) = GroupRuns::new(&cells) else {
                let breaks = cells.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
                prop_assert!(breaks * ROWS_MIN > 15 * cells.len().min(SAMPLE) / 16);
                return Ok(());
            };
            let space = 3_500;
            let mut expected = vec![(0u64, 0u64, u32::MAX, 0u32); space];
            for (&cell, &number) in cells.iter().zip(&numbers) {
                let totals = &mut expected[cell as usize];
                let (count, sum, low, high) = *totals;
                let sum = sum + u64::from(number);
                *totals = (count + 1, sum, low.min(number), high.max(number));
            }
            let (counts, sums) = (runs.counts(space), runs.sums(&numbers, space));
            let (low, high) = runs.ends(&numbers, space);
            let mut used = vec![false; space];
            let mut end = 0;
            for cells in runs.used() {
                prop_assert!(end <= cells.start && cells.start < cells.end);
                end = cells.end;
                used[cells].fill(true);
            }
            for (cell, expected) in expected.iter().enumerate() {
                prop_assert_eq!(used[cell], expected.0 > 0);
                prop_assert_eq!((counts[cell], sums[cell]), (expected.0, expected.1));
                if used[cell] {
                    prop_assert_eq!((low[cell], high[cell]), (expected.2, expected.3));
                }
            }
        }
    }
}
