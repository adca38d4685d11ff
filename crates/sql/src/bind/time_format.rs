//! The patterns of PostgreSQL's `to_char`, as far as they are common, as formats of `strftime`.

use sqlparser::tokenizer::Location;

use crate::error::{LocatedError, Read};

/// Patterns and their formats; of two that begin alike, the longer one first.
const PATTERNS: [(&str, &str); 27] = [
    ("YYYY", "%Y"),
    ("YY", "%y"),
    ("IYYY", "%G"),
    ("IW", "%V"),
    ("Month", "%B"),
    ("Mon", "%b"),
    ("MM", "%m"),
    ("MI", "%M"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("DDD", "%j"),
    ("DD", "%d"),
    ("Day", "%A"),
    ("Dy", "%a"),
    ("ID", "%u"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("HH", "%I"),
    ("SS", "%S"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("am", "%P"),
    ("pm", "%P"),
    ("Q", "%q"),
    ("FM", ""),
    ("%", "%%"),
    ("T", "T"),
];

/// Converts a pattern. Texts in double quotes are taken as they are. Names are not padded.
pub(crate) fn strftime_of(pattern: &str, at: Location) -> Read<String> {
    let mut format = String::new();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        if let Some((pattern, replacement)) =
            PATTERNS.into_iter().find(|(pattern, _)| rest.starts_with(pattern))
        {
            format.push_str(replacement);
            rest = &rest[pattern.len()..];
        } else if let Some((quoted, after)) =
            rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"'))
        {
            format.push_str(&quoted.replace('%', "%%"));
            rest = after;
        } else if character.is_alphabetic() {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            return Err(LocatedError::new(format!("to_char has no pattern {word:?}"), at).hint(
                "patterns are YYYY, YY, Q, MM, Mon, Month, DD, DDD, Dy, Day, HH24, HH12, MI, SS, \
                 MS, US, AM, IYYY and IW; other text is in \"double quotes\"",
            ));
        } else {
            format.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::NOWHERE;

    #[test]
    fn patterns_become_formats() {
        for (pattern, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.MS", "%Y-%m-%d %H:%M:%S.%3f"),
            ("Dy, DD Mon YYYY HH12:MI AM", "%a, %d %b %Y %I:%M %p"),
            ("YYYY-MM-DD\"T at\"HH24 100%", "%Y-%m-%dT at%H 100%%"),
            ("IYYY-IW", "%G-%V"),
        ] {
            assert_eq!(strftime_of(pattern, NOWHERE).as_deref(), Ok(expected), "{pattern}");
        }
        assert!(strftime_of("YYYY-XX", NOWHERE).is_err());
    }
}
