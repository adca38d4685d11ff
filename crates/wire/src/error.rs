//! Errors of decoding.

use std::fmt::Display;

/// Why bytes were refused: the position, and the error there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct DecodeError {
    /// The position: the message, then field names and indexes down from it, separated by dots.
    pub place: String,
    /// The error.
    pub kind: DecodeErrorKind,
}

/// The kinds of decoding errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// Invalid protobuf, or a field of another type.
    #[error("not protobuf: {0}")]
    Protobuf(String),
    /// A field that this release does not know, and that may matter.
    #[error("field {0} is unknown")]
    UnknownField(u32),
    /// A code that this release does not know.
    #[error("code {0} is unknown")]
    UnknownCode(i32),
    /// A required field is missing.
    #[error("is missing")]
    Missing,
    /// A field has an impossible value.
    #[error("found {actual}, expected {expected}")]
    Unfit {
        /// The value.
        actual: String,
        /// The possible values.
        expected: String,
    },
    /// More elements than allowed.
    #[error("{count} {what}; at most {most} are allowed")]
    TooMany {
        /// The kind of elements.
        what: &'static str,
        /// Their actual or potential number.
        count: usize,
        /// The maximum.
        most: usize,
    },
    /// The decoded message would need too much memory.
    #[error("needs more than {0} bytes of memory")]
    Memory(usize),
}

impl DecodeError {
    /// Whether a limit was exceeded, which is the query's fault and not a failure of a leaf.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(self.kind, DecodeErrorKind::TooMany { .. } | DecodeErrorKind::Memory(_))
    }

    /// The same error, with one more level in front of its position.
    fn under(mut self, place: impl Display) -> Self {
        let rest = std::mem::take(&mut self.place);
        let dot = if rest.is_empty() { "" } else { "." };
        self.place = format!("{place}{dot}{rest}");
        self
    }
}

impl From<DecodeErrorKind> for DecodeError {
    fn from(kind: DecodeErrorKind) -> Self {
        Self { place: String::new(), kind }
    }
}

/// Adds the position to an error, one level at a time.
pub(crate) trait At {
    /// Adds a field or message.
    fn at(self, place: &str) -> Self;
    /// Adds an element of a field.
    fn at_index(self, place: &str, index: usize) -> Self;
}

impl<T> At for Result<T, DecodeError> {
    fn at(self, place: &str) -> Self {
        self.map_err(|error| error.under(place))
    }

    fn at_index(self, place: &str, index: usize) -> Self {
        self.map_err(|error| error.under(format_args!("{place}[{index}]")))
    }
}

/// The error for an impossible value.
pub(crate) fn unfit(actual: impl Display, expected: impl Display) -> DecodeError {
    DecodeErrorKind::Unfit { actual: actual.to_string(), expected: expected.to_string() }.into()
}

/// Returns the value of a required field.
pub(crate) fn required<T>(field: Option<T>) -> Result<T, DecodeError> {
    field.ok_or_else(|| DecodeErrorKind::Missing.into())
}

/// Fails if there are more than `most` elements.
pub(crate) fn at_most(what: &'static str, count: usize, most: usize) -> Result<(), DecodeError> {
    if count <= most { Ok(()) } else { Err(DecodeErrorKind::TooMany { what, count, most }.into()) }
}

/// Decodes a list; an error has the index of its element.
pub(crate) fn each<T, U>(
    field: &'static str,
    list: Vec<T>,
    mut decode: impl FnMut(T) -> Result<U, DecodeError>,
) -> Result<Vec<U>, DecodeError> {
    let decoded = list.into_iter().enumerate();
    decoded.map(|(index, element)| decode(element).at_index(field, index)).collect()
}
