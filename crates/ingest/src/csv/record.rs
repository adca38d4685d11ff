//! The cells of one CSV record.

use std::borrow::Cow;

use hadal_types::limits::LINE_BYTES_MAX;

/// The bytes that are kept of a record that is too long, to identify it.
const EXCERPT_BYTES: usize = 1 << 10;

/// The cells of one record.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The line where it begins, counted from 1.
    pub(crate) line: u64,
    /// Whether it has more than [`LINE_BYTES_MAX`] bytes; `cells` then has the first of them.
    pub(crate) is_too_long: bool,
    /// Whether the text ended inside a quote, so that the record has all that followed the quote.
    pub(crate) is_unclosed: bool,
    /// Whether text follows a closing quote in a cell. By RFC 4180 only a separator may follow.
    pub(crate) has_text_after_quote: bool,
    /// The number of line feeds within the cells.
    pub(crate) breaks: u64,
    /// The cells' bytes, concatenated.
    cells: Vec<u8>,
    /// The end of each cell.
    ends: Vec<usize>,
}

impl Record {
    /// The cells, with U+FFFD for invalid UTF-8; none if the record is too long.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let cell = |(&start, &end): (&usize, &usize)| self.cells.get(start..end);
        starts.zip(&self.ends).filter_map(cell).map(String::from_utf8_lossy)
    }

    /// The first bytes of a record that is too long, without separators.
    pub(super) fn excerpt(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.cells)
    }

    /// The memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// Clears the record and keeps its capacity.
    pub(crate) fn clear(&mut self) {
        let (mut cells, mut ends) =
            (std::mem::take(&mut self.cells), std::mem::take(&mut self.ends));
        cells.clear();
        ends.clear();
        *self = Self { cells, ends, ..Self::default() };
    }

    /// Appends bytes to the cell under construction.
    #[inline]
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        if self.is_too_long {
            return;
        }
        self.cells.extend_from_slice(bytes);
        // Each cell has a separator, which counts too.
        if self.cells.len() + self.ends.len() > LINE_BYTES_MAX {
            self.shorten();
        }
    }

    /// Ends the cell under construction.
    #[inline]
    pub(super) fn end_cell(&mut self) {
        if self.is_too_long {
            return;
        }
        self.ends.push(self.cells.len());
        if self.cells.len() + self.ends.len() > LINE_BYTES_MAX {
            self.shorten();
        }
    }

    #[cold]
    fn shorten(&mut self) {
        self.is_too_long = true;
        self.cells.truncate(EXCERPT_BYTES);
        self.cells.shrink_to_fit();
        self.ends = Vec::new();
    }
}
