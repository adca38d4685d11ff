//! Why bytes are not the message that they should be.

use std::fmt::Display;

/// Why bytes were refused: where, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct DecodeError {
    /// Where: the message, and the way of fields and indexes down from it, with dots between.
    pub place: String,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong with bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// They are not protobuf, or a field is of another type.
    #[error("not protobuf: {0}")]
    Protobuf(String),
    /// There is a field that this release does not know, and which may matter.
    #[error("field {0} is unknown")]
    UnknownField(u32),
    /// There is a code that this release does not know.
    #[error("code {0} is unknown")]
    UnknownCode(i32),
    /// Something that must be there is not.
    #[error("is missing")]
    Missing,
    /// Something is there that cannot be.
    #[error("found {found}, expected {expected}")]
    Unfit {
        /// What was found.
        found: String,
        /// What can be there.
        expected: String,
    },
    /// There is more of something than is allowed.
    #[error("{found} {what}; at most {most} are allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are, or would be.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// The message would need too much memory once it is decoded.
    #[error("needs more than {0} bytes of memory")]
    Memory(usize),
}

impl DecodeError {
    /// Whether a limit was reached, which is nobody's failure but the question's.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(self.kind, DecodeErrorKind::TooMany { .. } | DecodeErrorKind::Memory(_))
    }

    /// The same, seen from one level further up.
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

/// Says where an error is, one level at a time.
pub(crate) trait At {
    /// It is in this field or message.
    fn at(self, place: &str) -> Self;
    /// It is in the element of this index of this field.
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

/// Something is there that cannot be.
pub(crate) fn unfit(found: impl Display, expected: impl Display) -> DecodeError {
    DecodeErrorKind::Unfit { found: found.to_string(), expected: expected.to_string() }.into()
}

/// What a field that must be there holds.
pub(crate) fn required<T>(field: Option<T>) -> Result<T, DecodeError> {
    field.ok_or_else(|| DecodeErrorKind::Missing.into())
}

/// Refuses more than `most` of something.
pub(crate) fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), DecodeError> {
    if found <= most { Ok(()) } else { Err(DecodeErrorKind::TooMany { what, found, most }.into()) }
}

/// Decodes a list, and says at which index an error is.
pub(crate) fn each<T, U>(
    field: &'static str,
    list: Vec<T>,
    mut decode: impl FnMut(T) -> Result<U, DecodeError>,
) -> Result<Vec<U>, DecodeError> {
    let decoded = list.into_iter().enumerate();
    decoded.map(|(index, element)| decode(element).at_index(field, index)).collect()
}
