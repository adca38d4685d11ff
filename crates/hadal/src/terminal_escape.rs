//! Escapes text from outside for a terminal.
//!
//! Values, column names and a server's messages may contain anything: sequences that control the
//! terminal, marks that change the direction of writing ("Trojan Source", CVE-2021-42574),
//! invisible characters. They are escaped as in JSON. Characters that ordinary writing needs stay:
//! joiners, variation selectors, combining marks.
//!
//! Widths are columns of the terminal: two for wide characters, none for combining marks.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Requests the emoji form of the character before it, which is then wide.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// Escapes a text, including its line ends.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// Escapes a text except its line ends and tabs.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => clean.push(c),
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string never fails.
                    let _ = write!(clean, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(clean)
}

/// Whether a character controls the terminal or the direction of writing, or is invisible.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}')
}

/// The width in columns of an escaped text.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts an escaped text to at most `width_max` columns. A cut text ends in `…`.
pub(crate) fn fit(text: &str, width_max: usize) -> Cow<'_, str> {
    if width(text) <= width_max {
        return Cow::Borrowed(text);
    }
    let mut left = width_max.saturating_sub(width("…"));
    let mut end = 0;
    for c in text.chars() {
        let width = if c == EMOJI_SELECTOR { 1 } else { c.width().unwrap_or(0) };
        if width > left {
            break;
        }
        left -= width;
        end += c.len_utf8();
    }
    Cow::Owned(format!("{}…", &text[..end]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        for (text, expected) in [
            ("a\u{1b}]0;PWN\u{7}b", "a\\u001b]0;PWN\\u0007b"),
            ("\u{9b}2J\u{7f}", "\\u009b2J\\u007f"),
            ("x\ny\tz\r", "x\\ny\\tz\\r"),
            ("\u{202e}txt.exe\u{2066}\u{2069}", "\\u202etxt.exe\\u2066\\u2069"),
            ("ad\u{200b}min\u{feff}", "ad\\u200bmin\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\n\tb\u{1b}"), "a\n\tb\\u001b");
    }

    #[test]
    fn ordinary_writing_is_left_alone() {
        for text in ["été", "日本語", "می\u{200c}خواهم", "👩\u{200d}👧", "❤\u{fe0f}", "a\u{301}\\n"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn texts_are_cut_by_what_they_take() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("", 0, ""),
        ] {
            assert_eq!(fit(text, columns), expected, "{text} in {columns}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_text_it_is_clean_and_fits(text in any::<String>(), columns in 1usize..30) {
            let clean = visible(&text).into_owned();
            prop_assert!(!clean.contains(is_hidden));
            prop_assert_eq!(visible(&clean), clean.as_str());
            prop_assert!(width(&fit(&clean, columns)) <= columns);
            let lines = visible_lines(&text);
            let is_kept = |c| matches!(c, '\n' | '\t');
            prop_assert!(lines.chars().all(|c| is_kept(c) || !is_hidden(c)));
        }
    }
}
