//! Errors with a position: the text and place, what is wrong, and what to write instead.

use std::sync::Arc;

use sqlparser::tokenizer::Location;

/// Why a text is not a valid query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    /// What is wrong.
    pub message: Message,
    /// The field of the [`crate::QuerySpec`] that holds the text, such as `filter[0]`; `None`
    /// for a text of SQL.
    pub field: Option<String>,
    /// The position in the text, if there is one.
    pub position: Option<Position>,
    /// What to write instead, if known.
    pub hint: Option<String>,
}

/// What is wrong with a text. The message is for people: lower case, no full stop, with the
/// offending value. Cases that programs act on are variants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Message {
    /// The catalog has no such table.
    #[error("there is no table {name}")]
    UnknownTable {
        /// The name that was used.
        name: String,
        /// Tables with similar names, the nearest first; at most three.
        nearest: Box<[String]>,
    },
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl Message {
    /// The error code for programs: `unknown_table` or `bad_query`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownTable { .. } => "unknown_table",
            Self::Other(_) => "bad_query",
        }
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.to_string()
    }
}

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u64,
    /// The character in the line, counted from 1.
    pub column: u64,
    /// The byte in the whole text, counted from 0.
    pub offset: usize,
}

/// A text to parse, and the field that it came from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: Arc<str>,
    field: Option<String>,
    /// The number of the text's first line within its [`Sources`].
    first_line: u64,
}

/// The texts of one statement. Their lines are numbered as if the texts were concatenated, so the
/// line of a [`Location`] identifies its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

/// An error that is not yet assigned to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocatedError {
    message: Message,
    at: Location,
    hint: Option<String>,
}

/// The result of parsing or binding a piece of a text.
pub(crate) type Read<T> = Result<T, LocatedError>;

/// Stands for no position.
pub(crate) const NOWHERE: Location = Location { line: 0, column: 0 };

impl LocatedError {
    pub(crate) fn new(message: impl Into<String>, at: Location) -> Self {
        Self { message: Message::Other(message.into()), at, hint: None }
    }

    /// The error for an unknown table; `nearest` has tables with similar names.
    pub(crate) fn unknown_table(name: String, nearest: Box<[String]>, at: Location) -> Self {
        let hint = match nearest.first() {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "SHOW TABLES lists the tables".to_owned(),
        };
        Self { message: Message::UnknownTable { name, nearest }, at, hint: Some(hint) }
    }

    /// Returns the error with a hint.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the error with the position `at`, unless it has one already.
    pub(crate) fn or_at(self, at: Location) -> Self {
        if self.at == NOWHERE { Self { at, ..self } } else { self }
    }
}

impl SqlError {
    /// The error of a field as a whole.
    pub(crate) fn of_field(field: &str, error: LocatedError) -> Self {
        Self {
            message: error.message,
            field: Some(field.to_owned()),
            position: None,
            hint: error.hint,
        }
    }
}

impl Source {
    /// The position of the text's start.
    pub(crate) const fn start(&self) -> Location {
        Location { line: self.first_line, column: 1 }
    }

    /// Converts `error` to an error in this text.
    pub(crate) fn error(&self, error: LocatedError) -> SqlError {
        let position = (error.at != NOWHERE).then(|| self.position(error.at));
        SqlError { message: error.message, field: self.field.clone(), position, hint: error.hint }
    }

    fn position(&self, at: Location) -> Position {
        let at = Location { line: at.line.saturating_sub(self.first_line - 1), ..at };
        let lines_before = usize::try_from(at.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let line_start: usize =
            self.text.split_inclusive('\n').take(lines_before).map(str::len).sum();
        let line = self.text.get(line_start..).unwrap_or_default();
        let column = usize::try_from(at.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let in_line = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        Position { line: at.line, column: at.column, offset: line_start + in_line }
    }
}

impl Sources {
    /// Adds a text below the others: that of a field, or `None` for SQL.
    pub(crate) fn add(&mut self, field: Option<&str>, text: &str) -> Source {
        let lines = |source: &Source| 1 + source.text.matches('\n').count() as u64;
        let first_line = self.0.last().map_or(1, |last| last.first_line + lines(last));
        let field = field.map(str::to_owned);
        let source = Source { text: text.into(), field, first_line };
        self.0.push(source.clone());
        source
    }

    /// Converts `error` to an error in the text of its position.
    pub(crate) fn error(&self, error: LocatedError) -> SqlError {
        let of_line = |source: &&Source| source.first_line <= error.at.line;
        match self.0.iter().rev().find(of_line) {
            Some(source) => source.error(error),
            None => {
                SqlError { message: error.message, field: None, position: None, hint: error.hint }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_a_column_and_a_byte() {
        let mut sources = Sources::default();
        sources.add(None, "sélect\n été x");
        let at = |line, column| {
            sources
                .error(LocatedError::new("m", Location { line, column }))
                .position
                .expect("a place")
        };
        assert_eq!(at(1, 1), Position { line: 1, column: 1, offset: 0 });
        assert_eq!(at(1, 3), Position { line: 1, column: 3, offset: 3 });
        assert_eq!(at(2, 6), Position { line: 2, column: 6, offset: 15 });
        assert_eq!(at(9, 9).offset, "sélect\n été x".len());
    }

    #[test]
    fn a_line_tells_the_text() {
        let mut sources = Sources::default();
        sources.add(Some("first"), "a\nb");
        sources.add(Some("second"), "é c");
        let at = |line, column| {
            let error = sources.error(LocatedError::new("m", Location { line, column }));
            (error.field.expect("a field"), error.position.expect("a place"))
        };
        assert_eq!(at(2, 1), ("first".to_owned(), Position { line: 2, column: 1, offset: 2 }));
        assert_eq!(at(3, 3), ("second".to_owned(), Position { line: 1, column: 3, offset: 3 }));
        assert_eq!(sources.error(LocatedError::new("m", NOWHERE)).field, None);
    }

    #[test]
    fn the_first_place_known_wins() {
        let place = Location { line: 1, column: 2 };
        let error =
            LocatedError::new("m", NOWHERE).or_at(place).or_at(Location { line: 3, column: 4 });
        assert_eq!(error.at, place);
        assert_eq!(Sources::default().error(LocatedError::new("m", NOWHERE)).position, None);
    }
}
