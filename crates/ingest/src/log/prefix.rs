//! What programs that collect logs write before each line: docker compose, kubectl, container
//! runtimes; and the colours of terminals.

use std::borrow::Cow;

use super::fields::Fields;
use super::times::Times;

/// A line without what was written before it.
pub(super) struct Unwrapped<'l> {
    /// The name of the source that wrote the line; empty if there is none.
    pub(super) source: &'l str,
    /// The line of the program.
    pub(super) text: &'l str,
    /// Whether a container runtime gave the line a time.
    pub(super) is_timed: bool,
    /// Whether the next line has the rest of the program's line.
    pub(super) is_partial: bool,
}

/// Separates a line from what collectors wrote before it, and adds that as columns.
pub(super) fn unwrap<'l>(line: &'l str, times: &Times, fields: &mut Fields) -> Unwrapped<'l> {
    let (source, text) = compose(line).or_else(|| kubectl(line)).unwrap_or(("", line));
    fields.text("source", source);
    let Some((time, stream, tag, rest)) = runtime(text) else {
        return Unwrapped { source, text, is_timed: false, is_partial: false };
    };
    times.set(time, fields);
    fields.text("stream", stream);
    Unwrapped { source, text: rest, is_timed: true, is_partial: tag == "P" }
}

/// `web_1  | text` of docker compose.
fn compose(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.split_once('|')?;
    let source = name.trim_end();
    let text = text.strip_prefix(' ').unwrap_or(text);
    let is_name = source.starts_with(|c: char| c.is_ascii_alphabetic())
        && source.ends_with(|c: char| c.is_ascii_alphanumeric())
        && source.len() <= 64
        && source.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (is_name && name.len() > source.len()).then_some((source, text))
}

/// `[pod/NAME/CONTAINER] text` of `kubectl logs --prefix`.
fn kubectl(line: &str) -> Option<(&str, &str)> {
    let (source, text) = line.strip_prefix("[pod/")?.split_once("] ")?;
    let end = "[".len() + "pod/".len() + source.len();
    (!source.contains(' ')).then(|| (&line[1..end], text))
}

/// `2026-11-21T03:51:42.123456789Z stdout F text` of a container runtime (CRI).
fn runtime(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let (stream, rest) = rest.split_once(' ')?;
    let (tag, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_runtime = matches!(stream, "stdout" | "stderr")
        && matches!(tag, "F" | "P")
        && time.len() >= 20
        && time.as_bytes().get(10) == Some(&b'T');
    is_runtime.then_some((time, stream, tag, text))
}

/// The line without the escapes of terminals that set colours.
pub(super) fn without_escapes(line: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, line.as_bytes()).is_none() {
        return line.into();
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        text.push_str(before);
        let end = after.find(|c: char| !matches!(c, '0'..='9' | ';' | ':' | '?'));
        let end = end.filter(|end| after.as_bytes().get(*end).is_some_and(u8::is_ascii_alphabetic));
        match end {
            Some(end) => rest = &after[end + 1..],
            None => {
                text.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text.into()
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    #[test]
    fn prefixes_are_columns() {
        let times = Times::new(&ReadOptions::default(), Micros(0));
        for (line, source, text, is_partial, members) in [
            ("web_1    | up", "web_1", "up", false, r#""source":"web_1","#),
            ("web-1 |", "web-1", "", false, r#""source":"web-1","#),
            ("[pod/a-b/c] up", "pod/a-b/c", "up", false, r#""source":"pod/a-b/c","#),
            ("2026-11-21T03:51:42.1Z stderr P half", "", "half", true, r#""stream":"stderr","#),
            ("a|b", "", "a|b", false, ""),
            ("two words | x", "", "two words | x", false, ""),
            ("[pod/x y] z", "", "[pod/x y] z", false, ""),
            ("yesterday stdout F x", "", "yesterday stdout F x", false, ""),
        ] {
            let mut fields = Fields::default();
            let unwrapped = unwrap(line, &times, &mut fields);
            assert_eq!((unwrapped.source, unwrapped.text), (source, text), "{line}");
            assert_eq!(unwrapped.is_partial, is_partial, "{line}");
            assert_eq!(String::from_utf8_lossy(fields.members()), members, "{line}");
        }
    }

    #[test]
    fn colours_are_removed() {
        for (line, text) in [
            ("\u{1b}[2mtime\u{1b}[0m \u{1b}[38;5;7mx", "time x"),
            ("plain", "plain"),
            ("\u{1b}[", "\u{1b}["),
            ("\u{1b}[3é\u{1b}[K", "\u{1b}[3é"),
        ] {
            assert_eq!(without_escapes(line), text, "{line:?}");
        }
    }
}
