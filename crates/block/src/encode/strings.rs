//! Strings that repeat become a sorted dictionary and codes. Strings that rarely repeat become
//! templates and numbers, compressed pages, or a dictionary, too, whichever is estimated to be
//! smallest.

use hadal_encoding::{Bitmap, ints, pages, strings};

use super::sorted_strings::{sort_used, text_bytes, used_codes, used_codes_of};
use super::templates::Templates;
use super::{Body, fill_placeholders, present};
use crate::directory::Encoding;
use crate::interner::StringInterner;

/// Columns with less text than this are not worth a page.
const PAGES_TEXT_BYTES_MIN: usize = 4 << 10;

pub(super) fn encode_strings(
    mut codes: Vec<u32>,
    source: &StringInterner,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut codes, validity);
    let used = used_codes(&codes, source.len());
    if hardly_repeat(present(&codes, validity).copied(), source)
        && let Some(encoding) = encode_one_by_one(&codes, &used, source, validity, body)
    {
        return encoding;
    }
    let (entries, ranks) = sort_used(used, source);
    codes.iter_mut().for_each(|code| *code = ranks[*code as usize]);
    body.codes(&codes);
    body.section(|out| strings::encode(&entries, out));
    Encoding::Dictionary { entries: entries.len() }
}

/// Whether so few of these strings repeat that a dictionary may not be the smallest encoding.
pub(super) fn hardly_repeat(codes: impl Iterator<Item = u32>, source: &StringInterner) -> bool {
    let mut count = 0;
    let used = used_codes_of(codes.inspect(|_| count += 1), source.len());
    used.len() > count / 2 && text_bytes(&used, source) >= PAGES_TEXT_BYTES_MIN
}

/// Encodes each row's string by itself, as templates and numbers or in pages; "" for a null row.
/// `None`, with nothing written, if a dictionary is smaller.
fn encode_one_by_one(
    codes: &[u32],
    used: &[u32],
    source: &StringInterner,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Option<Encoding> {
    let has = |row| validity.is_none_or(|validity| validity.get(row));
    let text = |(row, &code)| if has(row) { source.get(code) } else { "" };
    let values: Vec<&str> = codes.iter().enumerate().map(text).collect();
    let pages_bytes = pages::encoded_bytes(&values);
    // A dictionary's text is sorted, so it compresses at least as well as text in row order.
    let all: usize = values.iter().map(|value| value.len()).sum();
    let dictionary_bytes = pages_bytes.min(all) * text_bytes(used, source) / all.max(1)
        + ints::encoded_bytes(codes.len(), used.len() as u64 - 1);
    // Rendering templates takes longer than decompressing pages, so it must save a quarter.
    let most = pages_bytes.min(dictionary_bytes) / 4 * 3;
    if let Some(templates) = Templates::of(&values)
        && templates.bytes() < most
    {
        return Some(templates.write(body));
    }
    if dictionary_bytes <= pages_bytes {
        return None;
    }
    body.section(|out| pages::encode(&values, out));
    Some(Encoding::Pages)
}
