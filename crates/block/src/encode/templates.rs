//! Strings as templates and numbers, if templates repeat.

use hadal_encoding::templates::{Digits, encode_numbers, lift};
use hadal_encoding::{ints, strings};
use hadal_types::limits::TEMPLATE_NUMBERS_MAX;

use super::Body;
use super::sorted_strings::sort_used;
use crate::directory::Encoding;
use crate::interner::StringInterner;

/// After this many strings it is clear whether templates repeat.
const PROBE_STRINGS: usize = 4_096;
/// A sample of this many strings decides which digits to lift.
const SAMPLE_STRINGS: usize = 256;

/// The sections of a column of templates.
pub(super) struct Templates {
    codes: Vec<u8>,
    templates: Vec<u8>,
    template_count: usize,
    numbers: Vec<u8>,
}

/// Strings, each as a template and the numbers that were taken out of it.
#[derive(Default)]
struct TemplateStrings {
    templates: StringInterner,
    /// One template code per string.
    codes: Vec<u32>,
    numbers: Vec<i64>,
    /// The number of strings that are not "", the value of null rows.
    texts: usize,
}

impl Templates {
    /// Encodes these strings; `None` if most have a unique template, or if one contains a
    /// placeholder byte.
    pub(super) fn of(values: &[&str]) -> Option<Self> {
        let lifted = TemplateStrings::new(values.iter().copied(), digits_of(values)?)?;
        let TemplateStrings { templates: source, mut codes, numbers: lifted, .. } = lifted;
        let all = (0u32..).take(source.len()).collect();
        let (entries, ranks) = sort_used(all, &source);
        codes.iter_mut().for_each(|code| *code = ranks[*code as usize]);
        let (mut code_bytes, mut templates, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        ints::encode_codes(&codes, &mut code_bytes);
        strings::encode(&entries, &mut templates);
        encode_numbers(&codes, &entries, &lifted, &mut numbers);
        Some(Self { codes: code_bytes, templates, template_count: entries.len(), numbers })
    }

    /// Bytes of all sections.
    pub(super) fn bytes(&self) -> usize {
        self.codes.len() + self.templates.len() + self.numbers.len()
    }

    pub(super) fn write(&self, body: &mut Body) -> Encoding {
        for section in [&self.codes, &self.templates, &self.numbers] {
            body.section(|out| out.extend_from_slice(section));
        }
        Encoding::Templates { templates: self.template_count }
    }
}

impl TemplateStrings {
    fn new<'v>(values: impl Iterator<Item = &'v str>, digits: Digits) -> Option<Self> {
        let mut lifted = Self::default();
        let mut template = Vec::new();
        for value in values {
            template.clear();
            if !lift(value, digits, &mut template, &mut lifted.numbers) {
                return None;
            }
            let template = std::str::from_utf8(&template).ok()?;
            lifted.codes.push(lifted.templates.intern(template));
            lifted.texts += usize::from(!value.is_empty());
            if lifted.texts == PROBE_STRINGS && lifted.is_useless() {
                return None;
            }
        }
        let fits = lifted.numbers.len() <= TEMPLATE_NUMBERS_MAX && !lifted.is_useless();
        fits.then_some(lifted)
    }

    /// Whether more than seven of eight strings have a unique template.
    fn is_useless(&self) -> bool {
        self.templates.len() > self.texts - self.texts / 8 + 1
    }

    fn template_bytes(&self) -> usize {
        (0u32..).take(self.templates.len()).map(|code| self.templates.get(code).len()).sum()
    }
}

/// The digits that give the fewer template bytes in a sample; `None` if neither kind is useful.
fn digits_of(values: &[&str]) -> Option<Digits> {
    let sample = || values.iter().copied().step_by(values.len().div_ceil(SAMPLE_STRINGS).max(1));
    let bytes =
        |digits| TemplateStrings::new(sample(), digits).map(|lifted| lifted.template_bytes());
    match (bytes(Digits::Decimal), bytes(Digits::Hexadecimal)) {
        (None, None) => None,
        (Some(decimal), hexadecimal)
            if hexadecimal.is_none_or(|bytes| decimal <= bytes + bytes / 2) =>
        {
            Some(Digits::Decimal)
        }
        _ => Some(Digits::Hexadecimal),
    }
}
