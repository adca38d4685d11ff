//! Splits bytes into lines of bounded length.

use hadal_types::limits::LINE_BYTES_MAX;

/// The line that is being read.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    number: u64,
}

impl LineSplitter {
    /// Takes bytes up to the end of the next line, and returns their number and whether the line
    /// is whole. Of a line above the limit, one byte more than the limit is taken over.
    pub(super) fn push(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = memchr::memchr(b'\n', bytes);
        let line = &bytes[..end.unwrap_or(bytes.len())];
        let room = (LINE_BYTES_MAX + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(&line[..line.len().min(room)]);
        self.number += u64::from(end.is_some());
        (end.map_or(bytes.len(), |end| end + 1), end.is_some())
    }

    /// Ends the text; returns whether there is a last line without a line feed.
    pub(super) fn finish(&mut self) -> bool {
        self.number += u64::from(!self.line.is_empty());
        !self.line.is_empty()
    }

    /// The number of the line, counted from 1, and its bytes without the line feed.
    pub(super) fn line(&self) -> (u64, &[u8]) {
        let bytes = &self.line[..];
        (self.number, bytes.strip_suffix(b"\r").unwrap_or(bytes))
    }

    /// Begins the next line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], piece: usize) -> Vec<(u64, String)> {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        let mut take = |splitter: &mut LineSplitter| {
            let (number, line) = splitter.line();
            lines.push((number, String::from_utf8_lossy(line).into_owned()));
            splitter.clear();
        };
        for mut piece in text.chunks(piece) {
            while !piece.is_empty() {
                let (taken, is_whole) = splitter.push(piece);
                piece = &piece[taken..];
                if is_whole {
                    take(&mut splitter);
                }
            }
        }
        if splitter.finish() {
            take(&mut splitter);
        }
        lines
    }

    #[test]
    fn lines_have_numbers() {
        for piece in 1..9 {
            let expected = [(1, "a"), (2, ""), (3, "b\rc")].map(|(n, line)| (n, line.to_owned()));
            assert_eq!(lines(b"a\r\n\nb\rc", piece), expected);
        }
        assert!(lines(b"", 1).is_empty());
    }

    #[test]
    fn long_lines_are_cut_beyond_the_limit() {
        let text = [vec![b'x'; 2 * LINE_BYTES_MAX], b"\ny\n".to_vec()].concat();
        let lines = lines(&text, 1 << 16);
        assert_eq!((lines[0].1.len(), &*lines[1].1), (LINE_BYTES_MAX + 1, "y"));
    }
}
