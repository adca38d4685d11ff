//! Formats of answers beside JSON. Each is a pair of traits: the heavy ones (Arrow, Parquet) are
//! implemented above this crate.

use std::fmt::Debug;

use hadal_aggregate::RowColumns;
use hadal_frontend::AnswerColumn;

/// The key of a format's metadata for the summary of an answer: its coverage and warnings.
pub const SUMMARY_KEY: &str = "hadal.answer";

/// A format of answers, which are written batch by batch.
pub trait AnswerFormat: Debug + Send + Sync {
    /// The media type that clients ask for, in lower case and without parameters.
    fn media_type(&self) -> &'static str;

    /// The content type of answers.
    fn content_type(&self) -> &'static str {
        self.media_type()
    }

    /// Begins an answer with these columns, whose names differ. `summary` is JSON: what is known of
    /// the answer before its rows. Appends to `out` what comes before the first batch.
    ///
    /// # Errors
    /// The reason in words, if the format has no place for the columns.
    fn begin(
        &self,
        columns: &[AnswerColumn],
        summary: &str,
        out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String>;
}

/// Writes one answer.
pub trait AnswerEncoder: Send {
    /// Appends a batch of rows, which is never empty. Columns beyond the answer's are left out.
    ///
    /// # Errors
    /// The reason in words, if a value does not fit its column.
    fn batch(&mut self, rows: &RowColumns, out: &mut Vec<u8>) -> Result<(), String>;

    /// Appends the end of the answer. `summary` is JSON: all that is known of the answer.
    ///
    /// # Errors
    /// The reason in words.
    fn end(self: Box<Self>, summary: &str, out: &mut Vec<u8>) -> Result<(), String>;
}
