//! Encoding one column: choosing the encoding, writing the body and its directory entry. Builder and
//! merge both come through here.

use hadal_encoding::lists::Lists;
use hadal_encoding::{Bitmap, ints, pages, strings};
use hadal_types::limits::BLOCK_BYTES_MAX;
use hadal_types::{ColumnName, Kind, Logical, Number};
use twox_hash::XxHash3_64;

use crate::directory::{Encoding, Entry, SECTIONS_MAX};
use crate::error::BlockError;
use crate::header::ENCODING_VERSION;
use crate::interner::{ListInterner, StringInterner};

mod numbers;

pub(crate) use numbers::not_of_double;
use numbers::{encode_decimals, encode_numbers};

/// Where more than one row in so many has no value, these rows are left out of the streams. The more
/// are left out, the fewer bytes; but rows without a place must be put into theirs by every scan.
const COMPACT_NULLS_PART: usize = 2;
/// Columns with less text than this are not worth a page.
const PAGES_TEXT_BYTES_MIN: usize = 4 << 10;

/// One column part with a value or a placeholder for every row, and one value at least.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    pub(crate) name: &'a ColumnName,
    pub(crate) kind: Kind,
    pub(crate) logical: Logical,
    /// `None` where all rows have a value.
    pub(crate) validity: Option<Bitmap>,
    pub(crate) values: DenseValues<'a>,
}

/// The values by row. Codes are of interners, which may hold more than is used.
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

/// One column, encoded, but for where its validity lies.
#[derive(Debug)]
pub(crate) struct EncodedColumn {
    pub(crate) entry: Entry,
    /// The version of the encodings that the column needs.
    pub(crate) version: u16,
    /// The body; with its zero fill once it is sealed.
    pub(crate) body: Vec<u8>,
    /// The validity section, until it is placed.
    pub(crate) validity: Option<Vec<u8>>,
    pub(crate) raw_bytes: u64,
}

impl EncodedColumn {
    /// What columns are sorted by.
    pub(crate) fn key(&self) -> (&ColumnName, Kind) {
        (&self.entry.name, self.entry.kind)
    }

    /// Appends the validity section.
    pub(crate) fn push_validity(&mut self, section: &[u8]) {
        self.entry.sections[self.entry.value_sections()] = section.len();
        self.body.extend_from_slice(section);
    }

    /// Refers to the validity of the column of this index.
    pub(crate) fn share_validity(&mut self, owner: usize) {
        self.entry.validity_of = Some(owner);
        self.version = self.version.max(self.entry.version());
    }

    /// Fills the body up and takes its checksum; it stays as it is from then on.
    pub(crate) fn seal(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(8), 0);
        self.entry.checksum = XxHash3_64::oneshot(&self.body);
    }
}

/// What a string counts as raw bytes.
pub(crate) const fn string_raw_bytes(string: &str) -> u64 {
    string.len() as u64 + 4
}

/// Encodes a column.
///
/// # Errors
/// [`BlockError::TooLarge`].
pub(crate) fn encode(column: Dense<'_>) -> Result<EncodedColumn, BlockError> {
    let Dense { name, kind, logical, validity: nulls, values } = column;
    let rows = values.len();
    let value_count = nulls.as_ref().map_or(rows, Bitmap::count_ones);
    let mut body = Body::default();
    // Most rows without a value: they are left out. Small blocks stay as they always were.
    let is_compact =
        rows - value_count > rows / COMPACT_NULLS_PART && rows >= ints::FORMS_VALUES_MIN;
    let (values, validity) = match &nulls {
        Some(nulls) if is_compact => (values.only(nulls), None),
        nulls => (values, nulls.as_ref()),
    };
    let (encoding, raw_bytes) = match values {
        DenseValues::Decimals { mantissas, scale } => {
            (encode_decimals(mantissas, scale, validity, &mut body), value_count as u64 * 8)
        }
        DenseValues::Numbers(numbers) => {
            (encode_numbers(numbers, validity, &mut body), value_count as u64 * 8)
        }
        DenseValues::Strings { codes, strings } => {
            let raw = |&code: &u32| string_raw_bytes(strings.get(code));
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
        checksum: 0,
    };
    let version =
        if may_have_new_forms(rows, raw_bytes) { ENCODING_VERSION } else { entry.version() };
    let validity = nulls.map(|nulls| {
        let mut section = Vec::new();
        nulls.encode(&mut section);
        section
    });
    Ok(EncodedColumn { entry, version, body: body.bytes, validity, raw_bytes })
}

/// Whether a stream of the column is long enough for forms that version 1 does not have: it has a
/// value per row, or per element, which counts four bytes.
fn may_have_new_forms(rows: usize, raw_bytes: u64) -> bool {
    rows >= ints::FORMS_VALUES_MIN || raw_bytes >= 4 * ints::FORMS_VALUES_MIN as u64
}

/// Fails where so many bytes do not fit a block.
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
}

fn encode_strings(
    mut codes: Vec<u32>,
    source: &StringInterner,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut codes, validity);
    let used = used_codes(&codes, source.len());
    let bytes = |codes: &[u32]| codes.iter().map(|&code| source.get(code).len()).sum::<usize>();
    if used.len() > codes.len() / 2 && bytes(&used) >= PAGES_TEXT_BYTES_MIN {
        let has = |row| validity.is_none_or(|validity| validity.get(row));
        let text = |(row, &code)| if has(row) { source.get(code) } else { "" };
        let values: Vec<&str> = codes.iter().enumerate().map(text).collect();
        let dictionary_bytes =
            bytes(&used) + used.len() + ints::encoded_bytes(codes.len(), used.len() as u64 - 1);
        if pages::encoded_bytes(&values) < dictionary_bytes {
            body.section(|out| pages::encode(&values, out));
            return Encoding::Pages;
        }
    }
    let (entries, ranks) = sort_used(used, source);
    codes.iter_mut().for_each(|code| *code = ranks[*code as usize]);
    body.section(|out| ints::encode_codes(&codes, out));
    body.section(|out| strings::encode(&entries, out));
    Encoding::Dictionary { entries: entries.len() }
}

struct ListSource<'a> {
    kind: Kind,
    lists: &'a ListInterner,
    elements: &'a StringInterner,
}

fn encode_lists(
    mut codes: Vec<u32>,
    source: &ListSource<'_>,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut codes, validity);
    let used = used_codes(&codes, source.lists.len());
    let in_lists = used.iter().flat_map(|&list| source.lists.get(list)).copied();
    let used_elements = used_codes_of(in_lists, source.elements.len());
    let (entries, ranks) = sort_used(used_elements, source.elements);
    let elements = entries.len();

    let longest = used.iter().map(|&list| source.lists.get(list).len()).max().unwrap_or_default();
    let cost = |lists: &[u32]| {
        let total = lists.iter().map(|&list| source.lists.get(list).len()).sum();
        ints::encoded_bytes(lists.len(), longest as u64)
            + ints::encoded_bytes(total, (elements as u64).saturating_sub(1))
    };
    let code_bytes = ints::encoded_bytes(codes.len(), used.len() as u64 - 1);
    let by_dictionary = code_bytes + cost(&used) < cost(&codes);

    let mut lists = Lists::default();
    let mut push = |list: &[u32]| {
        let mut list: Vec<u32> = list.iter().map(|&code| ranks[code as usize]).collect();
        if source.kind == Kind::Set {
            list.sort_unstable();
        }
        lists.push(list);
    };
    if by_dictionary {
        let mut places = vec![0; source.lists.len()];
        for (place, &list) in (0u32..).zip(&used) {
            places[list as usize] = place;
            push(source.lists.get(list));
        }
        codes.iter_mut().for_each(|code| *code = places[*code as usize]);
        body.section(|out| ints::encode_codes(&codes, out));
    } else {
        let has = |row| validity.is_none_or(|validity| validity.get(row));
        for (row, &code) in codes.iter().enumerate() {
            push(if has(row) { source.lists.get(code) } else { &[] });
        }
    }
    body.section(|out| strings::encode(&entries, out));
    body.section(|out| lists.encode(out));
    match by_dictionary {
        true => Encoding::ListDictionary { elements, lists: used.len() },
        false => Encoding::Lists { elements },
    }
}

/// The codes that occur, ascending.
fn used_codes(codes: &[u32], limit: usize) -> Vec<u32> {
    used_codes_of(codes.iter().copied(), limit)
}

fn used_codes_of(codes: impl Iterator<Item = u32>, limit: usize) -> Vec<u32> {
    let mut used = vec![false; limit];
    codes.for_each(|code| used[code as usize] = true);
    (0u32..).zip(used).filter_map(|(code, used)| used.then_some(code)).collect()
}

/// The strings of these codes, sorted, and by code its place among them.
fn sort_used(mut used: Vec<u32>, source: &StringInterner) -> (Vec<&str>, Vec<u32>) {
    used.sort_unstable_by_key(|&code| source.get(code));
    let mut ranks = vec![0; source.len()];
    for (rank, &code) in (0u32..).zip(&used) {
        ranks[code as usize] = rank;
    }
    (used.into_iter().map(|code| source.get(code)).collect(), ranks)
}

/// Puts the value before, or the first, wherever a row has none: packing does not notice.
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

/// The values of rows that have one.
fn present<'v, T>(values: &'v [T], validity: Option<&'v Bitmap>) -> impl Iterator<Item = &'v T> {
    let all = if validity.is_none() { values } else { &[] };
    let some = validity.into_iter().flat_map(|validity| validity.iter_ones());
    all.iter().chain(some.map(|row| &values[row]))
}
