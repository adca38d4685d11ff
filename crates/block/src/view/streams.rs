//! The streams of one column, decoded to values.

use std::borrow::Cow;
use std::ops::Range;

use hadal_encoding::{IntsView, decimal_exceptions, pages, strings};

use super::numbers;
use crate::data::{Exacts, Values};
use crate::directory::{Encoding, Entry, SECTIONS_MAX};
use crate::error::BlockError;

/// The sections of a column's values. They borrow from the block, or from its decompressed bytes.
#[derive(Clone, Debug)]
pub(crate) struct Streams<'v> {
    pub(super) entry: &'v Entry,
    /// Values per stream: one per row; if the column is compact, one per row that has a value.
    pub(super) count: usize,
    pub(super) sections: [&'v [u8]; SECTIONS_MAX],
}

impl<'v> Streams<'v> {
    /// Decodes all values, but leaves compressed texts empty if `is_wanted` returns false for the
    /// range of their indexes.
    pub(super) fn decode(
        &self,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Values<'v>, BlockError> {
        let region = self.entry.region();
        let [first, second, ..] = self.sections;
        match self.entry.encoding {
            Encoding::Decimals { scale, .. } => {
                let mut mantissas = Vec::new();
                self.integers()?.decode_into(&mut mantissas);
                Ok(Values::Decimals { mantissas, scale })
            }
            Encoding::Doubles { .. } => Ok(Values::Doubles(self.doubles(first)?)),
            Encoding::Wide { scale, base, .. } => {
                Ok(numbers::decode_wide(&self.integers()?, scale, base))
            }
            Encoding::Mixed { .. } => {
                let exacts = decimal_exceptions::parse(second, self.count).map_err(region.of())?;
                Ok(Values::Mixed { doubles: self.doubles(first)?, exacts: Exacts::new(exacts) })
            }
            Encoding::Dictionary { entries } => self.decode_dictionary(entries),
            Encoding::Pages => self.decode_pages(is_wanted),
            Encoding::Templates { templates } => self.decode_templates(templates, is_wanted),
            Encoding::Lists { elements } => self.decode_lists(elements),
            Encoding::ListDictionary { elements, lists } => {
                self.decode_list_dictionary(elements, lists)
            }
        }
    }

    /// The first section, an integer per value.
    pub(super) fn integers(&self) -> Result<IntsView<'v>, BlockError> {
        IntsView::parse(self.sections[0], self.count).map_err(self.entry.region().of())
    }

    fn doubles(&self, section: &[u8]) -> Result<Vec<f64>, BlockError> {
        let (chunks, _) = section.as_chunks::<8>();
        let doubles: Vec<f64> = chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
        let odd = doubles.iter().position(|double| !double.is_finite());
        self.entry.region().check(odd.is_none() && doubles.len() == self.count, || {
            format!("row {} is not a finite double", odd.unwrap_or(doubles.len()))
        })?;
        Ok(doubles)
    }

    /// The sections with uncompressed texts, because one frame compresses them better together.
    pub(crate) fn plain_sections(&self) -> Result<[Cow<'v, [u8]>; SECTIONS_MAX], BlockError> {
        let mut sections = self.sections.map(Cow::Borrowed);
        let plain = |section: &mut Cow<'v, [u8]>, of: &'v [u8], count| {
            strings::plain(of, count).map(|plain| *section = plain)
        };
        let [first, second, ..] = self.sections;
        let done = match self.entry.encoding {
            Encoding::Pages => {
                pages::plain(first, self.count).map(|plain| sections[0] = Cow::Owned(plain))
            }
            Encoding::Lists { elements } => plain(&mut sections[0], first, elements),
            Encoding::Dictionary { entries: count }
            | Encoding::Templates { templates: count }
            | Encoding::ListDictionary { elements: count, .. } => {
                plain(&mut sections[1], second, count)
            }
            _ => Ok(()),
        };
        done.map_err(self.entry.region().of())?;
        Ok(sections)
    }
}
