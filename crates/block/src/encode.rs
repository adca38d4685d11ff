//! Encoding one column: choosing the encoding, writing the body and its directory entry. Builder and
//! merge both come through here.

use std::cmp::Ordering;

use hadal_encoding::lists::Lists;
use hadal_encoding::{Bitmap, exacts, ints, pages, strings};
use hadal_types::limits::BLOCK_BYTES_MAX;
use hadal_types::{ColumnName, Decimal, Form, Kind, Logical, Number};
use twox_hash::XxHash3_64;

use crate::directory::{Encoding, Entry, SECTIONS_MAX};
use crate::error::BlockError;
use crate::interner::{ListInterner, StringInterner};
use crate::part::unit;

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

/// One column, encoded.
#[derive(Debug)]
pub(crate) struct EncodedColumn {
    pub(crate) entry: Entry,
    /// The body with its zero fill.
    pub(crate) body: Vec<u8>,
    pub(crate) raw_bytes: u64,
}

impl EncodedColumn {
    /// What columns are sorted by.
    pub(crate) fn key(&self) -> (&ColumnName, Kind) {
        (&self.entry.name, self.entry.kind)
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
    let Dense { name, kind, logical, validity, values } = column;
    let mut body = Body::default();
    let validity = validity.as_ref();
    let (encoding, rows, raw_bytes) = match values {
        DenseValues::Decimals { mantissas, scale } => {
            let (rows, raw_bytes) = (mantissas.len(), count(validity, mantissas.len()) * 8);
            (encode_decimals(mantissas, scale, validity, &mut body), rows, raw_bytes)
        }
        DenseValues::Numbers(numbers) => {
            let (rows, raw_bytes) = (numbers.len(), count(validity, numbers.len()) * 8);
            (encode_numbers(numbers, validity, &mut body), rows, raw_bytes)
        }
        DenseValues::Strings { codes, strings } => {
            let raw = |&code: &u32| strings.bytes_of(code) as u64 + 4;
            let (rows, raw_bytes) = (codes.len(), present(&codes, validity).map(raw).sum());
            check_size(raw_bytes)?;
            (encode_strings(codes, strings, validity, &mut body), rows, raw_bytes)
        }
        DenseValues::Lists { codes, lists, elements } => {
            let raw = |&code: &u32| {
                let strings = lists.get(code).iter().map(|&element| elements.get(element));
                4 + strings.map(string_raw_bytes).sum::<u64>()
            };
            let (rows, raw_bytes) = (codes.len(), present(&codes, validity).map(raw).sum());
            check_size(raw_bytes)?;
            let source = ListSource { kind, lists, elements };
            (encode_lists(codes, &source, validity, &mut body), rows, raw_bytes)
        }
    };
    if let Some(validity) = validity {
        body.section(|out| validity.encode(out));
    }
    let nulls = rows - validity.map_or(rows, Bitmap::count_ones);
    Ok(body.finish(name, kind, logical, nulls, encoding, raw_bytes))
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

    fn finish(
        mut self,
        name: &ColumnName,
        kind: Kind,
        logical: Logical,
        nulls: usize,
        encoding: Encoding,
        raw_bytes: u64,
    ) -> EncodedColumn {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let checksum = XxHash3_64::oneshot(&self.bytes);
        let (name, sections) = (name.clone(), self.sections);
        let entry = Entry { name, kind, logical, nulls, encoding, sections, checksum };
        EncodedColumn { entry, body: self.bytes, raw_bytes }
    }
}

fn encode_decimals(
    mut mantissas: Vec<i64>,
    mut scale: u8,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut mantissas, validity);
    while scale > 0 && mantissas.iter().all(|mantissa| mantissa % 10 == 0) {
        mantissas.iter_mut().for_each(|mantissa| *mantissa /= 10);
        scale -= 1;
    }
    let min = mantissas.iter().copied().min().unwrap_or_default();
    let max = mantissas.iter().copied().max().unwrap_or_default();
    let sum = present(&mantissas, validity).map(|&mantissa| i128::from(mantissa)).sum();
    body.section(|out| ints::encode(&mantissas, out));
    Encoding::Decimals { scale, min, max, sum }
}

/// Encodes numbers of any scale: as decimals where one scale holds all of them, else as doubles;
/// those that no double means beside them.
fn encode_numbers(
    mut numbers: Vec<Number>,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut numbers, validity);
    if let Some((mantissas, scale)) = at_one_scale(&numbers) {
        return encode_decimals(mantissas, scale, validity, body);
    }
    let doubles: Vec<f64> = numbers.iter().map(|number| number.to_f64()).collect();
    body.section(|out| {
        doubles.iter().for_each(|double| out.extend_from_slice(&double.to_le_bytes()));
    });
    let mut min = doubles.iter().copied().fold(f64::INFINITY, f64::min);
    let mut max = doubles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut others: Vec<(u32, Decimal)> = Vec::new();
    for (row, (number, double)) in numbers.into_iter().zip(doubles).enumerate() {
        if let Form::Decimal(decimal) = number.form()
            && validity.is_none_or(|validity| validity.get(row))
            && is_rounded(number, double)
        {
            let side = || Number::from_f64(double).map(|meant| number.cmp(&meant));
            if double == min && side() == Some(Ordering::Less) {
                min = min.next_down();
            }
            if double == max && side() == Some(Ordering::Greater) {
                max = max.next_up();
            }
            others.push((u32::try_from(row).unwrap_or(u32::MAX), decimal));
        }
    }
    if others.is_empty() {
        return Encoding::Doubles { min, max };
    }
    body.section(|out| exacts::encode(&others, out));
    Encoding::Mixed { min, max }
}

/// Whether the decimal is not what its nearest double means.
fn is_rounded(number: Number, double: f64) -> bool {
    /// So many digits survive in any double.
    const SAFE: u64 = 1_000_000_000_000_000;
    match number.to_stored() {
        Some((mantissa, _)) if mantissa.unsigned_abs() < SAFE => false,
        Some(_) => Number::from_f64(double) != Some(number),
        // A decimal that only 128 bits hold is none that a double means: that would be a double.
        None => true,
    }
}

fn at_one_scale(numbers: &[Number]) -> Option<(Vec<i64>, u8)> {
    let stored: Option<Vec<(i64, u8)>> = numbers.iter().map(|number| number.to_stored()).collect();
    let stored = stored?;
    let scale = stored.iter().map(|&(_, scale)| scale).max()?;
    let raise = |(mantissa, own): (i64, u8)| mantissa.checked_mul(unit(scale - own)?);
    let mantissas: Option<Vec<i64>> = stored.into_iter().map(raise).collect();
    Some((mantissas?, scale))
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

/// The strings of these codes, sorted and distinct, and by code its place among them.
fn sort_used(mut used: Vec<u32>, source: &StringInterner) -> (Vec<&str>, Vec<u32>) {
    used.sort_unstable_by_key(|&code| source.get(code));
    let mut entries: Vec<&str> = Vec::with_capacity(used.len());
    let mut ranks = vec![0; source.len()];
    let mut rank = 0;
    for code in used {
        let string = source.get(code);
        // A string may have several codes.
        if entries.last() != Some(&string) {
            rank = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            entries.push(string);
        }
        ranks[code as usize] = rank;
    }
    (entries, ranks)
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

/// How many rows have a value.
fn count(validity: Option<&Bitmap>, rows: usize) -> u64 {
    validity.map_or(rows, Bitmap::count_ones) as u64
}

/// The values of rows that have one.
fn present<'v, T>(values: &'v [T], validity: Option<&'v Bitmap>) -> impl Iterator<Item = &'v T> {
    let all = if validity.is_none() { values } else { &[] };
    let some = validity.into_iter().flat_map(|validity| validity.iter_ones());
    all.iter().chain(some.map(|row| &values[row]))
}
