//! Histograms: the weight in adjacent buckets of equal width with round edges, exactly.
//!
//! How wide the buckets are is known only once all rows are, so the state counts in finer ones:
//! cells of a decimal grid (see `state/histogram/grid.rs`), the finest of which few enough span the values so far.
//! Only the smallest and the largest value decide which grid that is, it only ever gets coarser,
//! and a cell lies whole in one of every coarser grid; so merging is order-free, bit for bit.
//!
//! For N buckets, 5 N + 1 cells are enough. The width of the buckets is the smallest of 1, 2 and 5
//! times a power of ten of which N reach. Cells being 10^k wide, narrower buckets are at most
//! 5 · 10^(k-1) wide; then N of them, and the largest value on the upper edge of the last, lie in
//! 5 N + 1 cells of 10^(k-1), and those would be the cells. So every bucket is an integer of
//! cells. Where the largest value is an edge, its cell holds nothing larger, and belongs to the
//! last bucket.

pub(crate) mod grid;

use std::sync::Arc;

use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, Weight};

use crate::state::histogram::grid::HistogramGrid;
use crate::state::sorted_runs::{add_ascending, is_ascending};
use crate::state::weighted_count::number_of_weight;

/// What is kept of some numbers, each with a weight, for a histogram of at most so many buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets_max: u16,
    cells: Option<Box<Cells>>,
}

/// The weight in each cell, in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cells {
    min: Number,
    max: Number,
    /// What covers `min` to `max`.
    grid: HistogramGrid,
    /// In ascending order, all above zero; the first cell is that of `min`, the last that of `max`.
    weights: Vec<(i128, i128)>,
}

/// What the state of a histogram consists of, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramParts {
    /// The smallest value.
    pub min: Number,
    /// The largest value.
    pub max: Number,
    /// Cells in ascending order, counted from that of `min`, with their weight in millionths.
    pub cells: Vec<(u32, i128)>,
}

/// Widths of buckets, in cells. With the last of them 5 N + 1 cells lie in at most
/// ⌊(5 N - 1) / 10⌋ + 2 buckets, which are no more than N where N is two or more.
const WIDTHS: [i128; 4] = [1, 2, 5, 10];

impl Histogram {
    /// The state of no values, for at most so many buckets, which are not zero.
    #[must_use]
    pub const fn new(buckets_max: u16) -> Self {
        Self { buckets_max, cells: None }
    }

    /// The most buckets that it is kept for.
    #[must_use]
    pub const fn buckets_max(&self) -> u16 {
        self.buckets_max
    }

    /// The most cells that a histogram of at most so many buckets needs.
    #[must_use]
    pub fn cells_max(buckets_max: u16) -> usize {
        5 * usize::from(buckets_max) + 1
    }

    /// Adds one value.
    pub fn add(&mut self, value: Number, weight: Weight) {
        let weight = i128::from(weight.millionths());
        self.add_cells((value, value), |grid| [(grid.cell_of(value), weight)]);
    }

    /// Adds values of which these are the smallest and the largest. `count` counts them by cell of
    /// the grid that it is given: ascending, with weights in millionths, all above zero.
    pub fn add_cells<C: IntoIterator<Item = (i128, i128)>>(
        &mut self,
        (min, max): (Number, Number),
        count: impl FnOnce(HistogramGrid) -> C,
    ) {
        let cells_max = Self::cells_max(self.buckets_max);
        let cells = self.cells.get_or_insert_with(|| {
            let grid = HistogramGrid::covering((min, max), cells_max, None);
            Box::new(Cells { min, max, grid, weights: Vec::new() })
        });
        cells.widen((min, max), cells_max);
        add_ascending(&mut cells.weights, count(cells.grid));
        debug_assert!(cells.is_whole(cells_max), "cells from the smallest to the largest value");
    }

    /// Adds the values that `other` saw, which is for as many buckets.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.buckets_max, other.buckets_max, "buckets of one histogram");
        let (Some(theirs), cells_max) = (&other.cells, Self::cells_max(self.buckets_max)) else {
            return;
        };
        let mut theirs = theirs.clone();
        if let Some(own) = &self.cells {
            theirs.widen((own.min, own.max), cells_max);
        }
        self.add_cells((theirs.min, theirs.max), |_| theirs.weights);
    }

    /// The weight in at most so many adjacent buckets of equal, round width around all values; where
    /// there is one value, or one bucket at most, between the two ends. Null without values.
    #[must_use]
    pub fn finish(&self) -> Value {
        let buckets = self.cells.as_ref().map(|cells| cells.buckets(self.buckets_max));
        buckets.map_or(Value::Null, Value::Histogram)
    }

    /// What it consists of, `None` without values; equal ones have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> Option<HistogramParts> {
        let cells = self.cells.as_ref()?;
        let first = cells.weights.first()?.0;
        let from_first = |cell: i128| u32::try_from(cell - first).unwrap_or(u32::MAX);
        let weights = cells.weights.iter().map(|&(cell, weight)| (from_first(cell), weight));
        Some(HistogramParts { min: cells.min, max: cells.max, cells: weights.collect() })
    }

    /// The state of these parts, or `None` when no values can have led to them.
    #[must_use]
    pub fn from_parts(buckets_max: u16, parts: Option<HistogramParts>) -> Option<Self> {
        let mut histogram = Self::new(buckets_max);
        if let Some(HistogramParts { min, max, cells }) = parts {
            if min > max {
                return None;
            }
            let cells_max = Self::cells_max(buckets_max);
            let grid = HistogramGrid::covering((min, max), cells_max, None);
            let first = grid.cell_of(min);
            let absolute = |(cell, weight): (u32, i128)| (first + i128::from(cell), weight);
            let weights = cells.into_iter().map(absolute).collect();
            let cells = Cells { min, max, grid, weights };
            if !cells.is_whole(cells_max) {
                return None;
            }
            histogram.cells = Some(Box::new(cells));
        }
        Some(histogram)
    }

    /// Bytes on the heap, about.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.cells.as_ref().map_or(0, |cells| {
            size_of::<Cells>() + cells.weights.capacity() * size_of::<(i128, i128)>()
        })
    }
}

impl Cells {
    /// Covers this range too.
    fn widen(&mut self, (min, max): (Number, Number), cells_max: usize) {
        if self.min <= min && max <= self.max {
            return;
        }
        (self.min, self.max) = (self.min.min(min), self.max.max(max));
        let fine = self.grid;
        self.grid = HistogramGrid::covering((self.min, self.max), cells_max, Some(fine));
        if self.grid > fine {
            self.weights.iter_mut().for_each(|old| old.0 = fine.cell_in(self.grid, old.0));
            self.weights.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    kept.1 = kept.1.saturating_add(next.1);
                }
                is_same
            });
        }
    }

    fn is_whole(&self, cells_max: usize) -> bool {
        let ends = [self.weights.first(), self.weights.last()].map(|end| end.map(|end| end.0));
        let positive = self.weights.iter().all(|cell| cell.1 > 0);
        ends == [self.min, self.max].map(|end| Some(self.grid.cell_of(end)))
            && self.weights.len() <= cells_max
            && is_ascending(&self.weights)
            && positive
    }

    fn buckets(&self, buckets_max: u16) -> Arc<[HistogramBucket]> {
        let Some(layout) = Layout::of(self, buckets_max) else {
            let all = self.weights.iter().fold(0i128, |all, cell| all.saturating_add(cell.1));
            let count = number_of_weight(all);
            return [HistogramBucket { from: self.min, to: self.max, count }].into();
        };
        let mut counts = vec![0i128; layout.count];
        for &(cell, weight) in &self.weights {
            let count = &mut counts[layout.bucket_of(cell)];
            *count = count.saturating_add(weight);
        }
        let edges = layout.edges(self);
        let buckets = counts.iter().zip(edges.windows(2)).map(|(&count, edges)| HistogramBucket {
            from: edges[0],
            to: edges[1],
            count: number_of_weight(count),
        });
        buckets.collect()
    }
}

/// Which cells are one bucket.
struct Layout {
    /// Cells of one bucket.
    width: i128,
    /// The first bucket, buckets being counted from zero on the line of numbers.
    first: i128,
    count: usize,
    /// Whether the largest value is the upper edge of the last bucket.
    is_closed: bool,
}

impl Layout {
    /// The narrowest buckets that are few enough; `None` where there is only one to have.
    fn of(cells: &Cells, buckets_max: u16) -> Option<Self> {
        if cells.min == cells.max || buckets_max < 2 {
            return None;
        }
        let (first_cell, last_cell) = (cells.weights.first()?.0, cells.weights.last()?.0);
        let ends_on_edge = cells.grid.is_edge(last_cell, cells.max);
        WIDTHS.iter().find_map(|&width| {
            let (first, last) = (first_cell.div_euclid(width), last_cell.div_euclid(width));
            let is_closed = first < last && last * width == last_cell && ends_on_edge;
            let count = usize::try_from(last - first + i128::from(!is_closed)).ok()?;
            let fits = count <= usize::from(buckets_max);
            fits.then_some(Self { width, first, count, is_closed })
        })
    }

    fn bucket_of(&self, cell: i128) -> usize {
        let bucket = usize::try_from(cell.div_euclid(self.width) - self.first).unwrap_or(0);
        bucket.min(self.count - 1)
    }

    /// One more than there are buckets. An edge beyond all doubles gives way to the value at that end.
    fn edges(&self, cells: &Cells) -> Vec<Number> {
        let last = self.first + i128::try_from(self.count).unwrap_or(0);
        let edge = |bucket: i128| {
            if self.is_closed && bucket == last {
                return cells.max;
            }
            let end = if bucket == self.first { cells.min } else { cells.max };
            cells.grid.edge(bucket * self.width).unwrap_or(end)
        };
        (self.first..=last).map(edge).collect()
    }
}

#[cfg(test)]
mod tests;
