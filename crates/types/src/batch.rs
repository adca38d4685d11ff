//! Batch ids: they make a retry idempotent.
//!
//! A client may send several bodies under one id: chunks, which the client numbers. The server cuts
//! each body into parts and numbers them:
//!
//! ```text
//! monday ── monday, monday#1, monday#2 ...               the first body and its parts
//!        └─ monday##1, monday##1#1, monday##1#2 ...      the chunk after it and its parts
//! ```
//!
//! No id that a client chooses has the separator, so no two of these ids are equal.

use std::fmt;

use crate::limits::{BATCH_ID_BYTES_MAX, NAME_BYTES_MAX};

/// Stands before the numbers of chunks and parts. No id that a client chooses has it.
const SEPARATOR: char = '#';

/// The id of one batch: 1 to 128 visible ASCII characters, chosen by the client.
///
/// The same id with the same bytes adds nothing; with other bytes it is a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(String);

/// Why a text cannot be the id of a client's batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchIdError {
    /// It is empty, or too long to append the numbers of chunks and parts.
    #[error("a batch id of {0} bytes; it has 1 to {BATCH_ID_BYTES_MAX}")]
    Length(usize),
    /// It has a character outside `!`..=`~`.
    #[error("batch id {id:?} has {character:?}; it is visible ASCII without spaces")]
    Character {
        /// The text.
        id: String,
        /// The first such character.
        character: char,
    },
    /// It could be the id of a part of another batch.
    #[error("batch id {0:?} has a {SEPARATOR}, which is for the numbers of a batch's parts only")]
    Reserved(String),
}

impl BatchId {
    /// Returns the id of a batch or of a part. Returns `None` if `text` is empty, too long or has a
    /// character outside `!`..=`~`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
        (fits && text.chars().all(is_visible)).then(|| Self(text.to_owned()))
    }

    /// Returns an id that a client chose: at most 112 bytes, and never equal to the id of a part.
    ///
    /// # Errors
    /// [`BatchIdError`] with the reason.
    pub fn of_client(text: &str) -> Result<Self, BatchIdError> {
        if !(1..=BATCH_ID_BYTES_MAX).contains(&text.len()) {
            return Err(BatchIdError::Length(text.len()));
        }
        if let Some(character) = text.chars().find(|&character| !is_visible(character)) {
            return Err(BatchIdError::Character { id: text.to_owned(), character });
        }
        if text.contains(SEPARATOR) {
            return Err(BatchIdError::Reserved(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the id of chunk `number` of this id; chunk 0 has the id itself.
    #[must_use]
    pub fn chunk(&self, number: u32) -> Self {
        match number {
            0 => self.clone(),
            _ => Self(format!("{}{SEPARATOR}{SEPARATOR}{number}", self.0)),
        }
    }

    /// Returns the id of part `index` of a body that was cut into several batches.
    ///
    /// The cuts depend only on the body's bytes, so a retry makes the same parts.
    #[must_use]
    pub fn part(&self, index: usize) -> Self {
        match index {
            0 => self.clone(),
            _ => Self(format!("{}{SEPARATOR}{index}", self.0)),
        }
    }

    /// Whether this is the client's batch itself, or a chunk or part of it.
    #[must_use]
    pub fn is_of(&self, client: &Self) -> bool {
        let rest = self.0.strip_prefix(client.0.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(SEPARATOR))
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_visible(character: char) -> bool {
    character.is_ascii_graphic()
}

impl fmt::Display for BatchId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_client_cannot_choose_the_id_of_a_part() {
        let client_id = |text: &str| BatchId::of_client(text).map_err(|error| error.to_string());
        let parts = |id: &BatchId| {
            let chunks: Vec<BatchId> = (0..20).map(|number| id.chunk(number)).collect();
            let parts = chunks.iter().flat_map(|chunk| (0..20).map(|index| chunk.part(index)));
            parts.collect::<Vec<_>>()
        };
        let mut all = HashSet::new();
        for text in ["x", "x.1", "x1", "1"] {
            for id in parts(&client_id(text).expect("an id")) {
                assert!(id.as_str() == text || client_id(id.as_str()).is_err(), "{id}");
                assert!(BatchId::new(id.as_str()).is_some(), "{id} is stored");
                for client in ["x", "x.1", "x1", "1"] {
                    assert_eq!(
                        id.is_of(&client_id(client).expect("an id")),
                        client == text,
                        "{id}"
                    );
                }
                assert!(all.insert(id.clone()), "{id} is there twice");
            }
        }
        let refused = client_id("x#1").expect_err("refused");
        assert!(refused.contains("\"x#1\" has a #"), "{refused}");
    }

    #[test]
    fn ids_of_clients_are_short_and_visible() {
        let longest = "x".repeat(BATCH_ID_BYTES_MAX);
        let id = BatchId::of_client(&longest).expect("an id");
        assert!(BatchId::new(id.chunk(u32::MAX).part(999).as_str()).is_some());
        let long = longest + "x";
        assert_eq!(BatchId::of_client(&long), Err(BatchIdError::Length(113)));
        assert_eq!(BatchId::of_client(""), Err(BatchIdError::Length(0)));
        for character in [' ', '\n', '\u{e9}', '\u{7f}'] {
            let id = format!("a{character}");
            assert_eq!(
                BatchId::of_client(&id),
                Err(BatchIdError::Character { id: id.clone(), character })
            );
        }
    }
}
