//! Words for a pattern: every matching text contains at least one of the words. Searching a word is
//! many times faster than running a regular expression, and works on texts as they are stored.

use hadal_types::limits;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Each word needs a search of its own, so more words save nothing.
const WORDS_MAX: usize = 8;
/// Shorter words occur in almost every text.
const WORD_BYTES_MIN: usize = 2;

/// Words such that every text that the regular expression `source` matches contains one. `None` if
/// none are certain, as with letters of either case.
pub(super) fn required(source: &str, is_insensitive: bool) -> Option<Vec<String>> {
    let mut parser = ParserBuilder::new()
        .case_insensitive(is_insensitive)
        .nest_limit(limits::REGEX_NEST_MAX)
        .build();
    of(&parser.parse(source).ok()?)
}

fn of(expression: &Hir) -> Option<Vec<String>> {
    match expression.kind() {
        HirKind::Literal(literal) => {
            let word = str::from_utf8(&literal.0).ok()?;
            (word.len() >= WORD_BYTES_MIN).then(|| vec![word.to_owned()])
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => of(&repetition.sub),
        HirKind::Capture(capture) => of(&capture.sub),
        // A longer word is in fewer texts; among alternatives the shortest word decides.
        HirKind::Concat(parts) => parts.iter().filter_map(of).max_by_key(|words| shortest(words)),
        HirKind::Alternation(parts) => {
            let words: Vec<String> =
                parts.iter().map(of).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
            (words.len() <= WORDS_MAX).then_some(words)
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) | HirKind::Repetition(_) => None,
    }
}

fn shortest(words: &[String]) -> usize {
    words.iter().map(String::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::pattern::{Pattern, PatternSyntax};

    fn required(pattern: &str, syntax: PatternSyntax) -> Option<String> {
        let pattern = Pattern::new(pattern, syntax).expect(pattern);
        pattern.required().map(|words| words.join("|"))
    }

    #[test]
    fn the_longest_of_what_must_be_there_is_required() {
        for (pattern, words) in [
            ("user [0-9]+ failed", Some(" failed")),
            ("time(d )?out", Some("time")),
            ("(refund|voucher) of", Some("refund|voucher")),
            ("(?:ab)+c", Some("ab")),
            ("^GET /", Some("GET /")),
            ("a{3}", None),
            ("(abc)?", None),
            ("abc|.", None),
            ("[ab]c", None),
            ("(?i)abc", None),
            ("", None),
        ] {
            assert_eq!(required(pattern, PatternSyntax::Regex).as_deref(), words, "{pattern}");
        }
        assert_eq!(required("GET%.html", PatternSyntax::Like).as_deref(), Some(".html"));
        assert_eq!(required("%word%", PatternSyntax::Like).as_deref(), Some("word"));
        assert_eq!(required("%word%", PatternSyntax::ILike), None);
        assert_eq!(required("ab|cd|ef|gh|ij|kl|mn|op|q.", PatternSyntax::Regex), None);
    }

    proptest! {
        #[test]
        fn what_matches_has_one_of_them(
            pattern in "([abk1]|\\.|a\\+|\\(ab\\|b1\\)|\\(1b\\)\\?|\\[ab\\]|b\\{2\\}|\\||\\^|\\$|%|_){0,6}",
            text in "[abk1K\u{212a}]{0,9}",
            syntax in prop_oneof![
                Just(PatternSyntax::Like), Just(PatternSyntax::ILike), Just(PatternSyntax::Regex), Just(PatternSyntax::IRegex)
            ],
        ) {
            let Ok(pattern) = Pattern::new(&pattern, syntax) else { return Ok(()) };
            let Some(words) = pattern.required() else { return Ok(()) };
            prop_assert!(!words.is_empty());
            if pattern.matches(&text) {
                let has_one = words.iter().any(|word| text.contains(word.as_str()));
                prop_assert!(has_one, "{:?} {:?} {:?}", pattern, text, words);
            }
        }
    }
}
