//! Reads columns of strings and lists.

use std::ops::Range;

use hadal_encoding::{IntsView, ListDictionary, StringDictionary, TemplatesView};
use hadal_encoding::{lists::Lists, pages::PagesView};
use hadal_types::Kind;

use super::{ColumnView, Streams};
use crate::data::Values;
use crate::directory::Encoding;
use crate::error::BlockError;

/// The strings of a row block column in their encoded form.
#[derive(Clone, Debug)]
pub enum StringsView<'a> {
    /// Strings that repeat: a code per row.
    Dictionary {
        /// The codes. Decoding them must check that they are below the number of entries.
        codes: IntsView<'a>,
        /// The strings, sorted.
        entries: StringDictionary<'a>,
    },
    /// Strings that rarely repeat: whole texts.
    Pages(PagesView<'a>),
    /// Strings that rarely repeat except for numbers in them.
    Templates(TemplatesView<'a>),
}

impl StringsView<'_> {
    /// The number of strings, in row order: one per row, "" or any string for a null row. If the
    /// column is compact, one per row that has a value.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Dictionary { codes, .. } => codes.len(),
            Self::Pages(pages) => pages.len(),
            Self::Templates(templates) => templates.len(),
        }
    }

    /// Whether there are no strings.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ColumnView<'_> {
    /// The strings in encoded form; `None` for other kinds.
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn strings(&self) -> Result<Option<StringsView<'_>>, BlockError> {
        let view = match self.entry.encoding {
            Encoding::Dictionary { entries } => {
                let streams = self.streams()?;
                let codes = streams.integers()?;
                StringsView::Dictionary { codes, entries: streams.entries(entries)? }
            }
            Encoding::Pages => StringsView::Pages(self.streams()?.pages()?),
            Encoding::Templates { templates } => {
                StringsView::Templates(self.streams()?.templates(templates)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(view))
    }

    /// The codes of a string dictionary, and its number of entries, which are not decoded; `None`
    /// for other encodings. Codes are as in [`StringsView`].
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn string_codes(&self) -> Result<Option<(IntsView<'_>, usize)>, BlockError> {
        let Encoding::Dictionary { entries } = self.entry.encoding else { return Ok(None) };
        Ok(Some((self.streams()?.integers()?, entries)))
    }

    /// The entries of a string dictionary, sorted; empty for other encodings.
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn string_entries(&self) -> Result<StringDictionary<'_>, BlockError> {
        match self.entry.encoding {
            Encoding::Dictionary { entries } => self.streams()?.entries(entries),
            _ => Ok(StringDictionary::default()),
        }
    }
}

impl<'v> Streams<'v> {
    pub(super) fn decode_dictionary(&self, entries: usize) -> Result<Values<'v>, BlockError> {
        let codes = self.codes(self.sections[0], entries)?;
        Ok(Values::Strings { codes, dictionary: self.entries(entries)? })
    }

    /// Leaves the texts of a page empty if `is_wanted` returns false for their range.
    pub(super) fn decode_pages(
        &self,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Values<'v>, BlockError> {
        let dictionary = self.pages()?.decode_where(is_wanted);
        let dictionary = dictionary.map_err(self.entry.region().of())?;
        Ok(Values::Strings { codes: self.identity_codes(), dictionary })
    }

    /// Leaves texts empty, without rendering them, if `is_wanted` returns false for their range.
    pub(super) fn decode_templates(
        &self,
        templates: usize,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Values<'v>, BlockError> {
        let dictionary = self.templates(templates)?.decode_where(is_wanted);
        let dictionary = dictionary.map_err(self.entry.region().of())?;
        Ok(Values::Strings { codes: self.identity_codes(), dictionary })
    }

    pub(super) fn decode_lists(&self, elements: usize) -> Result<Values<'v>, BlockError> {
        let [strings, lists, ..] = self.sections;
        let lists = self.lists(strings, elements, lists, self.count)?;
        Ok(Values::Lists { codes: self.identity_codes(), lists })
    }

    pub(super) fn decode_list_dictionary(
        &self,
        elements: usize,
        lists: usize,
    ) -> Result<Values<'v>, BlockError> {
        let [codes, strings, bytes, _] = self.sections;
        let codes = self.codes(codes, lists)?;
        Ok(Values::Lists { codes, lists: self.lists(strings, elements, bytes, lists)? })
    }

    fn entries(&self, count: usize) -> Result<StringDictionary<'v>, BlockError> {
        StringDictionary::parse(self.sections[1], count).map_err(self.entry.region().of())
    }

    fn pages(&self) -> Result<PagesView<'v>, BlockError> {
        let [pages, ..] = self.sections;
        PagesView::parse(pages, self.count).map_err(self.entry.region().of())
    }

    fn templates(&self, count: usize) -> Result<TemplatesView<'v>, BlockError> {
        let region = self.entry.region();
        let [codes, templates, numbers, _] = self.sections;
        let codes = self.codes(codes, count)?;
        let templates = StringDictionary::parse(templates, count).map_err(region.of())?;
        TemplatesView::new(codes, templates, numbers).map_err(region.of())
    }

    fn codes(&self, section: &[u8], limit: usize) -> Result<Vec<u32>, BlockError> {
        let region = self.entry.region();
        let mut codes = Vec::new();
        let stream = IntsView::parse(section, self.count).map_err(region.of())?;
        stream.decode_codes_into(limit, &mut codes).map_err(region.of())?;
        Ok(codes)
    }

    fn identity_codes(&self) -> Vec<u32> {
        (0u32..).take(self.count).collect()
    }

    fn lists(
        &self,
        elements: &'v [u8],
        element_count: usize,
        lists: &[u8],
        list_count: usize,
    ) -> Result<ListDictionary<'v>, BlockError> {
        let region = self.entry.region();
        let sets = self.entry.kind == Kind::Set;
        let elements = StringDictionary::parse(elements, element_count).map_err(region.of())?;
        let lists = Lists::parse(lists, list_count, element_count, sets).map_err(region.of())?;
        Ok(ListDictionary { elements, lists })
    }
}
