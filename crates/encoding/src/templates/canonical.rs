//! Texts in the one form that each of them has: so equal texts have equal forms, wherever they were
//! stored, and can be told apart without being put together.
//!
//! A text's form is what lifting decimal digits makes of it. What a block has mostly is that
//! already: templates in which a placeholder stands for all digits of its place. All else is put
//! together and lifted anew; and where that is no good either, the whole text is its form, with a
//! mark in front.

use hadal_types::limits::STRING_BYTES_MAX;

use super::renderer::{NUMBER_BYTES_MAX, Pieces, fill};
use super::{Digits, HEX, NUMBER, NUMBER_LIMIT, TemplatesView, is_placeholder, lift};
use crate::{EncodingError, StringDictionary};

/// Stands in front of a text that is its own template; no placeholder.
const WHOLE: u8 = 0x0F;
/// One of so many texts may have to be put together, or it is better to do so with all.
const OTHERS: usize = 4;

/// Texts, each in its one form.
#[derive(Clone, Debug, Default)]
pub struct CanonicalStrings<'a> {
    /// Those that texts came with.
    templates: StringDictionary<'a>,
    /// What follows these: those of texts that had to be lifted, of which several may be the same.
    others: Vec<String>,
    /// By text: the code of its template.
    codes: Vec<u32>,
    /// By text: where its numbers end.
    ends: Vec<u32>,
    numbers: Vec<i64>,
}

impl CanonicalStrings<'static> {
    /// The forms of these texts.
    #[must_use]
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut lifted = Self::default();
        texts.for_each(|text| lifted.push_text(text, 0));
        lifted
    }
}

impl CanonicalStrings<'_> {
    /// Lifts a text; `first` is the code of the first of the other templates.
    fn push_text(&mut self, text: &str, first: usize) {
        let (start, mut template) = (self.numbers.len(), Vec::new());
        let is_lifted = lift(text, Digits::Decimal, &mut template, &mut self.numbers);
        let template = String::from_utf8(template).ok();
        let template = template.filter(|template| is_lifted && is_form(template));
        self.others.push(template.unwrap_or_else(|| {
            self.numbers.truncate(start);
            [char::from(WHOLE).encode_utf8(&mut [0; 4]), text].concat()
        }));
        self.end(short(first + self.others.len() - 1));
    }

    fn end(&mut self, code: u32) {
        self.codes.push(code);
        self.ends.push(short(self.numbers.len()));
    }

    /// How many texts there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The templates, by code.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().chain(self.others.iter().map(String::as_str))
    }

    /// The code of a text's template, and its numbers.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(u32, &[i64])> {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        let numbers = self.numbers.get(*start as usize..*self.ends.get(index)? as usize)?;
        Some((*self.codes.get(index)?, numbers))
    }

    /// A text, put together.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<String> {
        let (code, numbers) = self.get(index)?;
        let other = || self.others.get((code as usize).checked_sub(self.templates.len())?);
        let template = self.templates.get(code).or_else(|| other().map(String::as_str))?;
        put_together(template, numbers.iter().copied())
    }
}

impl<'a> TemplatesView<'a> {
    /// The forms of all strings; `None` where many would have to be put together for that.
    ///
    /// # Errors
    /// When the numbers are not those of the templates.
    pub fn into_lifted(self) -> Result<Option<CanonicalStrings<'a>>, EncodingError> {
        let Self { templates, codes, numbers } = self;
        let mut pieces = Pieces::parse(&templates, &codes, numbers)?;
        // A look at all bytes at once, and none at each template, mostly.
        let is_clean = !templates.text().bytes().fold(false, |any, byte| any | is_no_form(byte));
        let are_forms: Vec<bool> = match is_clean {
            true => pieces.are_apart(),
            false => templates.iter().map(is_form).collect(),
        };
        let mut lifted = CanonicalStrings::default();
        lifted.ends.reserve(codes.len());
        lifted.codes.reserve(codes.len());
        let mut text = Vec::new();
        for &code in &codes {
            let start = lifted.numbers.len();
            let has_form = pieces.take_numbers(code, &mut lifted.numbers);
            if has_form && are_forms[code as usize] {
                lifted.end(code);
                continue;
            }
            if lifted.others.len() >= codes.len() / OTHERS {
                return Ok(None);
            }
            text.clear();
            let template = templates.get(code).unwrap_or_default();
            fill(template, lifted.numbers.drain(start..), &mut text)?;
            let text = std::str::from_utf8(&text).unwrap_or_default();
            lifted.push_text(text, templates.len());
        }
        drop(pieces);
        Ok(Some(CanonicalStrings { templates, ..lifted }))
    }
}

/// The text of a form, of which more numbers may follow; `None` of what is none.
#[must_use]
pub fn put_together(template: &str, numbers: impl Iterator<Item = i64>) -> Option<String> {
    if let Some(whole) = template.strip_prefix(char::from(WHOLE)) {
        return Some(whole.to_owned());
    }
    let mut text = Vec::with_capacity(template.len() + 2 * NUMBER_BYTES_MAX);
    fill(template, numbers, &mut text).ok()?;
    String::from_utf8(text).ok()
}

/// What all texts of a template begin with.
#[must_use]
pub fn beginning(template: &str) -> &str {
    if let Some(whole) = template.strip_prefix(char::from(WHOLE)) {
        return whole;
    }
    let mut parts = template.split(|is: char| u8::try_from(is).is_ok_and(is_placeholder));
    parts.next().unwrap_or_default()
}

/// Whether a template, with numbers that are [`is_formed`], is what lifting makes of its texts: no
/// digit is left in it, and no two numbers touch.
fn is_form(template: &str) -> bool {
    let bytes = template.as_bytes();
    let placeholders = bytes.iter().filter(|&&byte| is_placeholder(byte)).count();
    let touch = |pair: &[u8]| pair.iter().all(|&byte| is_placeholder(byte));
    !bytes.iter().any(|&byte| is_no_form(byte))
        && !bytes.windows(2).any(touch)
        && bytes.len() + placeholders * NUMBER_BYTES_MAX <= STRING_BYTES_MAX
}

/// Whether a byte is in no form, but in a text that is its own template.
fn is_no_form(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == WHOLE
}

/// Whether a number is what lifting makes of its decimal digits, alone in their place: those of a
/// fixed number of digits have a zero in front.
#[inline]
pub(super) fn is_formed(placeholder: u8, number: u64) -> bool {
    const SIXES: u64 = 0x0666_6666_6666_6666;
    const CARRIES: u64 = 0x1111_1111_1111_1110;
    if placeholder == NUMBER {
        return number < NUMBER_LIMIT;
    }
    // Digits that are letters carry into the next one.
    placeholder > HEX
        && number >> (4 * u32::from(placeholder - HEX)) == 0
        && (number.wrapping_add(SIXES) ^ number ^ SIXES) & CARRIES == 0
}

/// Of counts that are far below 2^32.
fn short(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
