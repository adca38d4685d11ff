//! Answers that are sent while they are made, in any format of batches of rows.
//!
//! A batch is encoded when the one before it has been handed to the connection, so a client that
//! stops reading stops the query, and an answer is never held whole. The body ends properly only
//! after the last row: when a query fails in between, the connection breaks off, which no client
//! can take for the end. What is known of the answer then comes as a trailer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hadal_aggregate::RowColumns;
use hadal_frontend::{
    AnswerColumn, AnswerStream, ErrorKind, FrontendError, Principal, QueryRequest, RowBatch,
    blocking,
};
use hadal_types::{MemoryReservation, limits};
use hyper::body::Frame;
use tokio::sync::mpsc;

use crate::answer_format::{AnswerEncoder, AnswerFormat};
use crate::answer_summary::{SUMMARY_HEADER, summary, summary_header};
use crate::json_lines_answer::distinct_column_names;
use crate::problem::Problem;
use crate::response_body::with_memory;
use crate::state::AppState;

/// Answers a statement in this format. The response begins when the first rows are there.
///
/// # Errors
/// As [`Frontend::stream`], and when the format has no place for the columns.
pub(crate) async fn respond_in(
    format: &dyn AnswerFormat,
    state: &AppState,
    principal: &Principal,
    request: QueryRequest,
) -> Result<Response, Problem> {
    // Never closed; a closed semaphore would only end the wait.
    let permit = Arc::clone(&state.answers).acquire_owned().await.ok();
    let mut answer = state.frontend.stream(principal, request).await?;
    let is_whole = answer.is_whole();
    let rows = if is_whole { answer.first_rows() } else { 0 };
    let mut out = Vec::new();
    let columns = distinct(answer.columns());
    let encoder = match format.begin(&columns, &summary(&answer, rows, is_whole), &mut out) {
        Ok(encoder) => encoder,
        Err(reason) => {
            let error = unwritable(&reason);
            answer.fail(unwritable(&reason));
            return Err(error.into());
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(format.content_type())),
        (header::TRAILER, HeaderValue::from_static(SUMMARY_HEADER)),
        (HeaderName::from_static(SUMMARY_HEADER), summary_header(&answer, rows, is_whole)),
    ];
    // One piece waits while the connection sends the one before it.
    let (sender, receiver) = mpsc::channel(1);
    let producing = produce(answer, Writer { encoder, out }, sender);
    tokio::spawn(async move {
        producing.await;
        drop(permit);
    });
    Ok((headers, Body::new(StreamedBody { receiver, ended: false })).into_response())
}

/// The columns, with distinct names.
fn distinct(columns: &[AnswerColumn]) -> Vec<AnswerColumn> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let names = distinct_column_names(&names).into_iter();
    let both = names.zip(columns);
    both.map(|(name, column)| AnswerColumn { name, form: column.form }).collect()
}

/// A value, or a column, that the format cannot hold.
fn unwritable(reason: &str) -> FrontendError {
    FrontendError::new(ErrorKind::BadQuery, reason)
        .hint("cast the column, as in x::string, or ask for JSON")
}

/// A part of a body.
enum Part {
    Data(Bytes),
    /// The end, with the trailers.
    End(HeaderMap),
}

/// Sends the parts of an answer until its end, an error, or the end of the connection.
async fn produce(mut answer: AnswerStream, writer: Writer, sender: mpsc::Sender<Part>) {
    // Without a receiver, dropping the answer cancels its query.
    tokio::select! {
        () = sender.closed() => {}
        produced = send_all(&mut answer, writer, &sender) => {
            if let Err(error) = produced {
                tracing::debug!(kind = error.kind.name(), "an answer broke off");
                answer.fail(error);
            }
        }
    }
}

async fn send_all(
    answer: &mut AnswerStream,
    mut writer: Writer,
    sender: &mpsc::Sender<Part>,
) -> Result<(), FrontendError> {
    while let Some(RowBatch { rows, mut reservation }) = answer.next().await? {
        let mut pieces = Pieces { rows: Arc::new(rows), first: 0 };
        while let Some(batch) = pieces.next() {
            let left = if pieces.is_at_end() { 0 } else { pieces.rows.bytes() };
            let bytes;
            (writer, bytes) = writer.write(batch).await?;
            let piece = reserved(bytes, left, &mut reservation)?;
            if sender.send(Part::Data(piece)).await.is_err() {
                return Ok(());
            }
        }
    }
    let bytes = writer.finish(summary(answer, answer.rows(), true)).await?;
    let mut trailers = HeaderMap::new();
    let name = HeaderName::from_static(SUMMARY_HEADER);
    trailers.insert(name, summary_header(answer, answer.rows(), true));
    if !bytes.is_empty() && sender.send(Part::Data(bytes.into())).await.is_err() {
        return Ok(());
    }
    // A client that is gone needs no end.
    let _ = sender.send(Part::End(trailers)).await;
    Ok(())
}

/// Cuts rows into batches.
struct Pieces {
    rows: Arc<RowColumns>,
    /// The first row of the next batch.
    first: usize,
}

impl Pieces {
    fn is_at_end(&self) -> bool {
        self.first >= self.rows.rows()
    }
}

impl Iterator for Pieces {
    type Item = Arc<RowColumns>;

    fn next(&mut self) -> Option<Arc<RowColumns>> {
        let (first, all) = (self.first, self.rows.rows());
        let rows_max = usize::try_from(limits::STREAMED_PAGE_ROWS).unwrap_or(usize::MAX);
        let bytes_max = limits::RECORD_BATCH_BYTES_MAX;
        if first >= all {
            return None;
        }
        let (mut end, mut bytes) = (first, 0_usize);
        if first == 0 && all <= rows_max && self.rows.bytes_as_rows() <= bytes_max {
            end = all;
        }
        while end < all && end - first < rows_max {
            bytes = bytes.saturating_add(self.rows.row_bytes(end));
            if end > first && bytes > bytes_max {
                break;
            }
            end += 1;
        }
        self.first = end;
        if first == 0 && end == all {
            return Some(std::mem::take(&mut self.rows));
        }
        let row = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        let batch = self.rows.gather(&(row(first)..row(end)).collect::<Vec<_>>());
        if end == all {
            self.rows = Arc::default();
        }
        Some(Arc::new(batch))
    }
}

/// The piece with its memory; `left` bytes of rows are still to be written.
fn reserved(
    bytes: Vec<u8>,
    left: usize,
    reservation: &mut MemoryReservation,
) -> Result<Bytes, FrontendError> {
    let room = reservation.resize(bytes.len().saturating_add(left));
    room.map_err(|_| FrontendError::from(&hadal_tree::AskError::NoRoom))?;
    let reservation = reservation.split(bytes.len());
    Ok(with_memory(bytes, reservation))
}

/// An encoder, and what it has written that is not sent.
struct Writer {
    encoder: Box<dyn AnswerEncoder>,
    out: Vec<u8>,
}

impl Writer {
    /// Encodes a batch; returns all bytes that are not sent.
    async fn write(self, rows: Arc<RowColumns>) -> Result<(Self, Vec<u8>), FrontendError> {
        let Self { mut encoder, mut out } = self;
        let written = blocking(move || {
            let written = encoder.batch(&rows, &mut out);
            written.map(|()| (encoder, out))
        });
        let (encoder, out) = written.await?.map_err(|reason| unwritable(&reason))?;
        Ok((Self { encoder, out: Vec::new() }, out))
    }

    /// Encodes the end; returns all bytes that are not sent.
    async fn finish(self, summary: String) -> Result<Vec<u8>, FrontendError> {
        let Self { encoder, mut out } = self;
        let written = blocking(move || encoder.end(&summary, &mut out).map(|()| out));
        written.await?.map_err(|reason| unwritable(&reason))
    }
}

/// A body that ends with [`Part::End`], and is broken off otherwise.
struct StreamedBody {
    receiver: mpsc::Receiver<Part>,
    ended: bool,
}

impl hyper::body::Body for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let part = ready!(self.receiver.poll_recv(context));
        Poll::Ready(Some(match part {
            Some(Part::Data(bytes)) => Ok(Frame::data(bytes)),
            Some(Part::End(trailers)) => {
                self.ended = true;
                Ok(Frame::trailers(trailers))
            }
            None => {
                self.ended = true;
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::SparseRow;
    use hadal_types::Value;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_body_without_its_end_is_an_error() {
        for is_ended in [false, true] {
            let (sender, receiver) = mpsc::channel(2);
            sender.send(Part::Data(Bytes::from_static(b"ab"))).await.expect("a receiver");
            if is_ended {
                sender.send(Part::End(HeaderMap::new())).await.expect("a receiver");
            }
            drop(sender);
            let read = StreamedBody { receiver, ended: false }.collect().await;
            assert_eq!(read.map(|all| all.to_bytes()).ok(), is_ended.then(|| "ab".into()));
        }
    }

    #[test]
    fn batches_are_limited_by_rows_and_by_bytes() {
        let sizes = |rows: Vec<SparseRow>| {
            let pieces = Pieces { rows: Arc::new(RowColumns::of_rows(&rows, 1)), first: 0 };
            let (mut sizes, mut all) = (Vec::new(), Vec::new());
            for piece in pieces {
                sizes.push(piece.rows());
                all.extend(piece.to_rows());
            }
            assert!(all == rows, "every row once and in order");
            sizes
        };
        let page = usize::try_from(limits::STREAMED_PAGE_ROWS).expect("small");
        let small = SparseRow::from([Value::integer(1)]);
        assert_eq!(sizes(vec![small.clone(); page + 1]), [page, 1]);
        let text = Value::string(&"x".repeat(limits::RECORD_BATCH_BYTES_MAX / 2));
        let large = SparseRow::from([text]);
        let huge = SparseRow::from([Value::string(&"x".repeat(limits::RECORD_BATCH_BYTES_MAX))]);
        assert_eq!(sizes(vec![small, large.clone(), huge, large]), [2, 1, 1]);
        assert_eq!(sizes(Vec::new()), [0; 0]);
    }
}
