//! The rows of a block that are still selected.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use hadal_encoding::{Bitmap, Buffer, kernels};

/// The rows of one block that passed all conditions so far.
#[derive(Clone)]
pub(crate) struct Selection {
    rows: usize,
    /// `None`: all rows.
    chosen: Option<Rc<Bitmap>>,
    count: usize,
    /// The rows in ascending order, computed on first use.
    listed: Rc<OnceCell<Vec<u32>>>,
}

impl Selection {
    /// Selects all of `rows` rows.
    pub(crate) fn all(rows: usize) -> Self {
        Self { rows, chosen: None, count: rows, listed: Rc::default() }
    }

    /// Selects `rows`, all different, of a block of `block_rows` rows.
    pub(crate) fn of(block_rows: usize, rows: &[u32]) -> Self {
        if rows.len() == block_rows {
            return Self::all(block_rows);
        }
        let mut chosen = Bitmap::zeros(block_rows);
        rows.iter().for_each(|&row| chosen.set(row as usize));
        let (count, chosen) = (rows.len(), Some(Rc::new(chosen)));
        Self { rows: block_rows, chosen, count, listed: Rc::default() }
    }

    /// The selected rows; `None`: all.
    pub(crate) fn chosen(&self) -> Option<&Bitmap> {
        self.chosen.as_deref()
    }

    /// The number of rows of the block.
    pub(crate) fn block_rows(&self) -> usize {
        self.rows
    }

    /// The number of selected rows.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether any of `rows` is selected.
    pub(crate) fn has_any(&self, mut rows: Range<usize>) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| rows.any(|row| chosen.get(row)))
    }

    /// Keeps only the rows that are in `keep` too.
    pub(crate) fn narrow(&mut self, keep: &Bitmap) {
        let mut chosen = keep.clone();
        if let Some(before) = &self.chosen {
            chosen.and(before);
        }
        self.count = chosen.count_ones();
        self.listed = Rc::default();
        self.chosen = (self.count < self.rows).then(|| Rc::new(chosen));
    }

    /// The range from the first selected row to the last.
    pub(crate) fn span(&self) -> Range<usize> {
        let Some(chosen) = &self.chosen else { return 0..self.rows };
        let words = chosen.words();
        let Some(first) = words.iter().position(|&word| word != 0) else { return 0..0 };
        let last = words.iter().rposition(|&word| word != 0).unwrap_or(first);
        let low = words[first].trailing_zeros() as usize;
        let high = 64 - words[last].leading_zeros() as usize;
        64 * first + low..64 * last + high
    }

    /// Splits the selected rows into a first and a second half.
    pub(crate) fn halves(&self) -> [Self; 2] {
        let (left, right) = self.to_rows().split_at(self.count / 2);
        [left, right].map(|rows| Self::of(self.rows, rows))
    }

    /// Calls `visit` with each selected row in ascending order, until the first error.
    pub(crate) fn try_for_each<E>(
        &self,
        mut visit: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.chosen {
            None => (0..self.rows).try_for_each(visit),
            Some(chosen) => chosen.iter_ones().try_for_each(&mut visit),
        }
    }

    /// Calls `visit` with each selected row in ascending order.
    #[inline]
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        match &self.chosen {
            None => (0..self.rows).for_each(visit),
            Some(chosen) => chosen.iter_ones().for_each(&mut visit),
        }
    }

    /// Gathers the numbers of the selected rows; `numbers` has one per row of the block.
    pub(crate) fn gather(&self, numbers: &[u32]) -> Buffer {
        let mut gathered = Buffer::of(self.count);
        kernels::gather_u32(numbers, self.to_rows(), &mut gathered);
        gathered
    }

    /// The selected rows in ascending order.
    pub(crate) fn to_rows(&self) -> &[u32] {
        self.listed.get_or_init(|| match &self.chosen {
            None => (0..).take(self.rows).collect(),
            Some(chosen) => {
                let mut rows = Vec::with_capacity(self.count);
                kernels::indexes_of(chosen.words(), &mut rows);
                rows
            }
        })
    }
}
