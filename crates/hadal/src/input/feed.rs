//! Rows on their way to a server: one thread reads them, and the sending threads take them in
//! chunks.
//!
//! A chunk is cut when it is full. Where rows arrive slowly, it is also cut after a delay. The
//! reader waits while enough chunks are ready, so memory is bounded.

use std::collections::VecDeque;
use std::time::Duration;

use hadal_ingest::RejectKinds;
use parking_lot::{Condvar, Mutex};

use super::Rows;
use crate::error::Error;

/// The number of bytes at which a chunk is full.
const CHUNK_BYTES: usize = 4 << 20;
/// The number of chunks that may wait to be sent.
const CHUNKS_MAX: usize = 2;

/// The rule by which chunks are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// By size only: the same rows give the same chunks.
    BySize,
    /// Also after this delay.
    Every(Duration),
}

/// Rows as JSON lines.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) lines: Vec<u8>,
    /// The number of rows before it.
    pub(crate) first_row: u64,
    rows: u64,
}

/// The state shared by the reader and the senders.
#[derive(Default)]
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    filling: Chunk,
    full: VecDeque<Chunk>,
    is_over: bool,
    is_abandoned: bool,
    error: Option<Error>,
    remarks: Remarks,
}

/// What a reader says at the end of its input.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) notes: Vec<String>,
    pub(crate) rejects: RejectKinds,
}

/// Ends the feed if its reader panics: otherwise the senders would wait for ever.
struct Guard<'f>(&'f Feed);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Err(Error::Thread("hadal-read".to_owned())), Remarks::default());
        }
    }
}

impl Feed {
    /// Reads all rows, until the end, an error, or the senders' abandoning the feed.
    pub(crate) fn read(&self, rows: &mut dyn Rows) {
        let _guard = Guard(self);
        let mut line = Vec::new();
        let outcome = loop {
            line.clear();
            match rows.next(&mut line) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
            let mut state = self.state.lock();
            while state.full.len() >= CHUNKS_MAX && !state.is_abandoned {
                self.changed.wait(&mut state);
            }
            if state.is_abandoned {
                return;
            }
            if state.push(&line) {
                self.changed.notify_all();
            }
        };
        self.end(outcome, Remarks { notes: rows.notes(), rejects: rows.rejects() });
    }

    fn end(&self, outcome: Result<(), Error>, remarks: Remarks) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.error = outcome.err();
        state.remarks = remarks;
        self.changed.notify_all();
    }

    /// Takes the remarks of the rows' reader. They are complete at its end.
    pub(crate) fn remarks(&self) -> Remarks {
        std::mem::take(&mut self.state.lock().remarks)
    }

    /// Takes the next chunk. Returns `None` at the end, and after the feed was abandoned. Rows that
    /// were read before an error come before the error.
    pub(crate) fn take(&self, pace: Pace) -> Result<Option<Chunk>, Error> {
        let mut state = self.state.lock();
        loop {
            if state.is_abandoned {
                return Ok(None);
            }
            if let Some(chunk) = state.full.pop_front() {
                self.changed.notify_all();
                return Ok(Some(chunk));
            }
            let has_some = state.filling.rows > 0;
            if state.is_over && !has_some {
                return state.error.take().map_or(Ok(None), Err);
            }
            if state.is_over {
                return Ok(Some(state.cut()));
            }
            match pace {
                Pace::Every(time) => {
                    self.changed.wait_for(&mut state, time);
                    if has_some && state.full.is_empty() && !state.is_over {
                        return Ok(Some(state.cut()));
                    }
                }
                Pace::BySize => self.changed.wait(&mut state),
            }
        }
    }

    /// Ends the feed: no more chunks will be taken.
    pub(crate) fn abandon(&self) {
        self.state.lock().is_abandoned = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Adds a row. Returns whether it filled a chunk.
    fn push(&mut self, line: &[u8]) -> bool {
        self.filling.lines.extend_from_slice(line);
        self.filling.rows += 1;
        let is_full = self.filling.lines.len() >= CHUNK_BYTES;
        if is_full {
            let chunk = self.cut();
            self.full.push_back(chunk);
        }
        is_full
    }

    fn cut(&mut self) -> Chunk {
        let first_row = self.filling.first_row + self.filling.rows;
        std::mem::replace(&mut self.filling, Chunk { first_row, ..Chunk::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of rows, the bytes of each, and whether an error follows instead of the end.
    struct MadeUp(u64, usize, bool);

    impl Rows for MadeUp {
        fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
            if self.0 == 0 {
                return if self.2 { Err(Error::Usage("broken".to_owned())) } else { Ok(false) };
            }
            self.0 -= 1;
            out.extend(std::iter::repeat_n(b'x', self.1));
            Ok(true)
        }
    }

    fn take_all(rows: MadeUp, pace: Pace) -> (Vec<(u64, u64)>, Option<Error>) {
        let (feed, mut rows) = (Feed::default(), rows);
        std::thread::scope(|scope| {
            scope.spawn(|| feed.read(&mut rows));
            let mut chunks = Vec::new();
            loop {
                match feed.take(pace) {
                    Ok(Some(chunk)) => chunks.push((chunk.first_row, chunk.rows)),
                    Ok(None) => return (chunks, None),
                    Err(error) => return (chunks, Some(error)),
                }
            }
        })
    }

    #[test]
    fn chunks_are_cut_at_the_same_rows() {
        let (chunks, error) = take_all(MadeUp(10, 1 << 20, false), Pace::BySize);
        assert_eq!(chunks, [(0, 4), (4, 4), (8, 2)]);
        assert!(error.is_none());
    }

    #[test]
    fn rows_before_an_error_are_not_lost() {
        let (chunks, error) = take_all(MadeUp(5, 1 << 20, true), Pace::BySize);
        assert_eq!(chunks, [(0, 4), (4, 1)]);
        assert!(error.is_some());
    }

    #[test]
    fn a_reader_that_falls_over_is_an_error() {
        struct Broken;
        impl Rows for Broken {
            fn next(&mut self, _: &mut Vec<u8>) -> Result<bool, Error> {
                panic!("a bug of a reader");
            }
        }
        let feed = std::sync::Arc::new(Feed::default());
        let reading = std::sync::Arc::clone(&feed);
        let reader = std::thread::spawn(move || reading.read(&mut Broken));
        assert!(matches!(feed.take(Pace::BySize), Err(Error::Thread(_))));
        assert!(reader.join().is_err());
    }

    #[test]
    fn nobody_waits_for_what_was_given_up() {
        let feed = Feed::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| feed.take(Pace::BySize));
            feed.abandon();
            assert!(matches!(waiting.join().expect("no panic"), Ok(None)));
        });
    }

    #[test]
    fn a_quick_pace_loses_no_row() {
        let (chunks, _) = take_all(MadeUp(1_000, 5_000, false), Pace::Every(Duration::ZERO));
        assert_eq!(chunks.iter().map(|(_, rows)| rows).sum::<u64>(), 1_000);
        let mut next = 0;
        for (first_row, rows) in chunks {
            assert_eq!(first_row, next);
            next += rows;
        }
    }

    #[test]
    fn trickling_rows_do_not_wait_for_more() {
        /// Gives its second row only after a message that the first one was taken.
        struct Trickle(std::sync::mpsc::Receiver<()>, u64);
        impl Rows for Trickle {
            fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
                if self.1 > 0 {
                    self.0.recv().expect("the first row is taken");
                }
                self.1 += 1;
                out.push(b'\n');
                Ok(self.1 <= 2)
            }
        }
        let (taken, receiver) = std::sync::mpsc::channel();
        let (feed, mut rows) = (Feed::default(), Trickle(receiver, 0));
        let pace = Pace::Every(Duration::from_millis(1));
        std::thread::scope(|scope| {
            scope.spawn(|| feed.read(&mut rows));
            for first_row in 0..2 {
                let chunk = feed.take(pace).expect("no error").expect("a chunk");
                assert_eq!((chunk.first_row, chunk.rows), (first_row, 1));
                taken.send(()).expect("somebody listens");
            }
            assert!(feed.take(pace).expect("no error").is_none());
        });
    }
}
