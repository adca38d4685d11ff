//! Batch ids: what makes a retry idempotent.

use std::fmt;

use crate::limits::NAME_BYTES_MAX;

/// The id of one batch: 1 to 128 visible ASCII characters, chosen by whoever sends the batch.
///
/// The same id with the same bytes adds nothing; with other bytes it is a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(String);

impl BatchId {
    /// Returns the id, or `None` when `text` is empty, too long or has a character outside
    /// `!`..=`~`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        (fits && visible).then(|| Self(text.to_owned()))
    }

    /// Returns the id of part `index` of a body that was cut into several batches.
    ///
    /// The cuts depend on the body's bytes only, so a retry makes the same parts.
    #[must_use]
    pub fn part(&self, index: usize) -> Self {
        if index == 0 { self.clone() } else { Self(format!("{}#{index}", self.0)) }
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BatchId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
