//! An object that was rewritten as strict JSON, and why a text cannot be.

/// One object, as strict JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Repaired {
    pub(crate) text: String,
    /// The number of values such as NaN, which became null.
    pub(crate) not_numbers: u64,
    /// The number of halves of surrogate pairs, which became U+FFFD.
    pub(crate) lone_surrogates: u64,
    /// Whether it has comments, or names, words or commas that are not of JSON.
    pub(crate) is_lenient: bool,
}

/// Why a text cannot be read, and the position of the byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) reason: &'static str,
    at: usize,
}

impl Fault {
    pub(super) const fn new(reason: &'static str, at: usize) -> Self {
        Self { reason, at }
    }

    /// The reason with the position in `text`, counted in characters from 1.
    pub(crate) fn describe(&self, text: &str) -> String {
        if self.reason == NO_OBJECT {
            return NO_OBJECT.to_owned();
        }
        let before = text.get(..self.at).map_or(self.at, |before| before.chars().count());
        format!("{} at character {}", self.reason, before + 1)
    }
}

/// The reason for a text that does not begin like an object.
pub(crate) const NO_OBJECT: &str = "not a JSON object";
