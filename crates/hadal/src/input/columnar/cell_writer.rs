//! Writes the cells of an Arrow array as JSON, one at a time.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

use super::losses::Losses;

/// Appends the cell of a row. Returns false and appends nothing if the cell has no value.
pub(super) type Write = Box<dyn Fn(usize, &mut Vec<u8>, &mut Losses) -> bool + Send>;

/// Makes the writer of an array. The writers of nested arrays get it for the arrays within.
pub(super) type MakeCellWriter = fn(&ArrayRef, Setting) -> CellWriter;

/// Properties of a column that a writer needs besides its type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Setting {
    /// The column holds the rows' times.
    pub(super) is_time: bool,
    /// The values are elements of lists, which are stored as strings.
    pub(super) is_element: bool,
    /// Sixteen bytes are a UUID.
    pub(super) is_uuid: bool,
}

/// Writes the cells of an array.
pub(super) struct CellWriter {
    nulls: Option<NullBuffer>,
    write: Write,
}

impl CellWriter {
    /// A writer of cells that are null where `nulls` says so; `write` appends the others.
    pub(super) fn new(nulls: Option<NullBuffer>, write: Write) -> Self {
        Self { nulls: nulls.filter(|nulls| nulls.null_count() > 0), write }
    }

    /// Appends the cell of a row. Returns false if it has no value.
    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>, losses: &mut Losses) -> bool {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        !is_null && (self.write)(row, out, losses)
    }
}

/// A writer for cells that all have a value.
pub(super) fn always(write: impl Fn(usize, &mut Vec<u8>, &mut Losses) + Send + 'static) -> Write {
    Box::new(move |row, out, losses| {
        write(row, out, losses);
        true
    })
}
