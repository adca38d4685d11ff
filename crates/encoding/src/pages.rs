//! Strings that hardly repeat: whole strings in LZ4 pages of about 64 KiB.
//!
//! ```text
//!  length | lengths: integers(n) | count | (strings, stored bytes) per page | page | page | ...
//! ```
//!
//! A reader of few rows decompresses only the pages of these rows. Layout to the byte:
//! `spec/row-block.md` section 6.

use std::borrow::Cow;
use std::ops::Range;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};

use crate::cursor::{Cursor, write_length, write_prefixed};
use crate::{EncodingError, StringDictionary, lz4, strings};

/// A page is closed when it holds this many bytes.
const PAGE_BYTES: usize = 64 << 10;
/// Maximum bytes of a page: the last string may exceed [`PAGE_BYTES`].
const PAGE_BYTES_MAX: usize = PAGE_BYTES + STRING_BYTES_MAX;

/// Appends these strings, each at most 64 KiB long, as pages.
pub fn encode<S: AsRef<str>>(values: &[S], out: &mut Vec<u8>) {
    write_prefixed(out, |out| strings::encode_lengths(values, out));
    let mut table = Vec::new();
    let mut stored = Vec::new();
    let mut count = 0;
    let mut rest = values;
    while !rest.is_empty() {
        let (page, after) = rest.split_at(page_strings(rest));
        let before = stored.len();
        store(page, &mut stored);
        write_length(page.len(), &mut table);
        write_length(stored.len() - before, &mut table);
        count += 1;
        rest = after;
    }
    write_length(count, out);
    out.extend_from_slice(&table);
    out.extend_from_slice(&stored);
}

/// The same pages, uncompressed.
///
/// # Errors
/// When `bytes` are not exactly pages of `count` strings.
pub fn plain(bytes: &[u8], count: usize) -> Result<Vec<u8>, EncodingError> {
    let view = PagesView::parse(bytes, count)?;
    let lengths = Cursor::new(bytes, "pages").prefixed()?;
    let (mut out, mut text) = (Vec::new(), Vec::new());
    write_prefixed(&mut out, |out| out.extend_from_slice(lengths));
    write_length(view.page_count(), &mut out);
    for page in 0..view.page_count() {
        let before = text.len();
        view.decompress(page, &mut text)?;
        write_length(view.page_strings(page).len(), &mut out);
        write_length(text.len() - before, &mut out);
    }
    out.extend_from_slice(&text);
    Ok(out)
}

/// An estimate of the bytes of these strings as pages; compresses the first page.
pub fn encoded_bytes<S: AsRef<str>>(values: &[S]) -> usize {
    let bytes = |values: &[S]| values.iter().map(|value| value.as_ref().len()).sum::<usize>();
    let first = &values[..page_strings(values)];
    let mut stored = Vec::new();
    store(first, &mut stored);
    stored.len() * bytes(values) / bytes(first).max(1) + values.len()
}

/// The number of strings, from the first on, that make a page.
fn page_strings<S: AsRef<str>>(values: &[S]) -> usize {
    let mut bytes = 0;
    let full = values.iter().position(|value| {
        bytes += value.as_ref().len();
        bytes >= PAGE_BYTES
    });
    full.map_or(values.len(), |last| last + 1)
}

fn store<S: AsRef<str>>(page: &[S], out: &mut Vec<u8>) {
    let plain: Vec<u8> = page.iter().flat_map(|value| value.as_ref().as_bytes()).copied().collect();
    lz4::store(&plain, out);
}

/// Pages of strings in encoded form.
#[derive(Clone, Debug)]
pub struct PagesView<'a> {
    /// The start of each string in the text of all pages, and the end of the last.
    offsets: Vec<u32>,
    pages: Vec<Page<'a>>,
}

#[derive(Clone, Debug)]
struct Page<'a> {
    strings: Range<usize>,
    stored: &'a [u8],
}

impl<'a> PagesView<'a> {
    /// Reads the lengths and the table of pages of `count` strings. Cost: O(count).
    ///
    /// # Errors
    /// When `bytes` are not exactly such pages.
    pub fn parse(bytes: &'a [u8], count: usize) -> Result<Self, EncodingError> {
        let mut cursor = Cursor::new(bytes, "pages");
        let offsets =
            strings::parse_offsets(cursor.prefixed()?, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
        let page_count = cursor.length("pages", count)?;
        // An entry has at least two bytes.
        let mut table = Vec::with_capacity(page_count.min(cursor.rest().len() / 2));
        let mut first = 0;
        for _ in 0..page_count {
            let strings = cursor.length("strings in a page", count - first)?;
            table.push((first..first + strings, cursor.length("a page", PAGE_BYTES_MAX)?));
            first += strings;
        }
        if first != count {
            let (value, expected) = (first as u64, count as u64);
            return Err(EncodingError::Mismatch { what: "strings in pages", value, expected });
        }
        let mut pages = Vec::with_capacity(page_count);
        for (strings, stored) in table {
            pages.push(Page { strings, stored: cursor.take(stored)? });
        }
        cursor.end()?;
        Ok(Self { offsets, pages })
    }

    /// How many pages there are.
    const fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// The indexes of the strings in a page.
    ///
    /// # Panics
    /// When `page` is not below [`Self::page_count`].
    fn page_strings(&self, page: usize) -> Range<usize> {
        self.pages[page].strings.clone()
    }

    /// Decompresses all pages: one entry per string, in stored order, not sorted.
    ///
    /// # Errors
    /// When a page does not decompress to its strings.
    pub fn decode(self) -> Result<StringDictionary<'static>, EncodingError> {
        self.decode_where(|_| true)
    }

    /// Decompresses the pages for which `is_wanted` returns true, given the indexes of a page's
    /// strings. The result has one entry per string, as in [`Self::decode`]; strings of other pages
    /// are empty.
    ///
    /// # Errors
    /// When a page does not decompress to its strings.
    pub fn decode_where(
        self,
        is_wanted: impl Fn(Range<usize>) -> bool,
    ) -> Result<StringDictionary<'static>, EncodingError> {
        let (mut text, mut offsets) = (Vec::new(), self.offsets.clone());
        let mut left_out = 0;
        for (page, Page { strings, .. }) in self.pages.iter().enumerate() {
            let (first, last) = (self.offsets[strings.start], self.offsets[strings.end]);
            let ends = &mut offsets[strings.start + 1..=strings.end];
            if is_wanted(strings.clone()) {
                self.decompress(page, &mut text)?;
                ends.iter_mut().for_each(|end| *end -= left_out);
            } else {
                ends.fill(first - left_out);
                left_out += last - first;
            }
        }
        StringDictionary::from_utf8(Cow::Owned(text), offsets)
    }

    /// Decompresses one page after another, in the same memory, and calls `visit` with the index of
    /// a page's first string and with its strings. Skips the pages for which `is_wanted` returns
    /// false, given the indexes of a page's strings.
    ///
    /// # Errors
    /// When a page does not decompress to its strings.
    pub fn for_each_text(
        &self,
        is_wanted: impl Fn(Range<usize>) -> bool,
        mut visit: impl FnMut(usize, &StringDictionary<'_>),
    ) -> Result<(), EncodingError> {
        let mut some = StringDictionary::default();
        for (page, Page { strings, .. }) in self.pages.iter().enumerate() {
            if is_wanted(strings.clone()) {
                let (mut text, mut offsets) = some.into_parts();
                text.clear();
                self.decompress(page, &mut text)?;
                let start = self.offsets[strings.start];
                offsets.clear();
                let ends = &self.offsets[strings.start..=strings.end];
                offsets.extend(ends.iter().map(|end| end - start));
                some = StringDictionary::from_utf8(Cow::Owned(text), offsets)?;
                visit(strings.start, &some);
            }
        }
        Ok(())
    }

    /// How many strings there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no strings.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a page's text, of exactly the total length of its strings.
    fn decompress(&self, page: usize, text: &mut Vec<u8>) -> Result<(), EncodingError> {
        let Page { strings, stored } = &self.pages[page];
        let expected = (self.offsets[strings.end] - self.offsets[strings.start]) as usize;
        if expected > PAGE_BYTES_MAX {
            let (value, most) = (expected as u64, PAGE_BYTES_MAX as u64);
            return Err(EncodingError::Limit { what: "bytes in a page", value, most });
        }
        lz4::restore(stored, expected, page, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of<S: AsRef<str>>(values: &[S]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(values, &mut out);
        out
    }

    fn assert_survives<S: AsRef<str>>(values: &[S]) -> usize {
        let bytes = bytes_of(values);
        let view = PagesView::parse(&bytes, values.len()).expect("parses");
        let mut next = 0;
        for page in 0..view.page_count() {
            let strings = view.page_strings(page);
            assert_eq!(strings.start, next);
            next = strings.end;
        }
        assert_eq!(next, values.len());
        let pages = view.page_count();
        for (first, step) in [(0, 1), (0, 2), (1, 2), (1, 3), (pages, 1)] {
            let starts: Vec<usize> =
                (first..pages).step_by(step).map(|page| view.page_strings(page).start).collect();
            let is_wanted = |strings: &Range<usize>| starts.contains(&strings.start);
            let mut expected: Vec<&str> = Vec::new();
            for strings in (0..pages).map(|page| view.page_strings(page)) {
                let texts = values[strings.clone()].iter().map(AsRef::as_ref);
                expected.extend(texts.map(|text| if is_wanted(&strings) { text } else { "" }));
            }
            let decoded = view.clone().decode_where(|strings| is_wanted(&strings));
            assert!(decoded.expect("decodes").iter().eq(expected.iter().copied()));
            let visit = |first: usize, texts: &StringDictionary<'_>| {
                assert!(starts.contains(&first));
                assert!(texts.iter().eq(expected[first..first + texts.len()].iter().copied()));
            };
            view.for_each_text(|strings| is_wanted(&strings), visit).expect("decodes");
        }
        assert!(view.decode().expect("decodes").iter().eq(values.iter().map(AsRef::as_ref)));
        let plain = plain(&bytes, values.len()).expect("the same pages");
        let view = PagesView::parse(&plain, values.len()).expect("parses");
        assert_eq!(view.page_count(), pages);
        assert!(view.decode().expect("decodes").iter().eq(values.iter().map(AsRef::as_ref)));
        let text: usize = values.iter().map(|value| value.as_ref().len()).sum();
        assert!(plain.len() >= text.max(bytes.len()));
        pages
    }

    #[test]
    fn strings_survive() {
        assert_eq!(assert_survives::<&str>(&[]), 0);
        assert_eq!(assert_survives(&[""]), 1);
        assert_eq!(assert_survives(&["b", "a", "", "é"]), 1);
        let huge = "é".repeat(STRING_BYTES_MAX / 2);
        assert_eq!(assert_survives(&["short", &huge, &huge, "", "short"]), 3);
        let lines: Vec<String> = (0..5_000).map(|i| format!("GET /user/{i}?n={}", i * i)).collect();
        assert!(assert_survives(&lines) > 1);
        let plain: usize = lines.iter().map(String::len).sum();
        let (estimate, actual) = (encoded_bytes(&lines), bytes_of(&lines).len());
        assert!(actual < plain * 2 / 3, "{actual} of {plain}");
        assert!(estimate.abs_diff(actual) < actual / 4, "{estimate} for {actual}");
    }

    #[test]
    fn bombs_do_not_go_off() {
        // One page whose strings together exceed the page limit.
        let mut bytes = Vec::new();
        let count = 16;
        let huge = "x".repeat(STRING_BYTES_MAX);
        write_prefixed(&mut bytes, |out| strings::encode_lengths(&vec![&huge; count], out));
        bytes.extend([1, 16, 1, 0]);
        let view = PagesView::parse(&bytes, count).expect("parses");
        assert!(plain(&bytes, count).is_err());
        assert!(matches!(view.decode(), Err(EncodingError::Limit { what: "bytes in a page", .. })));
    }

    proptest! {
        #[test]
        fn mutated_pages_never_panic(
            lengths in prop::collection::vec(0usize..40, 1..50),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let values: Vec<String> = lengths.iter().map(|&length| "ab é".repeat(length)).collect();
            let mut bytes = bytes_of(&values);
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = plain(&bytes, values.len());
            if let Ok(view) = PagesView::parse(&bytes, values.len()) {
                let _ = view.for_each_text(|_| true, |_, texts| assert!(texts.len() <= view.len()));
                let _ = view.decode();
            }
        }
    }
}
