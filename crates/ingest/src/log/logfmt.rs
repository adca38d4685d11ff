//! logfmt: `time=… level=info msg="two words" status=200`.
//!
//! The crate `logfmt` was judged and not taken: its last release is from 2018, and it has no
//! errors, so that every text is logfmt.

use std::borrow::Cow;

use super::fields::{Fields, is_json_number};
use super::level;
use super::times::Times;

/// The usual names of an event's time, the best first.
pub(super) const TIME_NAMES: [&str; 6] = ["time", "ts", "timestamp", "@timestamp", "t", "datetime"];
/// The usual names of an event's level.
pub(super) const LEVEL_NAMES: [&str; 4] = ["level", "lvl", "severity", "loglevel"];

/// One pair; the value is `None` for a name without one.
struct Pair<'l> {
    name: &'l str,
    value: Option<Cow<'l, str>>,
    is_quoted: bool,
}

/// Whether a line is logfmt: it begins with a pair, and most of its words are pairs.
pub(super) fn is_logfmt(line: &str) -> bool {
    let mut rest = line;
    let (mut pairs, mut words) = (0, 0);
    while let Some((pair, after)) = next(rest) {
        match pair {
            Some(pair) if pair.value.is_some() => pairs += 1,
            _ if pairs == 0 => return false,
            _ => words += 1,
        }
        rest = after;
    }
    pairs >= 2 && words <= pairs
}

/// Adds the pairs of a line as columns.
pub(super) fn read(line: &str, times: &Times, fields: &mut Fields) {
    let mut rest = line;
    while let Some((pair, after)) = next(rest) {
        rest = after;
        if fields.is_full() {
            return;
        }
        let Some(Pair { name, value: Some(value), is_quoted }) = pair else { continue };
        let is_time = TIME_NAMES.contains(&name) && times.try_set(&value, fields);
        if is_time {
        } else if LEVEL_NAMES.contains(&name) && !fields.has("level") {
            level::add(fields, &value);
        } else if !is_quoted && (is_json_number(&value) || matches!(&*value, "true" | "false")) {
            fields.raw(name, &value);
        } else {
            fields.text(name, &value);
        }
    }
}

/// The next word of a line, which is a pair or not, and the rest of the line; `None` at its end.
fn next(line: &str) -> Option<(Option<Pair<'_>>, &str)> {
    let line = line.trim_start();
    if line.is_empty() {
        return None;
    }
    let end = line.find(|character: char| character == '=' || character.is_ascii_whitespace());
    let end = end.unwrap_or(line.len());
    let (name, after) = line.split_at(end);
    let is_name = !name.is_empty() && name.len() <= 128 && !name.contains(['"', '{', '[', '(']);
    let Some(after) = after.strip_prefix('=').filter(|_| is_name) else {
        let end = line.find(|character: char| character.is_ascii_whitespace());
        return Some((None, &line[end.unwrap_or(line.len())..]));
    };
    if let Some((value, after)) = after.strip_prefix('"').and_then(quoted) {
        return Some((Some(Pair { name, value: Some(value), is_quoted: true }), after));
    }
    let end = after.find(|character: char| character.is_ascii_whitespace());
    let (value, after) = after.split_at(end.unwrap_or(after.len()));
    Some((Some(Pair { name, value: Some(value.into()), is_quoted: false }), after))
}

/// The text before the closing quote, without its escapes, and the rest after the quote.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut is_escaped = false;
    let mut has_escapes = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => (is_escaped, has_escapes) = (true, true),
            b'"' => {
                let (value, rest) = (&text[..index], &text[index + 1..]);
                let json = has_escapes.then(|| serde_json::from_str(&format!("\"{value}\"")).ok());
                let value = json.flatten().map_or(value.into(), |value: String| value.into());
                return Some((value, rest));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    fn members(line: &str) -> String {
        let mut fields = Fields::default();
        read(line, &Times::new(&ReadOptions::default(), Micros(0)), &mut fields);
        String::from_utf8(fields.members().to_vec()).expect("UTF-8")
    }

    #[test]
    fn pairs_become_columns() {
        for (line, expected) in [
            ("level=INFO msg=x n=1", r#""level":"info","msg":"x","n":1,"#),
            (r#"msg="a \"b\"" ok=true d=1.5s"#, r#""msg":"a \"b\"","ok":true,"d":"1.5s","#),
            (r#"a="7" b= c word d=007"#, r#""a":"7","d":"007","#),
            (r#"a="open"#, r#""a":"\"open","#),
            ("time=2026-11-21T03:51:42Z ts=x", r#""ts":"x","#),
        ] {
            assert_eq!(members(line), expected, "{line}");
        }
    }

    #[test]
    fn most_words_have_to_be_pairs() {
        for line in ["a=1 b=2", r#"msg="a b c d" x=1"#, "a=1 b=2 word", "time=a level=b"] {
            assert!(is_logfmt(line), "{line}");
        }
        for line in ["", "a=1", "word a=1 b=2", "a=1 b c d", "(a=1 b=2)", "{\"a=1 b=2"] {
            assert!(!is_logfmt(line), "{line}");
        }
    }
}
