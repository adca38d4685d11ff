//! Splits templates at their placeholders, and renders strings from templates and numbers.

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX, TEMPLATE_NUMBERS_MAX};

use super::digits::{write_decimal, write_hex};
use super::lift::is_formed;
use super::{HEX, NUMBER, NUMBER_LIMIT, STREAMS_MAX, is_placeholder};
use crate::strings::front_coding::{CHUNK, copy};
use crate::{Cursor, EncodingError, IntsView, StringDictionary};

/// Maximum bytes of a lifted number.
pub(super) const NUMBER_BYTES_MAX: usize = 18;

/// Renders the strings of templates and numbers, in order.
#[derive(Debug)]
pub(super) struct Pieces<'v> {
    text: &'v [u8],
    pieces: Vec<Piece>,
    templates: Vec<Template>,
    /// The remaining numbers of each stream.
    numbers: Vec<std::vec::IntoIter<i64>>,
}

/// The text before a placeholder, and the placeholder; or the text after the last one.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u32,
    length: u32,
    /// 0 in a template's last piece.
    placeholder: u8,
    stream: u8,
}

/// One template's pieces, and the maximum bytes of its strings.
#[derive(Clone, Copy, Debug)]
struct Template {
    first: u32,
    end: u32,
    bytes_max: u32,
}

impl<'v> Pieces<'v> {
    /// Splits the templates, and decodes the numbers of strings with these codes. The codes must be
    /// valid.
    pub(super) fn parse(
        templates: &'v StringDictionary<'_>,
        codes: &[u32],
        numbers: &[u8],
    ) -> Result<Self, EncodingError> {
        let mut pieces = cut(templates)?;
        let mut cursor = Cursor::new(numbers, "numbers of templates");
        let stream_count = cursor.length("streams of numbers", STREAMS_MAX)?;
        let count = pieces.pieces.iter().filter(|piece| piece.placeholder != 0).count();
        let mut streams = Vec::new();
        let stream = IntsView::parse(cursor.prefixed()?, count)?;
        stream.decode_codes_into(stream_count, &mut streams)?;
        let placeholders = pieces.pieces.iter_mut().filter(|piece| piece.placeholder != 0);
        for (piece, stream) in placeholders.zip(streams) {
            piece.stream = u8::try_from(stream).unwrap_or_default();
        }
        for count in pieces.stream_lengths(codes)?.into_iter().take(stream_count) {
            let mut numbers = Vec::new();
            IntsView::parse(cursor.prefixed()?, count)?.decode_into(&mut numbers);
            pieces.numbers.push(numbers.into_iter());
        }
        cursor.end()?;
        Ok(pieces)
    }

    /// The number of numbers that the strings take from each stream.
    fn stream_lengths(&self, codes: &[u32]) -> Result<[usize; STREAMS_MAX], EncodingError> {
        let mut uses = vec![0usize; self.templates.len()];
        codes.iter().for_each(|&code| uses[code as usize] += 1);
        let mut lengths = [0; STREAMS_MAX];
        for (template, &uses) in self.templates.iter().zip(&uses) {
            for piece in self.pieces_of(*template).iter().filter(|piece| piece.placeholder != 0) {
                lengths[usize::from(piece.stream)] += uses;
            }
        }
        let (value, most) = (lengths.iter().sum::<usize>(), TEMPLATE_NUMBERS_MAX);
        if value > most {
            let (value, most) = (value as u64, most as u64);
            return Err(EncodingError::Limit { what: "numbers of templates", value, most });
        }
        Ok(lengths)
    }

    fn pieces_of(&self, template: Template) -> &[Piece] {
        &self.pieces[template.first as usize..template.end as usize]
    }

    /// Per template: whether no two placeholders are adjacent, and its strings are within the
    /// length limit.
    pub(super) fn are_apart(&self) -> Vec<bool> {
        let is = |template: &Template| {
            let mut after_first = self.pieces_of(*template).iter().skip(1);
            after_first.all(|piece| piece.length > 0)
                && template.bytes_max as usize <= STRING_BYTES_MAX
        };
        self.templates.iter().map(is).collect()
    }

    /// Skips a string.
    pub(super) fn skip(&mut self, code: u32) {
        let template = self.templates[code as usize];
        for piece in &self.pieces[template.first as usize..template.end as usize] {
            if piece.placeholder != 0 {
                self.numbers[usize::from(piece.stream)].next();
            }
        }
    }

    /// Skips a string and appends its numbers to `out`; returns whether all are [`is_formed`].
    #[inline]
    pub(super) fn take_numbers(&mut self, code: u32, out: &mut Vec<i64>) -> bool {
        let template = self.templates[code as usize];
        let mut are_formed = true;
        for piece in &self.pieces[template.first as usize..template.end as usize] {
            if piece.placeholder != 0 {
                let number = self.numbers[usize::from(piece.stream)].next().unwrap_or_default();
                are_formed &= is_formed(piece.placeholder, number.cast_unsigned());
                out.push(number);
            }
        }
        are_formed
    }

    /// Writes a string to `out` from `at` on; returns its end. The bytes of `out` after the end are
    /// unspecified.
    #[inline]
    pub(super) fn write(
        &mut self,
        code: u32,
        at: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, EncodingError> {
        let template = self.templates[code as usize];
        let room = at + template.bytes_max as usize + 2 * CHUNK;
        if out.len() < room {
            out.resize(room.max(2 * out.len()), 0);
        }
        let mut end = at;
        for piece in &self.pieces[template.first as usize..template.end as usize] {
            let length = piece.length as usize;
            copy(&self.text[piece.start as usize..], &mut out[end..], length);
            end += length;
            if piece.placeholder != 0 {
                let number = self.numbers[usize::from(piece.stream)].next().unwrap_or_default();
                end += write_number(piece.placeholder, number.cast_unsigned(), &mut out[end..])?;
            }
        }
        check(end - at, STRING_BYTES_MAX, "a string's length")?;
        check(end, BLOCK_BYTES_MAX, "total length")?;
        Ok(end)
    }
}

/// Appends one string to `out`. Fails if `out` is then longer than one string may be.
pub(super) fn fill(
    template: &str,
    mut numbers: impl Iterator<Item = i64>,
    out: &mut Vec<u8>,
) -> Result<(), EncodingError> {
    let mut rest = template.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| is_placeholder(byte)) {
        let number = numbers.next().unwrap_or_default().cast_unsigned();
        let mut digits = [0; CHUNK];
        let count = write_number(rest[at], number, &mut digits)?;
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&digits[..count]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    check(out.len(), STRING_BYTES_MAX, "a string's length")
}

#[inline]
fn check(value: usize, most: usize, what: &'static str) -> Result<(), EncodingError> {
    if value <= most {
        return Ok(());
    }
    Err(EncodingError::Limit { what, value: value as u64, most: most as u64 })
}

/// Splits all templates; the streams are not assigned yet.
fn cut<'v>(dictionary: &'v StringDictionary<'_>) -> Result<Pieces<'v>, EncodingError> {
    let text = dictionary.text().as_bytes();
    let mut templates = Vec::with_capacity(dictionary.len());
    let mut pieces = Vec::with_capacity(dictionary.len() * 2);
    let mut next = next_placeholder(text, 0);
    let mut count = 0;
    for ends in dictionary.offsets().windows(2) {
        let (mut start, end) = (ends[0], ends[1]);
        let first = pieces.len();
        while let Some(at) = next.filter(|&at| at < end) {
            let placeholder = text[at as usize];
            pieces.push(Piece { start, length: at - start, placeholder, stream: 0 });
            start = at + 1;
            next = next_placeholder(text, start);
        }
        count += pieces.len() - first;
        check(count, TEMPLATE_NUMBERS_MAX, "placeholders of templates")?;
        let numbers = index_of(pieces.len() - first);
        let bytes_max = (ends[1] - ends[0]) + numbers * index_of(NUMBER_BYTES_MAX);
        if start < end {
            pieces.push(Piece { start, length: end - start, placeholder: 0, stream: 0 });
        }
        let (first, end) = (index_of(first), index_of(pieces.len()));
        templates.push(Template { first, end, bytes_max });
    }
    Ok(Pieces { text, pieces, templates, numbers: Vec::new() })
}

/// Converts counts that are far below 2^32.
fn index_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The position of the next placeholder, from `at` on. Tests eight bytes at a time.
pub(super) fn next_placeholder(text: &[u8], at: u32) -> Option<u32> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut start = at as usize;
    while let Some(word) = text.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        // Placeholders are control characters, and others are rare. Any other byte carries into the
        // highest bit of its byte, and no further, or has that bit set.
        let word = u64::from_le_bytes(*word);
        let controls = !(((word & !HIGH) + 0x6060_6060_6060_6060) | word) & HIGH;
        if controls == 0 {
            start += 8;
            continue;
        }
        start += controls.trailing_zeros() as usize / 8;
        if is_placeholder(text[start]) {
            return Some(index_of(start));
        }
        start += 1;
    }
    let position = text[start..].iter().position(|&byte| is_placeholder(byte))?;
    Some(index_of(start + position))
}

/// Writes the digits to the front of `out`, which must have [`CHUNK`] bytes; returns their number.
#[inline]
pub(super) fn write_number(
    placeholder: u8,
    number: u64,
    out: &mut [u8],
) -> Result<usize, EncodingError> {
    if placeholder != NUMBER {
        let digits = usize::from(placeholder - HEX) + 1;
        write_hex(number, digits, out);
        return Ok(digits);
    }
    if number >= NUMBER_LIMIT {
        let most = NUMBER_LIMIT - 1;
        return Err(EncodingError::Limit { what: "a decimal number", value: number, most });
    }
    Ok(write_decimal(number, out))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn placeholders_are_found_among_all_bytes(
            text in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..0x22, b'a'..=b'z'], 0..60),
        ) {
            for at in 0..=text.len() {
                let position = text[at..].iter().position(|&byte| is_placeholder(byte));
                let expected = position.map(|position| index_of(at + position));
                prop_assert_eq!(next_placeholder(&text, index_of(at)), expected);
            }
        }
    }
}
