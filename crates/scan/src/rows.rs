//! The selected rows of one block, with their groups and weights.
//!
//! Weights mostly are a few different ones, sampling rates that somebody chose. Then a row's *cell*
//! is its group and the *class* of its weight; all else is counted and summed up by cell without a
//! look at weights, and weighted once per cell.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hadal_aggregate::Tally;
use hadal_encoding::{Bitmap, kernels};

use crate::selection::Selection;
use crate::weights::Weights;

/// The selected rows of one block.
pub(crate) struct Rows<'r> {
    pub(crate) selection: &'r Selection,
    /// One group number per selected row, each below `space`.
    pub(crate) numbers: &'r [u32],
    pub(crate) space: usize,
    pub(crate) weights: &'r Weights,
    /// The weight of each class, in millionths; none where every row has its own.
    classes: &'r [i64],
    /// Number × classes + class, by selected row.
    cells: Cow<'r, [u32]>,
    /// The selected rows; `None`: all.
    chosen: Option<Vec<u32>>,
    /// Made when first asked for.
    by_group: OnceCell<RowsByGroup>,
    present: RefCell<Vec<(Rc<Bitmap>, Rc<Present>)>>,
}

/// The rows of each group, one after the other.
struct RowsByGroup {
    /// Where the rows of each group number end.
    ends: Vec<u32>,
    rows: Vec<u32>,
}

/// The selected rows that have a value, by cell.
pub(crate) struct Present {
    /// By selected row: its cell; [`Rows::cell_count`] where it has no value.
    cells: Vec<u32>,
    /// How many rows are in each cell.
    pub(crate) counts: Vec<u64>,
}

impl<'r> Rows<'r> {
    pub(crate) fn new(
        selection: &'r Selection,
        numbers: &'r [u32],
        space: usize,
        weights: &'r Weights,
    ) -> Self {
        let chosen = (selection.count() < selection.block_rows()).then(|| selection.to_rows());
        let classes = weights.classes();
        Self {
            selection,
            numbers,
            space,
            weights,
            classes,
            cells: cells(numbers, weights, classes.len(), chosen.as_deref()),
            chosen,
            by_group: OnceCell::new(),
            present: RefCell::default(),
        }
    }

    /// Cells are below this.
    fn cell_count(&self) -> usize {
        self.space * self.classes.len()
    }

    /// The rows of a group number, in ascending order.
    pub(crate) fn of_group(&self, number: usize) -> &[u32] {
        let by_group = self.by_group.get_or_init(|| self.sort_by_group());
        let start = number.checked_sub(1).map_or(0, |before| by_group.ends[before]);
        &by_group.rows[start as usize..by_group.ends[number] as usize]
    }

    /// A counting sort.
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
            // Where the next row of the group goes; after the last one, the group's end.
            let end = &mut ends[number];
            rows[*end as usize] = row as u32;
            *end += 1;
        });
        RowsByGroup { ends, rows }
    }

    /// Calls `visit` with the group number and the row of each selected row that `valid` has.
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

    /// The selected rows that have a value, by cell. Not for weights that are by row.
    pub(crate) fn present(&self, valid: Option<&Rc<Bitmap>>) -> Rc<Present> {
        let everywhere = Rc::default();
        let valid = valid.unwrap_or(&everywhere);
        let mut known = self.present.borrow_mut();
        // Columns that are null together are many, and a comparison is cheap.
        if let Some((_, present)) = known.iter().find(|(own, _)| own == valid) {
            return Rc::clone(present);
        }
        let present = Rc::new(self.count(valid));
        known.push((Rc::clone(valid), Rc::clone(&present)));
        present
    }

    /// Counts the rows of each cell that `valid` has; all where it is empty.
    fn count(&self, valid: &Bitmap) -> Present {
        #[expect(clippy::cast_possible_truncation, reason = "few groups, few classes")]
        let nowhere = self.cell_count() as u32;
        let in_place = |row: usize, cell: u32| if valid.get(row) { cell } else { nowhere };
        let cells: Vec<u32> = match &self.chosen {
            _ if valid.is_empty() => self.cells.to_vec(),
            None => (0..).zip(&*self.cells).map(|(row, &cell)| in_place(row, cell)).collect(),
            Some(rows) => {
                let rows = rows.iter().map(|&row| row as usize);
                rows.zip(&*self.cells).map(|(row, &cell)| in_place(row, cell)).collect()
            }
        };
        let mut counts = vec![0; self.cell_count() + 1];
        kernels::count_by(&cells, &mut counts);
        Present { cells, counts }
    }

    /// The sum of `values`, one per row of the block, over the rows of each cell.
    pub(crate) fn sums(&self, present: &Present, values: &[u32]) -> Vec<u64> {
        let mut sums = vec![0u64; self.cell_count() + 1];
        match &self.chosen {
            None => kernels::add_by(&present.cells, values, &mut sums),
            Some(rows) => {
                let mut chosen = vec![0; rows.len()];
                kernels::gather_u32(values, rows, &mut chosen);
                kernels::add_by(&present.cells, &chosen, &mut sums);
            }
        }
        sums
    }

    /// The tally of each group's rows that `valid` has.
    pub(crate) fn tallies(&self, valid: Option<&Rc<Bitmap>>) -> Vec<Tally> {
        match self.weights {
            Weights::ByRow(millionths) => {
                let mut sums = vec![(0u64, 0i128, 0i128); self.space];
                self.for_each(valid.map(|valid| &**valid), |number, row| {
                    let weight = i128::from(millionths[row]);
                    let sum = &mut sums[number];
                    *sum = (sum.0 + 1, sum.1 + weight, sum.2 + weight * weight);
                });
                let tally = |(rows, weight, squares)| {
                    let mut tally = Tally::default();
                    tally.add(rows, weight, squares);
                    tally
                };
                sums.into_iter().map(tally).collect()
            }
            _ => {
                let present = self.present(valid);
                self.by_group(&present.counts).map(|counts| self.tally(counts)).collect()
            }
        }
    }

    fn tally(&self, counts: &[u64]) -> Tally {
        let mut tally = Tally::default();
        for (&count, &weight) in counts.iter().zip(self.classes) {
            let (rows, weight) = (i128::from(count), i128::from(weight));
            tally.add(count, rows * weight, rows * weight * weight);
        }
        tally
    }

    /// What is told by cell: the cells of one group after the other.
    pub(crate) fn by_group<'c>(&self, by_cell: &'c [u64]) -> std::slice::Chunks<'c, u64> {
        by_cell[..self.cell_count()].chunks(self.classes.len())
    }

    /// Σ w·(from·n + step·sum) of one group's cells.
    pub(crate) fn product(&self, counts: &[u64], sums: &[u64], from: i64, step: i64) -> i128 {
        let value = |(&count, &sum): (&u64, &u64)| {
            i128::from(from) * i128::from(count) + i128::from(step) * i128::from(sum)
        };
        let values = counts.iter().zip(sums).map(value);
        values.zip(self.classes).map(|(value, &weight)| value * i128::from(weight)).sum()
    }
}

/// Number × classes + class, by selected row.
fn cells<'n>(
    numbers: &'n [u32],
    weights: &Weights,
    classes: usize,
    chosen: Option<&[u32]>,
) -> Cow<'n, [u32]> {
    let Weights::Classes { by_row, .. } = weights else { return Cow::Borrowed(numbers) };
    #[expect(clippy::cast_possible_truncation, reason = "few")]
    let classes = classes as u32;
    let cell = |number: u32, class: u8| number * classes + u32::from(class);
    match chosen {
        None => numbers.iter().zip(by_row).map(|(&n, &class)| cell(n, class)).collect(),
        Some(rows) => {
            numbers.iter().zip(rows).map(|(&n, &row)| cell(n, by_row[row as usize])).collect()
        }
    }
}
