//! What a session is to the catalog.

use std::collections::BTreeMap;

/// What a session is to the functions of the catalog.
#[derive(Clone, Debug)]
pub(crate) struct SessionFacts {
    pub(crate) user: String,
    pub(crate) database: String,
    /// The number by which the session's statements are cancelled.
    pub(crate) process: u32,
    /// The answer of `version()`.
    pub(crate) version: String,
    pub(crate) settings: BTreeMap<String, String>,
}
