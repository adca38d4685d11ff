//! Response bodies: an answer in pieces, whose bytes are reserved in the queries' memory pool until
//! they are sent.
//!
//! A client that does not read its answer keeps the answer in the server's memory. Until the
//! connection drops a piece, the piece's bytes are reserved in the budget that queries share. So
//! all such clients together cannot use more than the budget. The first piece is not counted: small
//! answers, including all answers to requests other than queries, are never refused for lack of
//! memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use hadal_types::MemoryReservation;
use hyper::body::{Frame, SizeHint};

/// Bytes of one piece.
const PIECE_BYTES: usize = 64 << 10;

/// An answer that is being written.
pub(crate) struct ResponseBody {
    pieces: VecDeque<Vec<u8>>,
    /// The last piece.
    piece: Vec<u8>,
    /// Bytes of all pieces but the last.
    bytes: usize,
    bytes_max: usize,
    /// The reserved memory: initially the memory of the rows, which are dropped while the response
    /// is written.
    reservation: MemoryReservation,
    until: Option<Instant>,
    error: Option<BodyError>,
}

/// Why an answer was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The answer has too many bytes.
    TooLong,
    /// Other queries and answers hold all memory.
    NoRoom,
    /// The deadline has passed.
    Late,
}

impl ResponseBody {
    /// Returns a response of at most `bytes_max` bytes, to be written by `until`.
    pub(crate) fn new(
        bytes_max: usize,
        reservation: MemoryReservation,
        until: Option<Instant>,
    ) -> Self {
        let (pieces, piece) = (VecDeque::new(), Vec::new());
        Self { pieces, piece, bytes: 0, bytes_max, reservation, until, error: None }
    }

    /// Why writing failed.
    pub(crate) fn error(&self) -> Option<BodyError> {
        self.error
    }

    /// Ends a piece that is full.
    fn cut(&mut self) -> Result<(), BodyError> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(BodyError::Late);
        }
        self.bytes += self.piece.len();
        let counted_bytes = self.bytes.saturating_sub(PIECE_BYTES);
        if counted_bytes > self.reservation.bytes() {
            self.reservation.resize(counted_bytes).map_err(|_| BodyError::NoRoom)?;
        }
        self.pieces.push_back(std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES)));
        Ok(())
    }

    /// The written response, after its rows were dropped.
    pub(crate) fn into_body(self) -> Result<Body, BodyError> {
        let pieces = self.into_pieces()?;
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        Ok(Body::new(Pieces { pieces, bytes }))
    }

    /// As [`Self::into_body`], but returns its bytes.
    pub(crate) fn into_pieces(mut self) -> Result<VecDeque<Bytes>, BodyError> {
        self.cut()?;
        let mut reservation = self.reservation;
        let piece = |(index, bytes): (usize, Vec<u8>)| {
            let reservation = if index == 0 {
                MemoryReservation::default()
            } else {
                reservation.split(bytes.len())
            };
            with_memory(bytes, reservation)
        };
        Ok(self.pieces.into_iter().enumerate().map(piece).collect())
    }
}

impl io::Write for ResponseBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..end]);
        let error = if self.bytes + self.piece.len() > self.bytes_max {
            Some(BodyError::TooLong)
        } else if self.piece.len() == PIECE_BYTES {
            self.cut().err()
        } else {
            None
        };
        self.error = error;
        error.map_or(Ok(end), |_| Err(io::ErrorKind::Other.into()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that hold this memory until they are dropped.
pub(crate) fn with_memory(bytes: Vec<u8>, reservation: MemoryReservation) -> Bytes {
    Bytes::from_owner(Piece { bytes, _reservation: reservation })
}

/// A piece, and its reserved memory.
struct Piece {
    bytes: Vec<u8>,
    _reservation: MemoryReservation,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The pieces that are not sent yet, and their bytes.
struct Pieces {
    pieces: VecDeque<Bytes>,
    bytes: u64,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        self.bytes -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use hadal_types::MemoryPool;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn an_answer_reserves_its_bytes_until_they_are_sent() {
        let pool = MemoryPool::new(3 * PIECE_BYTES);
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * PIECE_BYTES + 5).collect();
        let mut body = ResponseBody::new(bytes.len(), pool.reservation(), None);
        body.write_all(&bytes).expect("room");
        let mut body = body.into_body().expect("room");
        assert_eq!(pool.reserved(), 2 * PIECE_BYTES + 5, "all but the first piece");
        assert_eq!(hyper::body::Body::size_hint(&body).exact(), Some(bytes.len() as u64));
        let mut read = Vec::new();
        let mut last = None;
        while let Some(frame) = body.frame().await {
            last = frame.expect("no error").into_data().ok();
            read.extend_from_slice(last.as_ref().expect("data"));
        }
        assert!(read == bytes);
        assert_eq!(pool.reserved(), 5, "as long as somebody has the last piece");
        drop(last);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn the_memory_of_the_rows_is_reused_for_the_answer() {
        let pool = MemoryPool::new(4 * PIECE_BYTES);
        let mut reservation = pool.reservation();
        reservation.resize(3 * PIECE_BYTES).expect("room");
        let mut body = ResponseBody::new(usize::MAX, reservation, None);
        body.write_all(&vec![0; 2 * PIECE_BYTES]).expect("room");
        assert_eq!(pool.reserved(), 3 * PIECE_BYTES);
        let body = body.into_body().expect("room");
        assert_eq!(pool.reserved(), PIECE_BYTES);
        drop(body);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn there_is_a_reason_for_every_refusal() {
        let pool = MemoryPool::new(PIECE_BYTES);
        let mut small = ResponseBody::new(usize::MAX, pool.reservation(), None);
        small.write_all(&vec![0; 2 * PIECE_BYTES]).expect("room");
        assert!(small.write_all(&vec![0; PIECE_BYTES]).is_err());
        assert_eq!(small.error(), Some(BodyError::NoRoom));
        drop(small);
        assert_eq!(pool.reserved(), 0);
        let mut short = ResponseBody::new(10, MemoryReservation::default(), None);
        short.write_all(&[0; 10]).expect("just fits");
        assert!(short.write_all(&[0]).is_err());
        assert_eq!(short.error(), Some(BodyError::TooLong));
        let mut late =
            ResponseBody::new(usize::MAX, MemoryReservation::default(), Some(Instant::now()));
        late.write_all(&[0; 10]).expect("nothing is full yet");
        assert!(late.write_all(&vec![0; PIECE_BYTES]).is_err());
        assert_eq!(late.error(), Some(BodyError::Late));
    }
}
