//! Lines of logs from a reader, by the rules of `hadal-ingest` as in the HTTP API.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use hadal_ingest::LogToJson;

use super::{NOT_UTF8_ADVICE, Reader, Rows};
use crate::error::Error;
use crate::output;

/// The number of pieces of a stream that may wait.
const PIECES_MAX: usize = 4;

/// The rows of a text.
pub(super) struct LogRows {
    input: Input,
    place: String,
    log: LogToJson,
    is_over: bool,
}

/// Where the bytes come from.
enum Input {
    /// A reader that may be waited for.
    Reader(Reader),
    /// A stream that is still being written.
    Stream(Stream),
}

/// The pieces of a stream, and the longest delay of a row for further lines.
struct Stream {
    pieces: Receiver<io::Result<Vec<u8>>>,
    delay: Duration,
    piece: Vec<u8>,
    taken: usize,
    is_flushed: bool,
}

impl LogRows {
    /// The rows of a reader.
    pub(super) fn new(reader: Reader, log: LogToJson, place: &str) -> Self {
        Self { input: Input::Reader(reader), place: place.to_owned(), log, is_over: false }
    }

    /// The rows of a stream that is still being written: a row waits for further lines of its event
    /// at most for `delay`.
    pub(super) fn live(
        reader: Reader,
        log: LogToJson,
        place: &str,
        delay: Duration,
    ) -> Result<Self, Error> {
        let (sender, pieces) = sync_channel(PIECES_MAX);
        // The thread is not joined: it may wait for a stream that sends nothing more.
        let thread = std::thread::Builder::new().name("hadal-stream".to_owned());
        let thread = thread.spawn(move || send_pieces(reader, &sender));
        thread.map_err(Error::io("start", "a thread"))?;
        let stream = Stream { pieces, delay, piece: Vec::new(), taken: 0, is_flushed: true };
        Ok(Self { input: Input::Stream(stream), place: place.to_owned(), log, is_over: false })
    }

    /// Reads until a row is ready, or to the end.
    fn read(&mut self) -> io::Result<()> {
        let is_over = match &mut self.input {
            Input::Reader(reader) => {
                let bytes = reader.fill_buf()?;
                let taken = self.log.push(bytes);
                let is_over = bytes.is_empty();
                reader.consume(taken);
                is_over
            }
            Input::Stream(stream) => stream.read(&mut self.log)?,
        };
        if is_over {
            self.is_over = true;
            self.log.finish();
        }
        Ok(())
    }
}

impl Stream {
    /// Passes on the next bytes. Returns whether the stream has ended.
    fn read(&mut self, log: &mut LogToJson) -> io::Result<bool> {
        if self.taken < self.piece.len() {
            self.taken += log.push(&self.piece[self.taken..]);
            self.is_flushed = false;
            return Ok(false);
        }
        let next = match self.is_flushed {
            true => self.pieces.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => self.pieces.recv_timeout(self.delay),
        };
        match next {
            Ok(piece) => (self.piece, self.taken) = (piece?, 0),
            Err(RecvTimeoutError::Timeout) => {
                self.is_flushed = true;
                log.flush();
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
        }
        Ok(false)
    }
}

/// Sends what a reader has, until its end or until nobody takes it.
fn send_pieces(mut reader: Reader, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let piece = reader.fill_buf().map(<[u8]>::to_vec);
        let count = piece.as_ref().map(Vec::len).ok();
        if count == Some(0) {
            return;
        }
        let is_sent = sender.send(piece).is_ok();
        let Some(count) = count.filter(|_| is_sent) else { return };
        reader.consume(count);
    }
}

impl Rows for LogRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        while self.log.next_row(out).is_none() {
            if self.is_over {
                return Ok(false);
            }
            self.read().map_err(Error::io("read", &self.place))?;
        }
        out.push(b'\n');
        Ok(true)
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn notes(&self) -> Vec<String> {
        let warnings = self.log.warnings().into_iter().map(|warning| warning.message);
        let odd = Some(self.log.not_utf8()).filter(|&lines| lines > 0);
        let odd = odd.map(|lines| {
            let lines = output::count(lines, "line");
            format!("what was not UTF-8 became U+FFFD, in {lines}; {NOT_UTF8_ADVICE}")
        });
        warnings.chain(odd).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};
    use std::sync::mpsc::{Sender, channel};

    use hadal_ingest::ReadOptions;
    use hadal_types::Micros;

    use super::super::{InputFormat, Rows, all_rows};
    use super::*;

    fn new_log() -> LogToJson {
        LogToJson::new(&ReadOptions::default(), Micros(0))
    }

    #[test]
    fn lines_become_objects() {
        let rows = all_rows("a\n\nb", InputFormat::Text).expect("rows");
        assert_eq!(rows, [r#"{"message":"a"}"#, r#"{"message":"b"}"#]);
        assert!(all_rows("", InputFormat::Text).expect("rows").is_empty());
    }

    /// Gives a piece for each message, and ends with the channel.
    struct Messages(std::sync::mpsc::Receiver<&'static [u8]>);

    impl Read for Messages {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Ok(piece) = self.0.recv() else { return Ok(0) };
            out[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_stream_is_not_waited_for() {
        let (sender, receiver): (Sender<&'static [u8]>, _) = channel();
        let reader = Box::new(BufReader::new(Messages(receiver)));
        let delay = Duration::from_millis(1);
        let mut rows = LogRows::live(reader, new_log(), "test", delay).expect("a thread");
        for text in [&b"one\n"[..], b"two\n"] {
            sender.send(text).expect("the reader waits");
            let mut row = Vec::new();
            assert!(rows.next(&mut row).expect("a row"));
            assert!(row.starts_with(b"{\"message\":"));
        }
        drop(sender);
        assert!(!rows.next(&mut Vec::new()).expect("the end"));
    }
}
