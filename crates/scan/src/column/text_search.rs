//! Searches texts that hardly repeat in their stored form.
//!
//! Building every string of a column costs more than most queries on these strings. Instead, texts
//! are visited page by page in the same memory, and a word is searched in a page's whole text at
//! once. If texts differ only in numbers, each template is searched once for words without digits
//! (CLP, OSDI 2021, section 4). Most patterns that are not a plain word require a word: such a
//! pattern is run only on texts that contain the word.

use hadal_block::{BlockError, ColumnView, StringsView};
use hadal_encoding::{Bitmap, EncodingError, StringDictionary, TemplatesView, kernels};
use hadal_query::Pattern;
use memchr::memmem::Finder;

use crate::column::bitmaps::bits;
use crate::column::column_values::Truths;

/// Whether each row's text matches; `None` for columns not stored as texts: repeating strings are
/// matched by code.
pub(crate) fn matches(
    column: &ColumnView<'_>,
    pattern: &Pattern,
) -> Result<Option<Truths>, BlockError> {
    let Some(view) = column.strings()? else { return Ok(None) };
    let looking = Looking::new(pattern);
    let mut marked = Bitmap::zeros(view.len());
    match &view {
        StringsView::Dictionary { .. } => return Ok(None),
        StringsView::Pages(pages) => {
            let visit =
                |first, texts: &StringDictionary<'_>| looking.mark(first, texts, &mut marked);
            pages.for_each_text(|_| true, visit).map_err(|error| column.corrupt(error))?;
        }
        StringsView::Templates(templates) => match looking
            .in_templates(templates)
            .map_err(|error| column.corrupt(error))?
        {
            Some(by_row) => marked = by_row,
            None => {
                let visit =
                    |first, texts: &StringDictionary<'_>| looking.mark(first, texts, &mut marked);
                templates.for_each_text(|_| true, visit).map_err(|error| column.corrupt(error))?;
            }
        },
    }
    let validity = column.validity()?;
    if let Some(validity) = validity.as_ref().filter(|_| view.len() < column.rows()) {
        marked = spread(&marked, validity);
    }
    Ok(Some(Truths::where_valid(marked, validity.as_ref())))
}

/// Spreads bits of the rows that have a value over all rows.
fn spread(of_present: &Bitmap, validity: &Bitmap) -> Bitmap {
    let mut rows = Vec::new();
    kernels::indexes_of(validity.words(), &mut rows);
    let mut spread = Bitmap::zeros(validity.len());
    for at in of_present.iter_ones() {
        spread.set(rows[at] as usize);
    }
    spread
}

/// The search for one pattern: for its words, and if these do not decide, for the pattern in texts
/// that contain a word.
struct Looking<'p> {
    pattern: &'p Pattern,
    /// A matching text contains one of them, unless there are none.
    words: &'p [String],
    finders: Vec<Finder<'p>>,
    /// Whether a text that contains a word always matches.
    is_enough: bool,
}

impl<'p> Looking<'p> {
    fn new(pattern: &'p Pattern) -> Self {
        let words = pattern.required().unwrap_or_default();
        let finders = words.iter().map(Finder::new).collect();
        Self { pattern, words, finders, is_enough: pattern.needles().is_some() }
    }

    /// Sets the bits of the matching texts; the first text has the index `first`.
    fn mark(&self, first: usize, texts: &StringDictionary<'_>, marked: &mut Bitmap) {
        let (text, offsets) = (texts.text(), texts.offsets());
        let mark = |first, marked: &mut Bitmap| {
            self.finders.iter().for_each(|finder| mark_word(finder, first, text, offsets, marked));
        };
        if self.is_enough {
            mark(first, marked);
            return;
        }
        let mut having = Bitmap::zeros(texts.len());
        mark(0, &mut having);
        let is_candidate = |index: usize| self.words.is_empty() || having.get(index);
        let candidates = texts.iter().enumerate().filter(|(index, _)| is_candidate(*index));
        let matching = candidates.filter(|(_, text)| self.pattern.matches(text));
        matching.for_each(|(index, _)| marked.set(first + index));
    }

    /// Returns the matching strings, using the templates to exclude some. `None` if the templates
    /// exclude none, so that all texts must be searched.
    fn in_templates(&self, view: &TemplatesView<'_>) -> Result<Option<Bitmap>, EncodingError> {
        let kept: Option<Vec<&str>> = self.words.iter().map(|word| kept_in(word, view)).collect();
        let Some(kept) = kept.filter(|kept| !kept.is_empty()) else { return Ok(None) };
        let finders: Vec<Finder<'_>> = kept.iter().map(Finder::new).collect();
        let has_word =
            |text: &str| finders.iter().any(|finder| finder.find(text.as_bytes()).is_some());
        let having: Vec<bool> = view.templates().iter().map(has_word).collect();
        let is_told =
            self.is_enough && kept.iter().zip(self.words).all(|(kept, word)| kept == word);
        if !is_told && having.iter().all(|has| *has) {
            return Ok(None);
        }
        let set = bits(having.len(), |code| having[code]);
        let mut words = vec![0; view.len().div_ceil(64)];
        kernels::in_codes(view.codes(), set.words(), &mut words);
        let having = Bitmap::from_words(words, view.len());
        if is_told || having.count_ones() == 0 {
            return Ok(Some(having));
        }
        let texts = view.decode_strings(having.iter_ones())?;
        let mut marked = Bitmap::zeros(view.len());
        let matching =
            having.iter_ones().zip(texts.iter()).filter(|(_, text)| self.pattern.matches(text));
        matching.for_each(|(index, _)| marked.set(index));
        Ok(Some(marked))
    }
}

/// The longest part of a word that always remains in the template. A text whose template lacks the
/// part does not contain the word.
fn kept_in<'w>(word: &'w str, view: &TemplatesView<'_>) -> Option<&'w str> {
    let parts = word.split(|character: char| character.is_ascii_digit());
    parts.filter(|part| !part.is_empty() && view.is_kept(part)).max_by_key(|part| part.len())
}

/// Sets the bits of the texts that contain a word, in one search over the concatenated texts. Text
/// i starts at `offsets[i]` and ends at the next offset.
fn mark_word(finder: &Finder<'_>, first: usize, text: &str, offsets: &[u32], marked: &mut Bitmap) {
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
        let at = from + at;
        // The last text that starts at or before the match; empty texts before it start there too.
        let index = offsets.partition_point(|&offset| offset as usize <= at) - 1;
        let Some(&end) = offsets.get(index + 1) else { return };
        // A match across the end of a text is in neither text.
        if at + finder.needle().len() <= end as usize {
            marked.set(first + index);
        }
        from = end as usize;
    }
}

#[cfg(test)]
mod tests {
    use hadal_block::{BlockBuilder, BlockView};
    use hadal_query::PatternSyntax;
    use hadal_types::{ColumnName, Kind, Micros};
    use proptest::prelude::*;

    use super::*;

    fn block(texts: &[Option<String>]) -> Vec<u8> {
        let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
        let id = builder.column(&ColumnName::new("v").expect("a name"), Kind::String);
        for (time, text) in (0..).zip(texts) {
            if let Some(text) = text {
                builder.push_string(id, text).expect("taken");
            }
            builder.end_row(Micros(time));
        }
        builder.finish(Micros(0), None).expect("fits")
    }

    fn agree(texts: &[Option<String>], patterns: &[(&str, PatternSyntax)]) -> &'static str {
        let bytes = block(texts);
        let view = BlockView::parse(&bytes).expect("parses");
        let column = view.column("v", Kind::String).expect("a column");
        for (pattern, syntax) in patterns {
            let pattern = Pattern::new(pattern, *syntax).expect("a pattern");
            let Some(truths) = matches(column, &pattern).expect("decodes") else { continue };
            for (row, text) in texts.iter().enumerate() {
                let expected = text.as_ref().map(|text| pattern.matches(text));
                let is_match = truths.yes.get(row);
                assert_eq!(is_match, expected == Some(true), "{pattern:?} {text:?}");
                assert_eq!(truths.possible.get(row), expected != Some(false), "{pattern:?}");
            }
        }
        column.encoding_name()
    }

    const PATTERNS: [(&str, PatternSyntax); 16] = [
        ("%user%", PatternSyntax::Like),
        ("%d in%", PatternSyntax::Like),
        ("%17%", PatternSyntax::Like),
        ("%nobody%", PatternSyntax::Like),
        ("failed|logged", PatternSyntax::Regex),
        ("user 1[0-9]+ ", PatternSyntax::Regex),
        ("%USER%", PatternSyntax::ILike),
        ("in%user", PatternSyntax::Like),
        ("%user 7%", PatternSyntax::Like),
        ("login%ms", PatternSyntax::Like),
        ("%of user%fail%", PatternSyntax::Like),
        ("user [0-9]+7 logged", PatternSyntax::Regex),
        ("[0-9]{3} (failed|refused)", PatternSyntax::Regex),
        ("after 1[0-9]* ms$", PatternSyntax::Regex),
        ("(in|use)+r", PatternSyntax::Regex),
        ("7.*9", PatternSyntax::Regex),
    ];

    #[test]
    fn words_are_found_in_every_form_of_texts() {
        let line = |row: usize| match row % 7 {
            0 => format!("login of user {} failed after {} ms", row * 7_919, row),
            1 => String::new(),
            _ => format!("user {} logged in", row * 104_729),
        };
        let has = |part: usize| move |row: &usize| part == 0 || row.is_multiple_of(part);
        for part in [0, 2, 5] {
            let texts: Vec<Option<String>> =
                (0..4_000).map(|row| has(part)(&row).then(|| line(row))).collect();
            assert_eq!(agree(&texts, &PATTERNS), "templates");
        }
        let words = ["user", "in", "logged", "d in", "use", "r", "", "us", "er"];
        let mut seed = 1u64;
        let mut word = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            words[usize::try_from(seed >> 40).expect("small") % words.len()]
        };
        let texts: Vec<Option<String>> =
            (0..4_000).map(|row| (row % 3 > 0).then(|| (0..9).map(|_| word()).collect())).collect();
        assert_eq!(agree(&texts, &PATTERNS), "pages");
    }

    proptest! {
        #[test]
        fn words_across_two_texts_are_in_neither(
            texts in prop::collection::vec("[ab]{0,3}", 0..20), word in "[ab]{1,3}",
        ) {
            let all: String = texts.concat();
            let mut offsets = vec![0];
            for text in &texts {
                offsets.push(offsets.last().expect("one") + u32::try_from(text.len()).expect("small"));
            }
            let mut marked = Bitmap::zeros(texts.len());
            mark_word(&Finder::new(&word), 0, &all, &offsets, &mut marked);
            for (index, text) in texts.iter().enumerate() {
                prop_assert_eq!(marked.get(index), text.contains(&word), "{:?}", text);
            }
        }
    }
}
