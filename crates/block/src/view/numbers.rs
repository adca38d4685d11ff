//! Numbers in their encoded form: a scan can use them without decoding a column to wide integers.

use hadal_encoding::{Bitmap, Buffer, EncodingError, IntsView, ints, kernels};
use hadal_types::{Decimal, Number};

use super::ColumnView;
use crate::data::{Exacts, Values};
use crate::directory::Encoding;
use crate::encode::not_of_double;
use crate::error::BlockError;

/// Numbers of one scale: value i of the stream is (base + i-th integer) × 10^−scale.
#[derive(Clone, Debug)]
pub struct NumbersView<'a> {
    /// Digits after the point, 0 to 36; 0 to 18 if `base` is 0.
    pub scale: u8,
    /// The base added to each integer: 0, unless the column has numbers beyond 64 bits. Their sum
    /// does not overflow.
    pub base: i128,
    /// One integer per row; if the column is compact, one per row that has a value.
    pub integers: IntsView<'a>,
    /// Which rows have a value; `None` if all have one.
    pub validity: Option<Bitmap>,
    /// Whether the stream omits null rows. If so, its vectors and zones do not correspond to rows.
    pub is_compact: bool,
}

impl ColumnView<'_> {
    /// The numbers in encoded form if they are integers of one scale; `None` for doubles and other
    /// kinds. Cost: O(vectors), and decoding the validity.
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn numbers(&self) -> Result<Option<NumbersView<'_>>, BlockError> {
        let (scale, base) = match self.entry.encoding {
            Encoding::Decimals { scale, .. } => (scale, 0),
            Encoding::Wide { scale, base, .. } => (scale, base),
            _ => return Ok(None),
        };
        let is_compact = self.entry.is_compact;
        let integers = self.streams()?.integers()?;
        let validity = self.validity()?;
        Ok(Some(NumbersView { scale, base, integers, validity, is_compact }))
    }
}

/// Integers `values[c]`, with c = `codes[i]` for row i.
#[derive(Clone, Debug)]
pub struct CodedNumbers {
    /// The distinct integers, in no particular order.
    pub values: Vec<i64>,
    /// One code per row, each below the number of values.
    pub codes: Buffer,
}

impl NumbersView<'_> {
    /// The k of each row, for integers with the frame of reference `near`. The k is unspecified for
    /// null rows and, with `chosen`, for rows that are not chosen.
    ///
    /// # Errors
    /// When a k is beyond the span.
    pub fn steps(
        &self,
        near: &ints::FrameOfReference,
        chosen: Option<&Bitmap>,
    ) -> Result<Buffer, EncodingError> {
        self.by_row(chosen, |chosen| self.integers.steps_where(near, chosen))
    }

    /// The integers by code if they are stored as a dictionary; else `None`. Codes are valid for
    /// the same rows as the result of [`Self::steps`].
    ///
    /// # Errors
    /// When a code is beyond the values.
    pub fn coded(&self, chosen: Option<&Bitmap>) -> Result<Option<CodedNumbers>, EncodingError> {
        let Some((entries, codes)) = self.integers.dictionary() else { return Ok(None) };
        let mut values = Vec::new();
        entries.decode_into(&mut values);
        let codes = self.by_row(chosen, |chosen| codes.codes_where(values.len(), chosen))?;
        Ok(Some(CodedNumbers { values, codes }))
    }

    /// Decodes the integers and expands the result to rows.
    fn by_row(
        &self,
        chosen: Option<&Bitmap>,
        decode: impl Fn(Option<&Bitmap>) -> Result<Buffer, EncodingError>,
    ) -> Result<Buffer, EncodingError> {
        let Some(present) = self.validity.as_ref().filter(|_| self.is_compact) else {
            return decode(chosen);
        };
        let numbers = decode(chosen.map(|chosen| chosen.only_of(present)).as_ref())?;
        let mut by_row = Buffer::of(present.len());
        kernels::expand_u32(&numbers, present.words(), 0, &mut by_row);
        Ok(by_row)
    }
}

/// The name of decimals with a stream that begins with these bytes.
pub(super) fn decimals_name(stream: &[u8]) -> &'static str {
    match ints::form_name(stream) {
        Some("constant") => "decimals: constant",
        Some("steps") => "decimals: steps",
        Some("runs") => "decimals: runs",
        Some("dictionary") => "decimals: dictionary",
        _ => "decimals",
    }
}

/// The numbers as doubles, and the exact decimals of those that no double represents.
pub(super) fn decode_wide<'a>(offsets: &IntsView<'_>, scale: u8, base: i128) -> Values<'a> {
    let mut integers = Vec::new();
    offsets.decode_into(&mut integers);
    let mut doubles = Vec::with_capacity(integers.len());
    let mut exacts = Vec::new();
    for (row, integer) in (0u32..).zip(integers) {
        let decimal = base.checked_add(integer.into()).and_then(|sum| Decimal::new(sum, scale));
        let number = decimal.map_or(Number::ZERO, Number::from);
        let double = number.to_f64();
        doubles.push(double);
        exacts.extend(not_of_double(number, double).map(|decimal| (row, decimal)));
    }
    Values::Mixed { doubles, exacts: Exacts::new(exacts) }
}
