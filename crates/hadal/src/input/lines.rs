//! Lines of bounded length, passed on as they are.

use std::io::{self, BufRead};

use hadal_types::limits::LINE_BYTES_MAX;

use super::{Reader, Rows, TEXT_LINES};
use crate::error::Error;

/// Lines of JSON or plain text. The server parses them and reports errors line by line.
pub(super) struct Lines {
    reader: Reader,
    place: String,
    media_type: &'static str,
}

impl Lines {
    /// Plain lines.
    pub(super) fn text(reader: Reader, place: &str) -> Self {
        Self { reader, place: place.to_owned(), media_type: TEXT_LINES }
    }
}

impl Rows for Lines {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        read_line(&mut self.reader, out).map_err(Error::io("read", &self.place))
    }

    fn media_type(&self) -> &'static str {
        self.media_type
    }
}

/// Appends the next line with a line feed. Returns false at the end. A line longer than the limit
/// is cut just beyond it, so that the server refuses it for its length.
fn read_line(reader: &mut dyn BufRead, out: &mut Vec<u8>) -> io::Result<bool> {
    let start = out.len();
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let room = (LINE_BYTES_MAX + 1).saturating_sub(out.len() - start);
        out.extend_from_slice(&buffer[..end.unwrap_or(taken).min(room)]);
        reader.consume(taken);
        if end.is_some() {
            out.push(b'\n');
            return Ok(true);
        }
    }
    if out.len() == start {
        return Ok(false);
    }
    out.push(b'\n');
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], buffer: usize) -> Vec<Vec<u8>> {
        let mut reader = io::BufReader::with_capacity(buffer, text);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            if !read_line(&mut reader, &mut line).expect("a line") {
                return lines;
            }
            lines.push(line);
        }
    }

    #[test]
    fn every_line_ends_with_one_line_feed() {
        for buffer in [1, 2, 3, 100] {
            assert_eq!(lines(b"a\n\nbc", buffer), [&b"a\n"[..], b"\n", b"bc\n"]);
            assert_eq!(lines(b"a\n", buffer), [b"a\n"]);
            assert!(lines(b"", buffer).is_empty());
        }
    }

    #[test]
    fn long_lines_are_cut_beyond_the_limit() {
        let text = [vec![b'x'; 3 * LINE_BYTES_MAX], b"\nb\n".to_vec()].concat();
        let lines = lines(&text, 64 << 10);
        assert_eq!(lines[0].len(), LINE_BYTES_MAX + 2);
        assert_eq!(lines[1], b"b\n");
    }
}
