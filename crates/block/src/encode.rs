//! Encodes one column: chooses the encoding, writes the body and its directory entry. Builder and
//! merge share this code.

use hadal_encoding::{Bitmap, ints};
use hadal_types::limits::BLOCK_BYTES_MAX;
use hadal_types::{ColumnName, Kind, Logical, Number};
use twox_hash::XxHash3_64;

use crate::directory::{Entry, SECTIONS_MAX};
use crate::error::BlockError;
use crate::header::WARM_VERSION;
use crate::interner::{ListInterner, StringInterner};
use crate::weighted_sums::{RowWeights, is_rates};

mod lists;
mod numbers;
mod sorted_strings;
mod strings;
mod templates;

use lists::{ListSource, encode_lists};
pub(crate) use numbers::not_of_double;
use numbers::{encode_decimals, encode_numbers};
use strings::{encode_strings, hardly_repeat};

/// If more than one row in 2 has no value, these rows are left out of the streams. That saves
/// bytes, but then every scan must expand the values to their rows.
const COMPACT_NULLS_PART: usize = 2;
/// One column part with a value or a placeholder for every row, and at least one value.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    pub(crate) name: &'a ColumnName,
    pub(crate) kind: Kind,
    pub(crate) logical: Logical,
    /// `None` if all rows have a value.
    pub(crate) validity: Option<Bitmap>,
    pub(crate) values: DenseValues<'a>,
}

/// The values by row. Codes belong to interners, which may hold more strings than are used.
#[derive(Debug)]
pub(crate) enum DenseValues<'a> {
    Decimals { mantissas: Vec<i64>, scale: u8 },
    Numbers(Vec<Number>),
    Strings { codes: Vec<u32>, strings: &'a StringInterner },
    Lists { codes: Vec<u32>, lists: &'a ListInterner, elements: &'a StringInterner },
}

impl DenseValues<'_> {
    const fn len(&self) -> usize {
        match self {
            Self::Decimals { mantissas, .. } => mantissas.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Strings { codes, .. } | Self::Lists { codes, .. } => codes.len(),
        }
    }

    /// The values of these rows only.
    fn only(self, rows: &Bitmap) -> Self {
        fn pick<T: Copy>(values: &[T], rows: &Bitmap) -> Vec<T> {
            rows.iter_ones().map(|row| values[row]).collect()
        }
        match self {
            Self::Decimals { mantissas, scale } => {
                Self::Decimals { mantissas: pick(&mantissas, rows), scale }
            }
            Self::Numbers(numbers) => Self::Numbers(pick(&numbers, rows)),
            Self::Strings { codes, strings } => {
                Self::Strings { codes: pick(&codes, rows), strings }
            }
            Self::Lists { codes, lists, elements } => {
                Self::Lists { codes: pick(&codes, rows), lists, elements }
            }
        }
    }
}

/// One encoded column; its validity section is assigned later.
#[derive(Debug)]
pub(crate) struct EncodedColumn {
    pub(crate) entry: Entry,
    /// The version of the encodings that the column needs.
    pub(crate) version: u16,
    /// The body; with its zero fill once it is sealed.
    pub(crate) body: Vec<u8>,
    /// The validity section, until it is assigned.
    pub(crate) validity: Option<Vec<u8>>,
    pub(crate) raw_bytes: u64,
}

impl EncodedColumn {
    /// The sort key of columns.
    pub(crate) fn key(&self) -> (&ColumnName, Kind) {
        (&self.entry.name, self.entry.kind)
    }

    /// Appends the validity section.
    pub(crate) fn push_validity(&mut self, section: &[u8]) {
        self.entry.sections[self.entry.value_sections()] = section.len();
        self.body.extend_from_slice(section);
    }

    /// Refers to the validity of the column with this index.
    pub(crate) fn share_validity(&mut self, owner: usize) {
        self.entry.validity_of = Some(owner);
        self.version = self.version.max(self.entry.version());
    }

    /// Adds the zero fill and computes the checksum. The body must not change afterwards.
    pub(crate) fn seal(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(8), 0);
        self.entry.checksum = XxHash3_64::oneshot(&self.body);
    }
}

/// Raw bytes of a string.
pub(crate) const fn string_raw_bytes(string: &str) -> u64 {
    string.len() as u64 + 4
}

/// A cache of the validity sections of a block, for other columns that are null in the same rows:
/// most columns are like one of a few.
#[derive(Debug, Default)]
pub(crate) struct Sections(Vec<(Bitmap, Vec<u8>)>);

impl Sections {
    /// Maximum number of cached sections.
    const COUNT_MAX: usize = 8;

    fn section(&mut self, nulls: &Bitmap) -> Vec<u8> {
        if let Some((_, section)) = self.0.iter().find(|(other, _)| other == nulls) {
            return section.clone();
        }
        let mut section = Vec::new();
        nulls.encode(&mut section);
        self.0.truncate(Self::COUNT_MAX - 1);
        self.0.insert(0, (nulls.clone(), section.clone()));
        section
    }
}

/// The weights that a column of sample rates gives; `None` if it is another column, or not of
/// decimals.
fn weights_of(rates: &Dense<'_>) -> Option<RowWeights> {
    let DenseValues::Decimals { mantissas, scale } = &rates.values else { return None };
    let is_rates = is_rates(rates.name, rates.kind) && rates.logical != Logical::Time;
    if is_rates { RowWeights::new(mantissas, *scale, rates.validity.as_ref()) } else { None }
}

/// Encodes the columns of one block.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    sections: Sections,
    /// `None` if there are no weighted sums.
    weights: Option<RowWeights>,
}

impl Encoder {
    /// `rates` is the column of the rows' sample rates.
    pub(crate) fn new(rates: Option<&Dense<'_>>) -> Self {
        Self { sections: Sections::default(), weights: rates.and_then(weights_of) }
    }

    /// Encodes a column.
    ///
    /// # Errors
    /// [`BlockError::TooLarge`].
    pub(crate) fn encode(&mut self, column: Dense<'_>) -> Result<EncodedColumn, BlockError> {
        encode(column, self)
    }
}

fn encode(column: Dense<'_>, encoder: &mut Encoder) -> Result<EncodedColumn, BlockError> {
    let Dense { name, kind, logical, validity: nulls, values } = column;
    let rows = values.len();
    let value_count = nulls.as_ref().map_or(rows, Bitmap::count_ones);
    let mut body = Body::default();
    // Rows without a value are left out if they are many, or if the other rows rarely repeat. Small
    // blocks keep their original form.
    let is_compact = rows >= ints::FORMS_VALUES_MIN
        && value_count < rows
        && (rows - value_count > rows / COMPACT_NULLS_PART
            || hardly_repeats(&values, nulls.as_ref()));
    let weights = encoder.weights.as_ref().filter(|_| logical == Logical::Plain);
    let weights = weights.map(|weights| weights.of_values(nulls.as_ref(), is_compact));
    let weights = weights.as_deref();
    let (values, validity) = match &nulls {
        Some(nulls) if is_compact => (values.only(nulls), None),
        nulls => (values, nulls.as_ref()),
    };
    let (encoding, raw_bytes) = match values {
        DenseValues::Decimals { mantissas, scale } => (
            encode_decimals(mantissas, scale, (validity, weights), &mut body),
            value_count as u64 * 8,
        ),
        DenseValues::Numbers(numbers) => {
            (encode_numbers(numbers, (validity, weights), &mut body), value_count as u64 * 8)
        }
        DenseValues::Strings { codes, strings } => {
            let raw = |&code: &u32| strings.bytes_of(code) as u64 + 4;
            let raw_bytes = present(&codes, validity).map(raw).sum();
            check_size(raw_bytes)?;
            (encode_strings(codes, strings, validity, &mut body), raw_bytes)
        }
        DenseValues::Lists { codes, lists, elements } => {
            let raw = |&code: &u32| {
                let strings = lists.get(code).iter().map(|&element| elements.get(element));
                4 + strings.map(string_raw_bytes).sum::<u64>()
            };
            let raw_bytes = present(&codes, validity).map(raw).sum();
            check_size(raw_bytes)?;
            let source = ListSource { kind, lists, elements };
            (encode_lists(codes, &source, validity, &mut body), raw_bytes)
        }
    };
    let entry = Entry {
        name: name.clone(),
        kind,
        logical,
        nulls: rows - value_count,
        validity_of: None,
        is_compact,
        encoding,
        sections: body.sections,
        frame_bytes: None,
        checksum: 0,
    };
    let least = if may_have_new_forms(rows, raw_bytes) { WARM_VERSION } else { 1 };
    let version = entry.version().max(least);
    let validity = nulls.map(|nulls| encoder.sections.section(&nulls));
    Ok(EncodedColumn { entry, version, body: body.bytes, validity, raw_bytes })
}

/// Whether the rows' strings rarely repeat, so that a placeholder for a null row costs more than a
/// code.
fn hardly_repeats(values: &DenseValues<'_>, nulls: Option<&Bitmap>) -> bool {
    let DenseValues::Strings { codes, strings } = values else { return false };
    hardly_repeat(present(codes, nulls).copied(), strings)
}

/// Whether a stream of the column is long enough for the forms that version 1 lacks. A column's
/// streams have one value per row, or per element, which counts as four raw bytes.
fn may_have_new_forms(rows: usize, raw_bytes: u64) -> bool {
    rows >= ints::FORMS_VALUES_MIN || raw_bytes >= 4 * ints::FORMS_VALUES_MIN as u64
}

const _: () = assert!(
    hadal_encoding::strings::FRONT_TEXT_BYTES_MIN >= 4 * ints::FORMS_VALUES_MIN,
    "a dictionary that is not plain counts as many raw bytes"
);

/// Fails if a block cannot have this many bytes.
pub(crate) fn check_size(bytes: u64) -> Result<(), BlockError> {
    if bytes <= BLOCK_BYTES_MAX as u64 { Ok(()) } else { Err(BlockError::TooLarge(bytes)) }
}

#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    sections: [usize; SECTIONS_MAX],
    count: usize,
}

impl Body {
    fn section(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.sections[self.count] = self.bytes.len() - start;
        self.count += 1;
    }

    /// Appends a section with one code per value.
    fn codes(&mut self, codes: &[u32]) {
        self.section(|out| ints::encode_codes(codes, out));
    }
}

/// Fills null rows with the previous value, or the first one: repeated values cost no bits.
fn fill_placeholders<T: Copy>(values: &mut [T], validity: Option<&Bitmap>) {
    let Some(validity) = validity else { return };
    let mut rows = validity.iter_ones();
    let Some(mut last) = rows.next() else { return };
    let first = values[last];
    values[..last].fill(first);
    for row in rows {
        let before = values[last];
        values[last + 1..row].fill(before);
        last = row;
    }
    let before = values[last];
    values[last + 1..].fill(before);
}

/// The values of the rows that have one.
fn present<'v, T>(values: &'v [T], validity: Option<&'v Bitmap>) -> impl Iterator<Item = &'v T> {
    let all = if validity.is_none() { values } else { &[] };
    let some = validity.into_iter().flat_map(|validity| validity.iter_ones());
    all.iter().chain(some.map(|row| &values[row]))
}
