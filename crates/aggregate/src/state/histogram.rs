//! Histograms: the exact weight in adjacent buckets of equal width with round edges.
//!
//! The bucket width is known only once all rows are known. So the state counts in finer cells of a
//! decimal grid (see `state/histogram/grid.rs`): the finest grid that spans the values so far with
//! few enough cells. The grid depends on the smallest and the largest value only, and only gets
//! coarser. Every cell is part of exactly one cell of every coarser grid. So merging is order-free,
//! bit for bit.
//!
//! For N buckets, 5 N + 1 cells are enough. The bucket width is 1, 2 or 5 times a power of ten: the
//! smallest of these with which N buckets suffice. Suppose that cells are 10^k wide and that
//! buckets were narrower, so at most 5 · 10^(k-1) wide. Then 5 N + 1 cells of width 10^(k-1) would
//! hold N buckets and the largest value on the last upper edge, and the state would use that finer
//! grid. So every bucket consists of whole cells. If the largest value is an edge, its cell has no
//! larger value and belongs to the last bucket.

pub(crate) mod grid;

use std::sync::Arc;

use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, Weight};

use crate::state::histogram::grid::HistogramGrid;
use crate::state::sorted_runs::{add_ascending, is_ascending};
use crate::state::weighted_count::number_of_weight;

/// The state of some weighted numbers, for a histogram of at most `buckets_max` buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets_max: u16,
    cells: Option<Box<GridCells>>,
}

/// The weight in each cell, in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GridCells {
    min: Number,
    max: Number,
    /// The grid that covers `min` to `max`.
    grid: HistogramGrid,
    /// Cells in ascending order, with weights above zero. The first is that of `min`, the last that
    /// of `max`.
    weights: Vec<(i128, i128)>,
}

/// The parts of a histogram's state, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramParts {
    /// The smallest value.
    pub min: Number,
    /// The largest value.
    pub max: Number,
    /// Cells in ascending order, relative to that of `min`, with their weights in millionths.
    pub cells: Vec<(u32, i128)>,
}

/// Bucket widths, in cells. With the last width, 5 N + 1 cells are in at most ⌊(5 N - 1) / 10⌋ + 2
/// buckets. That is no more than N if N is at least two.
const WIDTHS: [i128; 4] = [1, 2, 5, 10];

impl Histogram {
    /// A state without values for at most `buckets_max` buckets, which must not be zero.
    #[must_use]
    pub const fn new(buckets_max: u16) -> Self {
        Self { buckets_max, cells: None }
    }

    /// The maximum number of buckets.
    #[must_use]
    pub(crate) const fn buckets_max(&self) -> u16 {
        self.buckets_max
    }

    /// The maximum number of cells of a histogram with at most `buckets_max` buckets.
    #[must_use]
    pub fn cells_max(buckets_max: u16) -> usize {
        5 * usize::from(buckets_max) + 1
    }

    /// Adds one value.
    pub fn add(&mut self, value: Number, weight: Weight) {
        let weight = i128::from(weight.millionths());
        self.add_cells((value, value), |grid| [(grid.cell_of(value), weight)]);
    }

    /// Adds values with this minimum and maximum. `count` receives the grid and returns the weight
    /// of each cell: ascending, in millionths, all above zero.
    pub fn add_cells<C: IntoIterator<Item = (i128, i128)>>(
        &mut self,
        (min, max): (Number, Number),
        count: impl FnOnce(HistogramGrid) -> C,
    ) {
        let cells_max = Self::cells_max(self.buckets_max);
        let cells = self.cells.get_or_insert_with(|| {
            let grid = HistogramGrid::covering((min, max), cells_max, None);
            Box::new(GridCells { min, max, grid, weights: Vec::new() })
        });
        cells.widen((min, max), cells_max);
        add_ascending(&mut cells.weights, count(cells.grid));
        debug_assert!(cells.is_whole(cells_max), "cells from the smallest to the largest value");
    }

    /// Adds the values of `other`, which must have the same maximum number of buckets.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.buckets_max, other.buckets_max, "buckets of one histogram");
        let (Some(theirs), cells_max) = (&other.cells, Self::cells_max(self.buckets_max)) else {
            return;
        };
        let mut theirs = theirs.clone();
        if let Some(cells) = &self.cells {
            theirs.widen((cells.min, cells.max), cells_max);
        }
        self.add_cells((theirs.min, theirs.max), |_| theirs.weights);
    }

    /// The weight in at most `buckets_max` adjacent buckets of equal, round width around all
    /// values. One bucket from the smallest to the largest value if there is a single value, or at
    /// most one bucket is allowed. Null without values.
    #[must_use]
    pub fn finish(&self) -> Value {
        let buckets = self.cells.as_ref().map(|cells| cells.buckets(self.buckets_max));
        buckets.map_or(Value::Null, Value::Histogram)
    }

    /// The parts of the state, `None` without values. Equal states have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> Option<HistogramParts> {
        let cells = self.cells.as_ref()?;
        let first = cells.weights.first()?.0;
        let from_first = |cell: i128| u32::try_from(cell - first).unwrap_or(u32::MAX);
        let weights = cells.weights.iter().map(|&(cell, weight)| (from_first(cell), weight));
        Some(HistogramParts { min: cells.min, max: cells.max, cells: weights.collect() })
    }

    /// The state of these parts, or `None` if no values can lead to them.
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
            let cells = GridCells { min, max, grid, weights };
            if !cells.is_whole(cells_max) {
                return None;
            }
            histogram.cells = Some(Box::new(cells));
        }
        Some(histogram)
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.cells.as_ref().map_or(0, |cells| {
            size_of::<GridCells>() + cells.weights.capacity() * size_of::<(i128, i128)>()
        })
    }
}

impl GridCells {
    /// Extends the range of values by this range.
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

/// The assignment of cells to buckets.
struct Layout {
    /// Number of cells of one bucket.
    width: i128,
    /// The index of the first bucket; bucket 0 begins at the number zero.
    first: i128,
    count: usize,
    /// Whether the largest value is the upper edge of the last bucket.
    is_closed: bool,
}

impl Layout {
    /// The narrowest buckets that are few enough; `None` if there is only one bucket.
    fn of(cells: &GridCells, buckets_max: u16) -> Option<Self> {
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

    /// The edges, one more than buckets. An edge beyond the range of doubles becomes the value at
    /// that end.
    fn edges(&self, cells: &GridCells) -> Vec<Number> {
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
