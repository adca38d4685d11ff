//! Names of tables and columns, checked once, where they enter.
//!
//! Names are never part of a file path: files are named by number.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::limits::NAME_BYTES_MAX;

/// Why a name was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name has no characters.
    #[error("a {0} name is empty")]
    Empty(&'static str),
    /// `.` or `..`, which a URL path treats as a folder.
    #[error("a table cannot be called {0:?}: in an address it means a folder")]
    Dots(String),
    /// The name is longer than [`NAME_BYTES_MAX`] bytes.
    #[error("a {what} name of {length} bytes; at most {NAME_BYTES_MAX} are allowed")]
    TooLong {
        /// "table" or "column".
        what: &'static str,
        /// Bytes of the name.
        length: usize,
    },
    /// The name has a character that is not allowed.
    #[error("{what} name {name:?} has {character:?}; allowed are {allowed}")]
    Character {
        /// "table" or "column".
        what: &'static str,
        /// The name.
        name: String,
        /// The first character that is not allowed.
        character: char,
        /// What is allowed, in words.
        allowed: &'static str,
    },
}

/// A table's name: `[A-Za-z0-9_.:-]{1,128}`, but not `.` or `..`. Names that begin with `_` belong
/// to Hadal's own tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName(Arc<str>);

impl TableName {
    /// Checks and stores a table name.
    ///
    /// # Errors
    /// [`NameError`] with the reason.
    pub fn new(name: &str) -> Result<Self, NameError> {
        const ALLOWED: &str = "letters, digits and _ . : - of ASCII";
        let fits = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
        check("table", name, ALLOWED, fits)?;
        if [".", ".."].contains(&name) {
            return Err(NameError::Dots(name.to_owned()));
        }
        Ok(Self(name.into()))
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the table is one of Hadal's own, which clients cannot log to.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.0.starts_with('_')
    }
}

/// A column's name: any UTF-8 text of 1 to 128 bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnName(Arc<str>);

impl ColumnName {
    /// Checks and stores a column name.
    ///
    /// # Errors
    /// [`NameError`] with the reason.
    pub fn new(name: &str) -> Result<Self, NameError> {
        check("column", name, "all but control characters", |c| !c.is_control())?;
        Ok(Self(name.into()))
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TableName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ColumnName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn check(
    what: &'static str,
    name: &str,
    allowed: &'static str,
    fits: impl Fn(char) -> bool,
) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty(what));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(NameError::TooLong { what, length: name.len() });
    }
    match name.chars().find(|&c| !fits(c)) {
        Some(character) => {
            Err(NameError::Character { what, name: name.to_owned(), character, allowed })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_keep_to_their_alphabet() {
        for good in ["a", "requests", "A.b:c-d_9", "...", ".a", &"x".repeat(128)] {
            assert!(TableName::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "../x", "a b", "é", "a\0", "%2e", &"x".repeat(129)] {
            assert!(TableName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn column_names_are_any_text_without_controls() {
        for good in ["a", "été 1", "a/b", "\"q\"", "a::b", "💧"] {
            assert!(ColumnName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a\nb", "\0", &"x".repeat(129)] {
            assert!(ColumnName::new(bad).is_err(), "{bad}");
        }
    }
}
