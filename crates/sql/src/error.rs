//! Errors with a place: where in which text, what is wrong, and what to write instead.

use std::sync::Arc;

use sqlparser::tokenizer::Location;

/// Why a text is not a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    /// What is wrong.
    pub message: Message,
    /// The field of the [`crate::QuerySpec`] that holds the text, such as `filter[0]`; `None`
    /// for a text of SQL.
    pub field: Option<String>,
    /// Where in the text, if one place can be named.
    pub position: Option<Position>,
    /// What to write instead, if that is known.
    pub hint: Option<String>,
}

/// What is wrong with a text: in words for people, in lower case and without a full stop, with the
/// offending value; and by itself where programs act on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Message {
    /// The table is none of the catalog's.
    #[error("there is no table {name}")]
    UnknownTable {
        /// What was asked for.
        name: String,
        /// Tables of nearly that name, the nearest first; at most three.
        nearest: Box<[String]>,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Message {
    /// What is wrong, for programs: `unknown_table` or `bad_query`.
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

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u64,
    /// The character in the line, counted from 1.
    pub column: u64,
    /// The byte in the whole text, counted from 0.
    pub offset: usize,
}

/// A text that is parsed, and the field that it came from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: Arc<str>,
    field: Option<String>,
    /// The line that the text's first line counts as.
    first_line: u64,
}

/// The texts of one statement. Their lines are numbered as if the texts stood one below the
/// other, so the line of a [`Location`] tells which text it is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

/// An error that does not know its text yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    message: Message,
    at: Location,
    hint: Option<String>,
}

/// What reading a piece of a text gives.
pub(crate) type Read<T> = Result<T, Fault>;

/// The place of what has none.
pub(crate) const NOWHERE: Location = Location { line: 0, column: 0 };

impl Fault {
    pub(crate) fn new(message: impl Into<String>, at: Location) -> Self {
        Self { message: Message::Other(message.into()), at, hint: None }
    }

    /// There is no such table, but perhaps some of nearly that name.
    pub(crate) fn unknown_table(name: String, nearest: Box<[String]>, at: Location) -> Self {
        let hint = match nearest.first() {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "SHOW TABLES lists the tables".to_owned(),
        };
        Self { message: Message::UnknownTable { name, nearest }, at, hint: Some(hint) }
    }

    /// The same fault with advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same fault, at `at` unless it has a place already.
    pub(crate) fn or_at(self, at: Location) -> Self {
        if self.at == NOWHERE { Self { at, ..self } } else { self }
    }
}

impl SqlError {
    /// The error of a field as a whole.
    pub(crate) fn of_field(field: &str, fault: Fault) -> Self {
        Self {
            message: fault.message,
            field: Some(field.to_owned()),
            position: None,
            hint: fault.hint,
        }
    }
}

impl Source {
    /// Where the text begins.
    pub(crate) const fn start(&self) -> Location {
        Location { line: self.first_line, column: 1 }
    }

    /// The error that `fault` is in this text.
    pub(crate) fn error(&self, fault: Fault) -> SqlError {
        let position = (fault.at != NOWHERE).then(|| self.position(fault.at));
        SqlError { message: fault.message, field: self.field.clone(), position, hint: fault.hint }
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
    /// Adds a text below the others: that of a field, or `None` for a text of SQL.
    pub(crate) fn add(&mut self, field: Option<&str>, text: &str) -> Source {
        let lines = |source: &Source| 1 + source.text.matches('\n').count() as u64;
        let first_line = self.0.last().map_or(1, |last| last.first_line + lines(last));
        let field = field.map(str::to_owned);
        let source = Source { text: text.into(), field, first_line };
        self.0.push(source.clone());
        source
    }

    /// The error that `fault` is in the text where it has its place.
    pub(crate) fn error(&self, fault: Fault) -> SqlError {
        let of_line = |source: &&Source| source.first_line <= fault.at.line;
        match self.0.iter().rev().find(of_line) {
            Some(source) => source.error(fault),
            None => {
                SqlError { message: fault.message, field: None, position: None, hint: fault.hint }
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
            sources.error(Fault::new("m", Location { line, column })).position.expect("a place")
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
            let error = sources.error(Fault::new("m", Location { line, column }));
            (error.field.expect("a field"), error.position.expect("a place"))
        };
        assert_eq!(at(2, 1), ("first".to_owned(), Position { line: 2, column: 1, offset: 2 }));
        assert_eq!(at(3, 3), ("second".to_owned(), Position { line: 1, column: 3, offset: 3 }));
        assert_eq!(sources.error(Fault::new("m", NOWHERE)).field, None);
    }

    #[test]
    fn the_first_place_known_wins() {
        let place = Location { line: 1, column: 2 };
        let fault = Fault::new("m", NOWHERE).or_at(place).or_at(Location { line: 3, column: 4 });
        assert_eq!(fault.at, place);
        assert_eq!(Sources::default().error(Fault::new("m", NOWHERE)).position, None);
    }
}
