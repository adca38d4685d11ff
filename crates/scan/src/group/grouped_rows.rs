//! The selected rows of one block, with their groups and weights.
//!
//! Rows mostly have one of a few weights, the configured sampling rates. A row's *cell* is then its
//! group and the *class* of its weight. Counts and sums are taken per cell, and weighted once per
//! cell.

use std::borrow::Cow;
use std::cell::OnceCell;

use hadal_aggregate::WeightedCount;
use hadal_aggregate::accumulate::AccumulatorLayout;
use hadal_encoding::{Bitmap, kernels};

use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::group::group_runs::GroupRuns;
use crate::group::packed_sums::{self, Column};

/// Groups are many if the average group has fewer rows.
const ROWS_PER_GROUP: usize = 16;

/// The selected rows of one block.
pub(crate) struct GroupedRows<'r> {
    pub(crate) selection: &'r Selection,
    /// One group number per selected row, each below `space`.
    pub(crate) numbers: &'r [u32],
    pub(crate) space: usize,
    pub(crate) weights: &'r Weights,
    /// The weight of each class in millionths; empty if every row has its own weight.
    classes: &'r [i64],
    /// The cell of each selected row: number × classes + class.
    cells: Cow<'r, [u32]>,
    /// The selected rows; `None`: all.
    chosen: Option<&'r [u32]>,
    /// Computed on first use.
    by_group: OnceCell<RowsByGroup>,
    /// The runs of the rows, if there are many groups and the rows form runs.
    runs: Option<GroupRuns>,
}

/// The rows of each group, group after group.
struct RowsByGroup {
    /// The end of each group's rows, by group number.
    ends: Vec<u32>,
    rows: Vec<u32>,
}

/// 32-bit numbers to sum.
#[derive(Clone)]
pub(crate) struct Addends<'v> {
    /// One number per row of the block; `None`: 1 for each.
    pub(crate) steps: Option<&'v [u32]>,
    /// An upper bound of the numbers.
    pub(crate) most: u32,
    /// The rows that count; `None`: all.
    pub(crate) valid: Option<&'v Bitmap>,
}

/// The sums of some rows by cell.
pub(crate) struct Totals {
    /// The number of selected rows.
    pub(crate) counts: Vec<u64>,
    /// The sums of each of the [`Addends`].
    pub(crate) sums: Vec<Vec<u64>>,
}

impl<'r> GroupedRows<'r> {
    pub(crate) fn new(
        selection: &'r Selection,
        numbers: &'r [u32],
        space: usize,
        weights: &'r Weights,
    ) -> Self {
        let chosen = (selection.count() < selection.block_rows()).then(|| selection.to_rows());
        let classes = weights.classes();
        let is_sparse = space.saturating_mul(ROWS_PER_GROUP) > numbers.len();
        let run = is_sparse && space <= selection.block_rows() && classes.len() == 1;
        Self {
            selection,
            numbers,
            space,
            weights,
            classes,
            cells: cells(numbers, weights, classes.len(), chosen),
            chosen,
            by_group: OnceCell::new(),
            runs: if run { GroupRuns::new(numbers) } else { None },
        }
    }

    /// Whether there are many groups, with few rows each.
    pub(crate) fn has_many_groups(&self) -> bool {
        self.space.saturating_mul(ROWS_PER_GROUP) > self.numbers.len()
    }

    /// The runs of the rows. There are runs only with many groups and one weight, so cells are
    /// groups.
    pub(crate) fn runs(&self) -> Option<&GroupRuns> {
        self.runs.as_ref()
    }

    /// The weight of each class in millionths; empty if every row has its own weight.
    pub(crate) fn classes(&self) -> &[i64] {
        self.classes
    }

    /// The number of cells.
    pub(crate) fn cell_count(&self) -> usize {
        self.space * self.classes.len()
    }

    /// The rows of a group number, in ascending order.
    pub(crate) fn of_group(&self, number: usize) -> &[u32] {
        let by_group = self.by_group.get_or_init(|| self.sort_by_group());
        let start = number.checked_sub(1).map_or(0, |before| by_group.ends[before]);
        &by_group.rows[start as usize..by_group.ends[number] as usize]
    }

    /// Sorts the rows by group, with a counting sort.
    fn sort_by_group(&self) -> RowsByGroup {
        let mut ends = vec![0u32; self.space];
        self.numbers.iter().for_each(|&number| ends[number as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut rows = vec![0u32; self.numbers.len()];
        #[expect(clippy::cast_possible_truncation, reason = "a block has at most 65,536 rows")]
        self.for_each(None, |number, row| {
            // The position of the group's next row; after the last row, the end of the group.
            let end = &mut ends[number];
            rows[*end as usize] = row as u32;
            *end += 1;
        });
        RowsByGroup { ends, rows }
    }

    /// Calls `visit` with the group number and the row of each selected row that is in `valid`.
    #[inline]
    pub(crate) fn for_each(&self, valid: Option<&Bitmap>, mut visit: impl FnMut(usize, usize)) {
        let mut numbers = self.numbers.iter();
        self.selection.for_each(|row| {
            let Some(&number) = numbers.next() else { return };
            if valid.is_none_or(|valid| valid.get(row)) {
                visit(number as usize, row);
            }
        });
    }

    /// Sums columns over the selected rows, by cell. Not for weights by row.
    pub(crate) fn totals(&self, columns: &[Addends<'_>]) -> Totals {
        if self.cell_count() == 1 && self.chosen.is_none() {
            let rows = self.numbers.len() as u64;
            let sum = |column: &Addends<'_>| match (column.steps, column.valid) {
                (None, valid) => valid.map_or(rows, |valid| valid.count_ones() as u64),
                (Some(steps), None) => kernels::sum_u32(steps),
                (Some(steps), Some(valid)) => kernels::sum_u32_where(steps, valid.words()),
            };
            let sums = columns.iter().map(|column| vec![sum(column)]).collect();
            return Totals { counts: vec![rows], sums };
        }
        if let Some(runs) = &self.runs {
            let sums = |column| runs.sums(&self.numbers_of(column), self.space);
            let sums = columns.iter().map(sums).collect();
            return Totals { counts: runs.counts(self.space), sums };
        }
        if columns.is_empty() {
            let mut counts = vec![0; self.cell_count()];
            kernels::count_by(&self.cells, &mut counts);
            return Totals { counts, sums: Vec::new() };
        }
        let all = Column { steps: None, most: 1, valid: None };
        let columns = columns.iter().map(|column| Column {
            steps: column.steps.map(|steps| self.selected(steps)),
            most: column.most,
            valid: column.valid.map(|valid| self.selected_bits(valid)),
        });
        let columns: Vec<Column<'_>> = std::iter::once(all).chain(columns).collect();
        let mut sums = packed_sums::sums(&self.cells, self.cell_count(), &columns);
        let counts = sums.remove(0);
        Totals { counts, sums }
    }

    /// The numbers of the selected rows; zero for rows that do not count.
    fn numbers_of<'v>(&self, column: &Addends<'v>) -> Cow<'v, [u32]> {
        let mut numbers = match column.steps {
            Some(steps) => self.selected(steps),
            None => Cow::Owned(vec![1; self.numbers.len()]),
        };
        if let Some(valid) = column.valid {
            kernels::mask_u32(numbers.to_mut(), self.selected_bits(valid).words(), 0);
        }
        numbers
    }

    /// The numbers of the selected rows.
    pub(crate) fn selected<'v>(&self, numbers: &'v [u32]) -> Cow<'v, [u32]> {
        let Some(rows) = self.chosen else { return Cow::Borrowed(numbers) };
        let mut chosen = vec![0; rows.len()];
        kernels::gather_u32(numbers, rows, &mut chosen);
        Cow::Owned(chosen)
    }

    /// Returns each selected row's cell, and the number of its row in `steps`. The cell is
    /// [`Self::cell_count`] if the row is not in `valid`.
    pub(crate) fn with_value<'v>(
        &'v self,
        steps: &'v [u32],
        valid: Option<&Bitmap>,
    ) -> (Cow<'v, [u32]>, Cow<'v, [u32]>) {
        let steps = self.selected(steps);
        let Some(valid) = valid else { return (Cow::Borrowed(&self.cells), steps) };
        let nowhere = u32::try_from(self.cell_count()).unwrap_or(u32::MAX);
        let mut cells = self.cells.to_vec();
        match self.chosen {
            None => kernels::mask_u32(&mut cells, valid.words(), nowhere),
            Some(rows) => {
                let without =
                    rows.iter().zip(&mut cells).filter(|(row, _)| !valid.get(**row as usize));
                without.for_each(|(_, cell)| *cell = nowhere);
            }
        }
        (Cow::Owned(cells), steps)
    }

    /// The weight class of each selected row.
    pub(crate) fn selected_classes(&self) -> Cow<'_, [u32]> {
        match self.weights {
            Weights::Classes { by_row, .. } => self.selected(by_row),
            Weights::One | Weights::ByRow(_) => Cow::Owned(vec![0; self.numbers.len()]),
        }
    }

    /// The numbers of the selected rows.
    pub(crate) fn selected_wide<'v>(&self, numbers: &'v [i64]) -> Cow<'v, [i64]> {
        match self.chosen {
            None => Cow::Borrowed(numbers),
            Some(rows) => rows.iter().map(|&row| numbers[row as usize]).collect(),
        }
    }

    /// Whether each selected row is in `valid`.
    pub(crate) fn selected_bits<'v>(&self, valid: &'v Bitmap) -> Cow<'v, Bitmap> {
        match self.selection.chosen() {
            None => Cow::Borrowed(valid),
            Some(chosen) => Cow::Owned(valid.only_of(chosen)),
        }
    }

    /// The group numbers that rows have, in ascending order.
    pub(crate) fn used(&self) -> Vec<u32> {
        let mut has = vec![false; self.space];
        self.numbers.iter().for_each(|&number| has[number as usize] = true);
        (0..).zip(has).filter(|entry| entry.1).map(|entry| entry.0).collect()
    }

    /// The number of rows of each group number.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.space];
        kernels::count_by(self.numbers, &mut counts);
        counts
    }

    /// The accumulator cell of each selected row's group and class; `group_indexes` is by group
    /// number.
    pub(crate) fn cells_at(
        &self,
        group_indexes: impl Iterator<Item = u32>,
        layout: &AccumulatorLayout,
    ) -> Vec<u32> {
        #[expect(clippy::cast_possible_truncation, reason = "classes are few")]
        let (classes, count) = (
            layout.classes.iter().map(|&class| class as u32).collect::<Vec<u32>>(),
            layout.class_count as u32,
        );
        let cells = group_indexes.flat_map(|group_index| {
            let first = group_index.wrapping_mul(count);
            classes.iter().map(move |class| first.wrapping_add(*class))
        });
        let table: Vec<u32> = cells.collect();
        let mut targets = vec![0; self.cells.len()];
        kernels::gather_u32(&table, &self.cells, &mut targets);
        targets
    }

    /// As [`Self::cells_at`], with group numbers as group indexes.
    pub(crate) fn cells_by_number(&self, layout: &AccumulatorLayout) -> Cow<'_, [u32]> {
        match layout.class_count {
            1 => Cow::Borrowed(self.numbers),
            _ => Cow::Owned(self.cells_at((0..).take(self.space), layout)),
        }
    }

    /// The weighted count of each group, from row counts by cell.
    pub(crate) fn weighted_counts(&self, counts: &[u64]) -> Vec<WeightedCount> {
        self.groups_of(counts).map(|counts| self.weighted_count(counts)).collect()
    }

    fn weighted_count(&self, counts: &[u64]) -> WeightedCount {
        let mut weighted = WeightedCount::default();
        for (&count, &weight) in counts.iter().zip(self.classes) {
            let (rows, weight) = (i128::from(count), i128::from(weight));
            weighted.add(count, rows * weight, rows * weight * weight);
        }
        weighted
    }

    /// The weighted count of each group's rows that are in `valid`.
    pub(crate) fn weighted_counts_where(&self, valid: Option<&Bitmap>) -> Vec<WeightedCount> {
        if !self.classes.is_empty() {
            let Some(valid) = valid else { return self.weighted_counts(&self.totals(&[]).counts) };
            let column = Addends { steps: None, most: 1, valid: Some(valid) };
            return self.weighted_counts(&self.totals(&[column]).sums[0]);
        }
        let mut sums = vec![(0u64, 0i128, 0i128); self.space];
        self.for_each(valid, |number, row| {
            let weight = i128::from(self.weights.millionths_of(row));
            let sum = &mut sums[number];
            *sum = (sum.0 + 1, sum.1 + weight, sum.2 + weight * weight);
        });
        let count = |(rows, weight, squares)| {
            let mut count = WeightedCount::default();
            count.add(rows, weight, squares);
            count
        };
        sums.into_iter().map(count).collect()
    }

    /// Splits data by cell into the cells of each group.
    pub(crate) fn groups_of<'c>(&self, by_cell: &'c [u64]) -> std::slice::Chunks<'c, u64> {
        by_cell.chunks(self.classes.len().max(1))
    }
}

/// The cell of each selected row: number × classes + class.
fn cells<'n>(
    numbers: &'n [u32],
    weights: &Weights,
    classes: usize,
    chosen: Option<&[u32]>,
) -> Cow<'n, [u32]> {
    let Weights::Classes { by_row, .. } = weights else { return Cow::Borrowed(numbers) };
    #[expect(clippy::cast_possible_truncation, reason = "few")]
    let classes = classes as u32;
    let mut cells = numbers.to_vec();
    match chosen {
        None => kernels::append_codes(&mut cells, classes, by_row),
        Some(rows) => {
            let mut row_classes = vec![0; rows.len()];
            kernels::gather_u32(by_row, rows, &mut row_classes);
            kernels::append_codes(&mut cells, classes, &row_classes);
        }
    }
    Cow::Owned(cells)
}
