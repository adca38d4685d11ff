//! Patterns: LIKE by a table of all prefixes, regular expressions by the `regex` crate.

use hadal_query::{Function, PatternSyntax};
use hadal_types::Value;
use regex::{Regex, RegexBuilder};

use super::OracleFault;

enum Token {
    Run,
    One,
    Character(char),
}

/// Whether `text` matches LIKE, or ILIKE unless `case_matters`.
pub(super) fn like(pattern: &str, text: &str, case_matters: bool) -> bool {
    let tokens = tokens(pattern);
    let text: Vec<char> = text.chars().collect();
    // matched[n]: whether the tokens so far match the first n characters.
    let mut matched = vec![false; text.len() + 1];
    matched[0] = true;
    for token in &tokens {
        let mut next = vec![false; text.len() + 1];
        for length in 0..=text.len() {
            next[length] = match (token, length.checked_sub(1)) {
                (Token::Run, _) => matched[..=length].contains(&true),
                (_, None) => false,
                (Token::One, Some(before)) => matched[before],
                (Token::Character(character), Some(before)) => {
                    matched[before] && same(*character, text[before], case_matters)
                }
            };
        }
        matched = next;
    }
    matched[text.len()]
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut characters = pattern.chars();
    let mut tokens = Vec::new();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '%' => Token::Run,
            '_' => Token::One,
            '\\' => Token::Character(characters.next().unwrap_or('\\')),
            other => Token::Character(other),
        });
    }
    tokens
}

/// Simple case folding, as far as possible without tables: one character for one character.
fn same(left: char, right: char, case_matters: bool) -> bool {
    if case_matters || left == right {
        return left == right;
    }
    // The dotless i is upper-cased to I, but is not another spelling of it.
    let folds = |character: char| character != 'ı';
    let lower = left.to_lowercase().eq(right.to_lowercase());
    let upper = left.to_uppercase().eq(right.to_uppercase());
    folds(left) && folds(right) && (lower || upper)
}

/// The text changed by a regular expression, match by match.
pub(super) fn changed(
    function: Function,
    source: &str,
    parameter: &Value,
    text: &str,
) -> Result<Value, OracleFault> {
    let regex = compile(source, PatternSyntax::Regex)?;
    if let (Function::RegexpExtract, Value::Number(group)) = (function, parameter) {
        let group = group.to_i64().and_then(|group| usize::try_from(group).ok());
        let groups = regex.captures(text);
        let part = group.zip(groups.as_ref()).and_then(|(group, groups)| groups.get(group));
        return Ok(part.map_or(Value::Null, |part| Value::string(part.as_str())));
    }
    let Value::String(replacement) = parameter else { return Ok(Value::Null) };
    let limit = if function == Function::RegexpReplace { 1 } else { 0 };
    let replaced =
        regex.replacen(text, limit, |groups: &regex::Captures<'_>| expanded(replacement, groups));
    Ok(Value::string(&replaced))
}

fn expanded(replacement: &str, groups: &regex::Captures<'_>) -> String {
    let mut text = String::new();
    let mut rest = replacement;
    while !rest.is_empty() {
        let group = match rest.as_bytes() {
            [b'\\', b'&', ..] => Some(0),
            [b'\\', digit @ b'1'..=b'9', ..] => Some(usize::from(digit - b'0')),
            _ => None,
        };
        if let Some(group) = group {
            text.push_str(groups.get(group).map_or("", |part| part.as_str()));
            rest = &rest[2..];
            continue;
        }
        let after = rest.strip_prefix("\\\\").map_or(rest, |_| &rest[1..]);
        let mut characters = after.chars();
        text.extend(characters.next());
        rest = characters.as_str();
    }
    text
}

/// Compiles a regular expression.
pub(super) fn compile(pattern: &str, syntax: PatternSyntax) -> Result<Regex, OracleFault> {
    RegexBuilder::new(pattern)
        .case_insensitive(syntax == PatternSyntax::IRegex)
        .build()
        .map_err(|error| OracleFault::Pattern(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_reads_its_signs() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("%", "", true),
            ("_", "", false),
            ("a%c", "abc", true),
            ("a%c", "a\nc", true),
            ("a%c", "abcd", false),
            ("%b%b%", "abab", true),
            ("%b%b%", "aba", false),
            (r"100\%", "100%", true),
            (r"100\%", "1000", false),
            ("\\", "\\", true),
            ("_", "é", true),
            ("É", "é", false),
        ] {
            assert_eq!(like(pattern, text, true), expected, "{pattern:?} {text:?}");
        }
        assert!(like("ÉA%", "éabc", false));
        assert!(like("k", "\u{212a}", false));
        assert!(!like("I", "ı", false));
    }
}
