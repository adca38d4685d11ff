//! Navigates a JSON document without holding it in memory: enters members by name and skips values.
//!
//! Only strings, brackets and braces are examined. Other syntax errors are not detected.

use std::io::{self, BufRead};

use hadal_types::limits::NAME_BYTES_MAX;

/// The position of a reader within a value.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The number of open brackets and braces.
    pub(super) depth: usize,
    pub(super) in_string: bool,
    after_backslash: bool,
}

impl State {
    /// Advances over a byte.
    pub(super) fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.after_backslash || byte != b'"';
            self.after_backslash = !self.after_backslash && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => (),
        }
    }
}

/// Skips the bytes in `between`. Returns the next other byte, or `None` at the end.
pub(super) fn skip(reader: &mut dyn BufRead, between: &[u8]) -> io::Result<Option<u8>> {
    while let Some(&byte) = reader.fill_buf()?.first() {
        if !between.contains(&byte) {
            return Ok(Some(byte));
        }
        reader.consume(1);
    }
    Ok(None)
}

/// Enters the array at a path of member names, in the document that begins here.
///
/// # Errors
/// `Ok(Err)` with a reason if there is no such array.
pub(super) fn enter(reader: &mut dyn BufRead, path: &[String]) -> io::Result<Result<(), String>> {
    for name in path {
        if skip_space(reader)? != Some(b'{') {
            return Ok(Err(format!("no object that could have a member {name:?}")));
        }
        reader.consume(1);
        loop {
            match next_name(reader)? {
                Some(member) if member == *name => break,
                Some(_) => leave(reader, 0)?,
                None => return Ok(Err(format!("there is no member {name:?}"))),
            }
        }
    }
    if skip_space(reader)? != Some(b'[') {
        return Ok(Err(format!("member {:?} is no array", path.join("."))));
    }
    reader.consume(1);
    Ok(Ok(()))
}

/// Reads the name of the object's next member and the colon after it. Returns `None` at the end of
/// the object.
fn next_name(reader: &mut dyn BufRead) -> io::Result<Option<String>> {
    if skip(reader, b" \t\r\n,")? != Some(b'"') {
        return Ok(None);
    }
    let (mut state, mut text) = (State::default(), Vec::new());
    while let Some(&byte) = reader.fill_buf()?.first() {
        reader.consume(1);
        state.step(byte);
        // A longer name than that of any column cannot match.
        if text.len() <= NAME_BYTES_MAX {
            text.push(byte);
        }
        if !state.in_string {
            break;
        }
    }
    if skip_space(reader)? != Some(b':') {
        return Ok(None);
    }
    reader.consume(1);
    Ok(Some(serde_json::from_slice(&text).unwrap_or_default()))
}

/// Skips the value that begins here. Within `depth` open brackets, skips the rest up to the end of
/// the outermost one.
pub(super) fn leave(reader: &mut dyn BufRead, depth: usize) -> io::Result<()> {
    let mut state = State { depth, ..State::default() };
    let mut is_begun = depth > 0;
    if !is_begun {
        skip_space(reader)?;
    }
    while let Some(&byte) = reader.fill_buf()?.first() {
        let outside = state.depth == 0 && !state.in_string;
        if outside && is_begun && (depth > 0 || b",}] \t\r\n".contains(&byte)) {
            return Ok(());
        }
        reader.consume(1);
        state.step(byte);
        is_begun = true;
    }
    match state.depth == 0 && !state.in_string {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the document does not end")),
    }
}

fn skip_space(reader: &mut dyn BufRead) -> io::Result<Option<u8>> {
    skip(reader, b" \t\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest_after(text: &str, path: &[&str]) -> Result<String, String> {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        let mut reader = text.as_bytes();
        enter(&mut reader, &path).map_err(|error| error.to_string())??;
        Ok(String::from_utf8(reader.to_vec()).expect("utf-8"))
    }

    #[test]
    fn members_are_found_behind_anything() {
        let text = r#"{"a": {"rows": [0]}, "s\"": "}]{", "n" : -1e5 ,"t":true,"rows": [1,2]}"#;
        assert_eq!(rest_after(text, &["rows"]).as_deref(), Ok("1,2]}"));
        assert_eq!(
            rest_after(text, &["a", "rows"]).as_deref(),
            Ok("0]}, \"s\\\"\": \"}]{\", \"n\" : -1e5 ,\"t\":true,\"rows\": [1,2]}")
        );
        assert!(rest_after(text, &["b"]).expect_err("none").contains("no member \"b\""));
        assert!(rest_after(text, &["n"]).expect_err("a number").contains("is no array"));
        assert!(rest_after(text, &["n", "x"]).expect_err("a number").contains("no object"));
        assert!(rest_after("[1]", &["x"]).is_err());
        assert!(rest_after(r#"{"a": {"b": "#, &["rows"]).is_err());
    }
}
