//! What a layout of log lines is.

/// How lines are laid out. Groups of the pattern are columns by their names; `time`, `level`,
/// `request`, `pri`, `extra` and `rest` have meanings of their own.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its name for people.
    pub(super) name: &'static str,
    /// A regular expression, with fragments in angle brackets.
    pub(super) pattern: &'static str,
    /// Whether single lines of other texts fit by chance, so that most lines have to fit.
    pub(super) is_weak: bool,
    /// What the group `rest` is.
    pub(super) payload: Payload,
}

/// What is written after the header of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Text only.
    None,
    /// Text, and JSON at its end.
    Json,
    /// The line of another program: text, logfmt, and JSON at its end.
    Inner,
}

impl Layout {
    /// The usual members of a layout that no other text fits.
    pub(super) const STRONG: Self =
        Self { name: "", pattern: "", is_weak: false, payload: Payload::Json };
    /// The usual members of a layout that other texts may fit by chance.
    pub(super) const WEAK: Self =
        Self { name: "", pattern: "", is_weak: true, payload: Payload::Json };
}
