//! Words that programs write for "no value".

/// Words that mean so in columns of all types.
const ANYWHERE: [&str; 9] = ["NULL", "null", "\\N", "N/A", "n/a", "#N/A", "NaN", "-", "<NA>"];
/// Words that mean so only among numbers, truth values and times: in a column of texts they may be
/// values, such as the code of Namibia.
const AMONG_TYPED: [&str; 9] = ["NA", "na", "nan", "NAN", "None", "none", "Null", "--", "#NV"];

/// The words that mean "no value" in one text.
#[derive(Clone, Debug, Default)]
pub(super) struct NullWords {
    /// The words of the user.
    named: Vec<String>,
    /// Whether the usual words do not count.
    are_only_named: bool,
}

/// What a cell says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nullness {
    /// It is empty, or one of the user's words.
    Null,
    /// One of the usual words.
    Usual,
    /// One of the usual words, if its column is typed.
    UsualIfTyped,
    Value,
}

impl NullWords {
    /// The usual words and those that are named. An empty word among these turns the usual ones
    /// off.
    pub(super) fn new(named: &[String]) -> Self {
        let are_only_named = named.iter().any(String::is_empty);
        let named = named.iter().filter(|word| !word.is_empty()).cloned().collect();
        Self { named, are_only_named }
    }

    /// What a cell says about its value.
    #[inline]
    pub(super) fn nullness(&self, cell: &str) -> Nullness {
        if cell.is_empty() {
            return Nullness::Null;
        }
        let word = cell.trim();
        if word.is_empty() {
            return Nullness::UsualIfTyped;
        }
        // No usual word is longer, and most begin with one of a few letters.
        let may_be_usual =
            word.len() <= 4 && word.bytes().next().is_some_and(|first| b"Nn#-\\<".contains(&first));
        if !self.named.is_empty() && self.named.iter().any(|named| named == word) {
            Nullness::Null
        } else if !may_be_usual || self.are_only_named {
            Nullness::Value
        } else if ANYWHERE.contains(&word) {
            Nullness::Usual
        } else if AMONG_TYPED.contains(&word) {
            Nullness::UsualIfTyped
        } else {
            Nullness::Value
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_words_are_null() {
        let words = NullWords::new(&["missing".to_owned()]);
        for (cell, nullness) in [
            ("", Nullness::Null),
            ("missing", Nullness::Null),
            (" N/A ", Nullness::Usual),
            ("-", Nullness::Usual),
            ("\\N", Nullness::Usual),
            ("NA", Nullness::UsualIfTyped),
            ("None", Nullness::UsualIfTyped),
            ("-1", Nullness::Value),
            ("Nancy", Nullness::Value),
            (" ", Nullness::UsualIfTyped),
        ] {
            assert_eq!(words.nullness(cell), nullness, "{cell:?}");
        }
    }

    #[test]
    fn an_empty_word_turns_the_usual_ones_off() {
        let words = NullWords::new(&[String::new(), "x".to_owned()]);
        assert_eq!(words.nullness("NULL"), Nullness::Value);
        assert_eq!(words.nullness("x"), Nullness::Null);
    }
}
