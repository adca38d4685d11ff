//! A remark on a body for its sender.

/// A change made to the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of change, for programs.
    pub code: &'static str,
    /// The number of occurrences.
    pub count: u64,
    /// The change in words.
    pub message: String,
}
