//! A record of the beginning of a table.

/// A record.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// The line where it begins.
    pub(super) line: u64,
    /// The line after its last one.
    pub(super) next_line: u64,
    pub(super) cells: Vec<String>,
    pub(super) has_text_after_quote: bool,
}

impl Row {
    /// The number of cells up to the last one that is not empty.
    pub(super) fn width(&self) -> usize {
        self.cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1)
    }
}
