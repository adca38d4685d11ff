//! The part of Rust's grammar that the rules need: comments and literals, the tests at the end of a
//! file, and the extent of functions.

use std::ops::Range;

/// The text with comments, strings and characters blanked; offsets and line breaks stay.
pub(crate) fn mask(text: &str) -> String {
    let mut masked = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = skipped_end(text, at);
        for byte in &mut masked[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(masked).unwrap()
}

/// The text with everything but its string literals blanked; offsets and line breaks stay.
pub(crate) fn literals(text: &str) -> String {
    let mut literals = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = skipped_end(text, at).max(at + 1);
        if ![b'"', b'r'].contains(&literals[at]) || end == at + 1 {
            literals[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|b| *b = b' ');
        }
        at = end;
    }
    String::from_utf8(literals).unwrap()
}

/// End of the comment or literal that begins at `at`; `at` itself if there is none.
fn skipped_end(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..];
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment_end(text, at),
        [b'"', ..] => string_end(text, at + 1),
        [b'r', b'"' | b'#', ..] => raw_string_end(text, at),
        [b'\'', ..] => character_end(text, at),
        _ => at,
    }
}

fn block_comment_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn raw_string_end(text: &str, start: usize) -> usize {
    let hashes = text[start + 1..].bytes().take_while(|byte| *byte == b'#').count();
    let open = start + 1 + hashes;
    if text.as_bytes().get(open) != Some(&b'"') {
        return start; // A raw identifier.
    }
    let close = format!("\"{}", "#".repeat(hashes));
    match text[open + 1..].find(&close) {
        Some(length) => open + 1 + length + close.len(),
        None => text.len(),
    }
}

/// End of a character; a lifetime has none.
fn character_end(text: &str, start: usize) -> usize {
    let mut characters = text[start + 1..].char_indices();
    let (_, first) = characters.next().unwrap_or((0, '\n'));
    if first == '\\' {
        // The escaped character may itself be a quote.
        let close = text.get(start + 3..).and_then(|rest| rest.find('\''));
        return close.map_or(start, |length| start + 3 + length + 1);
    }
    match characters.next() {
        Some((length, '\'')) => start + 1 + length + 1,
        _ => start,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Offsets of `word` as a whole word, not as a part of a longer name.
pub(crate) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + word.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Start of the `#[cfg(test)] mod tests { … }` that ends a file; the file's end if there is none.
pub(crate) fn test_tail_start(code: &str) -> usize {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let tail = code.match_indices(ATTRIBUTE).map(|(at, _)| at).find(|at| {
        let item = &code[at + ATTRIBUTE.len()..];
        let Some(open) = item.find(['{', ';']) else { return false };
        let header = item[..open].trim();
        let is_module = header.starts_with("mod ") && item[open..].starts_with('{');
        is_module && item[block_end(item, open)..].trim().is_empty()
    });
    tail.unwrap_or(code.len())
}

/// Offset after the brace that closes the one at `open`; the end of the code if there is none.
fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return offset + 1;
        }
    }
    code.len()
}

/// A function with a body: its name, and its range from the word `fn` to the closing brace.
#[derive(Debug, PartialEq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) range: Range<usize>,
}

/// The functions of masked code, nested ones too, in the order in which they begin.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    words(code, "fn").filter_map(|start| function_at(code, start)).collect()
}

/// None for a function type, and for a declaration without a body.
fn function_at(code: &str, start: usize) -> Option<Function<'_>> {
    let after = &code[start + 2..];
    let name_start = start + 2 + (after.len() - after.trim_start().len());
    let length = code[name_start..].bytes().take_while(|b| is_word(*b) || *b == b'$').count();
    if length == 0 {
        return None;
    }
    let mut depth = 0;
    for (offset, byte) in code.bytes().enumerate().skip(name_start + length) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return None,
            b'{' if depth == 0 => {
                let name = &code[name_start..name_start + length];
                return Some(Function { name, range: start..block_end(code, offset) });
            }
            _ => {}
        }
    }
    None
}

#[test]
fn literals_are_kept_and_everything_else_blanked() {
    let text = "// \"no\"\nf(\"a b\", 'x', r#\"c\"#); // r\"no\"\nlet r = \"d\";\n";
    let expected = "       \n  \"a b\"       r#\"c\"#           \n        \"d\" \n";
    assert_eq!(literals(text), expected);
}

#[test]
fn comments_and_literals_are_blanked_and_nothing_else() {
    let cases = [
        ("a // fn\nb", "a      \nb"),
        ("a /* x /* y */ z */ b", "a                   b"),
        (r#"f("a\"b", c)"#, r#"f(      , c)"#),
        (r##"f(r#"a"b"#, c)"##, r##"f(        , c)"##),
        ("f('\"', '\\'', 'x')", "f(   ,     ,    )"),
        ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
        ("let r#fn = b\"{\";", "let r#fn = b   ;"),
        ("f(\"\n{\n\")", "f( \n \n )"),
        ("'é' + x", "     + x"),
    ];
    for (text, masked) in cases {
        assert_eq!(mask(text), masked, "{text}");
    }
}

#[test]
fn words_are_whole() {
    assert_eq!(words("un unit un_ (un) run un", "un").collect::<Vec<_>>(), [0, 13, 21]);
}

#[test]
fn only_a_module_that_ends_the_file_is_a_test_tail() {
    let start = |code: &str| code.len() - test_tail_start(code);
    assert_eq!(start("fn f() {}\n#[cfg(test)]\nmod tests {\n fn g() {}\n}\n"), 38);
    assert_eq!(start("#[cfg(test)]\nmod tests {}\nfn f() {}\n"), 0);
    assert_eq!(start("#[cfg(test)]\nmod tests;\n"), 0);
    assert_eq!(start("#[cfg(test)]\nfn f() {}\n"), 0);
}

#[test]
fn functions_are_found_with_their_bodies() {
    let code = "impl X {\n fn a(x: [u8; 4], f: fn(u8) -> u8) -> Y where Z: W {\n  fn b() {}\n }\n}\n\
                trait T { fn c(&self); fn d(&self) {} }";
    let lengths: Vec<_> = functions(code).iter().map(|f| (f.name, f.range.len())).collect();
    assert_eq!(lengths, [("a", 66), ("b", 9), ("d", 14)]);
}
