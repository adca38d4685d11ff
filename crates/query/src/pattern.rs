//! Patterns over strings: LIKE and regular expressions, both run by the linear-time `regex` crate.

mod required_literals;

use std::fmt;

use hadal_types::limits;
use regex::{Regex, RegexBuilder};

/// The syntax of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternSyntax {
    /// SQL LIKE over the whole string: `%` is any run, `_` any character, `\` escapes.
    Like,
    /// LIKE, ignoring case.
    ILike,
    /// A regular expression that matches anywhere.
    Regex,
    /// A regular expression that matches anywhere, ignoring case.
    IRegex,
}

/// A compiled pattern.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    syntax: PatternSyntax,
    regex: Regex,
    needles: Option<Vec<String>>,
    required: Option<Vec<String>>,
}

/// Why a pattern was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is longer than [`limits::REGEX_BYTES_MAX`].
    #[error("a pattern of {0} bytes; at most {max} are allowed", max = limits::REGEX_BYTES_MAX)]
    TooLong(usize),
    /// The compiled program is larger than [`limits::REGEX_PROGRAM_BYTES_MAX`].
    #[error("pattern {0:?} is too big once compiled; use fewer or smaller repetitions")]
    TooBig(String),
    /// The pattern is not a regular expression.
    #[error("pattern {pattern:?} is not a regular expression: {reason}")]
    PatternSyntax {
        /// The pattern.
        pattern: String,
        /// The reason.
        reason: String,
    },
}

impl Pattern {
    /// Compiles `text`.
    ///
    /// # Errors
    /// [`PatternError`] if the pattern is too long, too big or malformed.
    pub fn new(text: &str, syntax: PatternSyntax) -> Result<Self, PatternError> {
        if text.len() > limits::REGEX_BYTES_MAX {
            return Err(PatternError::TooLong(text.len()));
        }
        let (source, insensitive) = match syntax {
            PatternSyntax::Like => (like_to_regex(text), false),
            PatternSyntax::ILike => (like_to_regex(text), true),
            PatternSyntax::Regex => (text.to_owned(), false),
            PatternSyntax::IRegex => (text.to_owned(), true),
        };
        let regex = RegexBuilder::new(&source)
            .case_insensitive(insensitive)
            .size_limit(limits::REGEX_PROGRAM_BYTES_MAX)
            .dfa_size_limit(limits::REGEX_PROGRAM_BYTES_MAX)
            .nest_limit(limits::REGEX_NEST_MAX)
            .build()
            .map_err(|error| refuse(text, &error))?;
        let needles = needles(text, syntax);
        let required =
            needles.clone().or_else(|| required_literals::required(&source, insensitive));
        Ok(Self { text: text.to_owned(), syntax, regex, needles, required })
    }

    /// Needles that replace the pattern: a text matches exactly if it contains one of them. `None`
    /// if the pattern requires more than that.
    #[must_use]
    pub fn needles(&self) -> Option<&[String]> {
        self.needles.as_deref()
    }

    /// Necessary needles: every matching text contains one, but not every text with one matches.
    /// `None` if there are none. They are searched before the pattern runs.
    #[must_use]
    pub fn required(&self) -> Option<&[String]> {
        self.required.as_deref()
    }

    /// The compiled regular expression.
    pub(crate) fn regex(&self) -> &Regex {
        &self.regex
    }

    /// The number of groups in parentheses.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// Whether `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}({:?})", self.syntax, self.text)
    }
}

/// The needles that replace the pattern, if it is a word or alternatives of words.
fn needles(text: &str, syntax: PatternSyntax) -> Option<Vec<String>> {
    let needles: Vec<String> = match syntax {
        PatternSyntax::Like => vec![contained_in_like(text)?],
        PatternSyntax::Regex => text.split('|').map(str::to_owned).collect(),
        PatternSyntax::ILike | PatternSyntax::IRegex => return None,
    };
    let is_plain = |needle: &String| {
        !needle.is_empty() && (syntax == PatternSyntax::Like || regex::escape(needle) == *needle)
    };
    needles.iter().all(is_plain).then_some(needles)
}

/// The literal text of a pattern `%text%`.
fn contained_in_like(like: &str) -> Option<String> {
    let mut characters = like.strip_prefix('%')?.chars();
    let mut literal = String::new();
    loop {
        match characters.next()? {
            '%' => return characters.next().is_none().then_some(literal),
            '_' => return None,
            '\\' => literal.push(characters.next().unwrap_or('\\')),
            other => literal.push(other),
        }
    }
}

fn refuse(pattern: &str, error: &regex::Error) -> PatternError {
    match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooBig(pattern.to_owned()),
        // The library draws the position over several lines; the last line has the reason.
        other => PatternError::PatternSyntax {
            pattern: pattern.to_owned(),
            reason: other
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        },
    }
}

fn like_to_regex(like: &str) -> String {
    let mut source = String::from(r"(?s)\A");
    let mut characters = like.chars();
    let mut buffer = [0u8; 4];
    while let Some(character) = characters.next() {
        match character {
            '%' => source.push_str(".*"),
            '_' => source.push('.'),
            '\\' => {
                let escaped = characters.next().unwrap_or('\\');
                source.push_str(&regex::escape(escaped.encode_utf8(&mut buffer)));
            }
            other => source.push_str(&regex::escape(other.encode_utf8(&mut buffer))),
        }
    }
    source.push_str(r"\z");
    source
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, syntax: PatternSyntax, text: &str) -> bool {
        Pattern::new(pattern, syntax).expect(pattern).matches(text)
    }

    #[test]
    fn like_covers_the_whole_string() {
        assert!(matches("a%c", PatternSyntax::Like, "abc"));
        assert!(matches("a%c", PatternSyntax::Like, "a\nc"));
        assert!(!matches("a%c", PatternSyntax::Like, "abcd"));
        assert!(matches("a_c", PatternSyntax::Like, "a.c"));
        assert!(!matches("a.c", PatternSyntax::Like, "abc"));
        assert!(matches(r"100\%", PatternSyntax::Like, "100%"));
        assert!(!matches(r"100\%", PatternSyntax::Like, "1000"));
        assert!(matches("ABC", PatternSyntax::ILike, "abc"));
        assert!(!matches("ABC", PatternSyntax::Like, "abc"));
        assert!(matches("", PatternSyntax::Like, ""));
    }

    #[test]
    fn what_contains_a_needle_matches_and_nothing_else() {
        let needles = |pattern, syntax| {
            Pattern::new(pattern, syntax).expect(pattern).needles().map(<[String]>::to_vec)
        };
        assert_eq!(needles("%time out%", PatternSyntax::Like), Some(vec!["time out".into()]));
        assert_eq!(needles(r"%100\%\_\\%", PatternSyntax::Like), Some(vec![r"100%_\".into()]));
        assert_eq!(needles("a b|c-d", PatternSyntax::Regex), None);
        assert_eq!(needles("a b|é", PatternSyntax::Regex), Some(vec!["a b".into(), "é".into()]));
        for (pattern, syntax) in [
            ("%%", PatternSyntax::Like),
            ("%a", PatternSyntax::Like),
            ("a%", PatternSyntax::Like),
            ("%a_%", PatternSyntax::Like),
            ("%a%b%", PatternSyntax::Like),
            (r"%a\%", PatternSyntax::Like),
            ("%a%", PatternSyntax::ILike),
            ("a", PatternSyntax::IRegex),
            ("", PatternSyntax::Regex),
            ("a|", PatternSyntax::Regex),
            ("a.c", PatternSyntax::Regex),
            ("(a|b)", PatternSyntax::Regex),
            (r"a\|b", PatternSyntax::Regex),
        ] {
            assert_eq!(needles(pattern, syntax), None, "{pattern} {syntax:?}");
        }
    }

    proptest! {
        #[test]
        fn needles_say_what_the_pattern_says(
            pattern in r"[%_\\|.ab]{0,6}", text in r"[%_\\|.ab]{0,8}",
            syntax in prop_oneof![Just(PatternSyntax::Like), Just(PatternSyntax::Regex)],
        ) {
            let Ok(pattern) = Pattern::new(&pattern, syntax) else { return Ok(()) };
            if let Some(needles) = pattern.needles() {
                let contains = needles.iter().any(|needle| text.contains(needle.as_str()));
                prop_assert_eq!(pattern.matches(&text), contains, "{:?} {:?}", pattern, text);
            }
        }
    }

    #[test]
    fn regular_expressions_match_anywhere() {
        assert!(matches("b+", PatternSyntax::Regex, "abbc"));
        assert!(!matches("B+", PatternSyntax::Regex, "abbc"));
        assert!(matches("B+", PatternSyntax::IRegex, "abbc"));
    }

    #[test]
    fn bombs_are_refused() {
        let long = "a".repeat(limits::REGEX_BYTES_MAX + 1);
        assert_eq!(
            Pattern::new(&long, PatternSyntax::Regex).err(),
            Some(PatternError::TooLong(limits::REGEX_BYTES_MAX + 1))
        );
        assert!(Pattern::new(&long[1..], PatternSyntax::Regex).is_ok());
        assert!(matches!(
            Pattern::new(r"(\w{500}){9}", PatternSyntax::Regex),
            Err(PatternError::TooBig(_))
        ));
        let nested = format!("{}a{}", "(".repeat(60), ")".repeat(60));
        for bad in ["(", "[", &nested] {
            let error = Pattern::new(bad, PatternSyntax::Regex).expect_err(bad);
            assert!(matches!(error, PatternError::PatternSyntax { .. }), "{error}");
        }
    }
}
