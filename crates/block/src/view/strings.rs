//! Reading columns of strings and lists.

use std::ops::Range;

use hadal_encoding::{IntsView, ListDictionary, StringDictionary, TemplatesView};
use hadal_encoding::{lists::Lists, pages::PagesView};
use hadal_types::Kind;

use super::ColumnView;
use crate::data::Values;
use crate::directory::Encoding;
use crate::error::BlockError;

/// The strings of a row block column as they are stored.
#[derive(Clone, Debug)]
pub enum StringsView<'a> {
    /// They repeat: a code per row.
    Dictionary {
        /// Codes, to be checked to be below the number of entries when they are decoded.
        codes: IntsView<'a>,
        /// The strings, sorted.
        entries: StringDictionary<'a>,
    },
    /// They hardly repeat: whole texts.
    Pages(PagesView<'a>),
    /// They hardly repeat but for numbers.
    Templates(TemplatesView<'a>),
}

impl StringsView<'_> {
    /// How many strings there are, in the order of rows: as many as rows, or else one for each row
    /// that has a value.
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

impl<'a> ColumnView<'a> {
    /// The strings as they are stored; `None` where the column is of another kind.
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn strings(&self) -> Result<Option<StringsView<'a>>, BlockError> {
        let place = self.entry.place();
        let [first, second, ..] = self.sections();
        let view = match self.entry.encoding {
            Encoding::Dictionary { entries } => StringsView::Dictionary {
                codes: IntsView::parse(first, self.rows).map_err(place.of())?,
                entries: StringDictionary::parse(second, entries).map_err(place.of())?,
            },
            Encoding::Pages { of_present } => StringsView::Pages(self.pages(of_present)?),
            Encoding::Templates { templates } => StringsView::Templates(self.templates(templates)?),
            _ => return Ok(None),
        };
        Ok(Some(view))
    }

    pub(super) fn decode_dictionary(&self, entries: usize) -> Result<Values<'a>, BlockError> {
        let [codes, strings, ..] = self.sections();
        let codes = self.codes(codes, self.rows, entries)?;
        let dictionary =
            StringDictionary::parse(strings, entries).map_err(self.entry.place().of())?;
        Ok(Values::Strings { codes, dictionary })
    }

    /// Leaves texts empty that would have to be decompressed for rows of which `is_wanted` says
    /// that none is.
    pub(super) fn decode_pages(
        &self,
        of_present: bool,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Values<'a>, BlockError> {
        let pages = self.pages(of_present)?;
        let place = self.entry.place();
        if !of_present {
            let dictionary = pages.decode_where(is_wanted).map_err(place.of())?;
            return Ok(Values::Strings { codes: identity_codes(self.rows), dictionary });
        }
        let present = self.present()?;
        let dictionary = pages.decode_where(|texts| is_wanted(present.rows_of(texts)));
        Ok(Values::Strings { codes: present.codes, dictionary: dictionary.map_err(place.of())? })
    }

    /// Leaves texts empty that would have to be put together for rows of which `is_wanted` says
    /// that none is.
    pub(super) fn decode_templates(
        &self,
        templates: usize,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Values<'a>, BlockError> {
        let (templates, present) = (self.templates(templates)?, self.present()?);
        let dictionary = templates
            .decode_where(|texts| is_wanted(present.rows_of(texts)))
            .map_err(self.entry.place().of())?;
        Ok(Values::Strings { codes: present.codes, dictionary })
    }

    pub(super) fn decode_lists(&self, elements: usize) -> Result<Values<'a>, BlockError> {
        let [strings, lists, ..] = self.sections();
        let lists = self.lists(strings, elements, lists, self.rows)?;
        Ok(Values::Lists { codes: identity_codes(self.rows), lists })
    }

    pub(super) fn decode_list_dictionary(
        &self,
        elements: usize,
        lists: usize,
    ) -> Result<Values<'a>, BlockError> {
        let [codes, strings, bytes, _] = self.sections();
        let codes = self.codes(codes, self.rows, lists)?;
        Ok(Values::Lists { codes, lists: self.lists(strings, elements, bytes, lists)? })
    }

    /// Rows that have a value.
    const fn values(&self) -> usize {
        self.rows - self.entry.nulls
    }

    fn pages(&self, of_present: bool) -> Result<PagesView<'a>, BlockError> {
        let [pages, ..] = self.sections();
        let count = if of_present { self.values() } else { self.rows };
        PagesView::parse(pages, count).map_err(self.entry.place().of())
    }

    fn templates(&self, count: usize) -> Result<TemplatesView<'a>, BlockError> {
        let place = self.entry.place();
        let [codes, templates, numbers, _] = self.sections();
        let codes = self.codes(codes, self.values(), count)?;
        let templates = StringDictionary::parse(templates, count).map_err(place.of())?;
        TemplatesView::new(codes, templates, numbers).map_err(place.of())
    }

    fn codes(&self, section: &[u8], count: usize, limit: usize) -> Result<Vec<u32>, BlockError> {
        let place = self.entry.place();
        let mut codes = Vec::new();
        let stream = IntsView::parse(section, count).map_err(place.of())?;
        stream.decode_codes_into(limit, &mut codes).map_err(place.of())?;
        Ok(codes)
    }

    fn present(&self) -> Result<Present, BlockError> {
        let Some(validity) = self.validity()? else {
            return Ok(Present { codes: identity_codes(self.rows), rows: None });
        };
        let mut codes = vec![0; self.rows];
        let mut rows = Vec::with_capacity(self.values());
        for (code, row) in (0u32..).zip(validity.iter_ones()) {
            codes[row] = code;
            rows.push(row);
        }
        Ok(Present { codes, rows: Some(rows) })
    }

    fn lists(
        &self,
        elements: &'a [u8],
        element_count: usize,
        lists: &[u8],
        list_count: usize,
    ) -> Result<ListDictionary<'a>, BlockError> {
        let place = self.entry.place();
        let sets = self.kind() == Kind::Set;
        let elements = StringDictionary::parse(elements, element_count).map_err(place.of())?;
        let lists = Lists::parse(lists, list_count, element_count, sets).map_err(place.of())?;
        Ok(ListDictionary { elements, lists })
    }
}

/// Where each row that has a value is its own entry.
struct Present {
    /// By row; 0 where there is no value.
    codes: Vec<u32>,
    /// The row of each entry; `None` where all rows have one.
    rows: Option<Vec<usize>>,
}

impl Present {
    /// The rows from the first to the last of these entries.
    fn rows_of(&self, entries: Range<usize>) -> Range<usize> {
        let Some(rows) = &self.rows else { return entries };
        let of = rows.get(entries).unwrap_or_default();
        of.first().zip(of.last()).map_or(0..0, |(&first, &last)| first..last + 1)
    }
}

fn identity_codes(rows: usize) -> Vec<u32> {
    (0u32..).take(rows).collect()
}
