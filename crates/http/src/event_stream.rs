//! Answers as server-sent events: updates on the query while it runs, and then its answer.
//!
//! ```text
//! event: progress
//! data: {"leaves_asked", "leaves_answered", "rows_expected", "rows_scanned", "elapsed_micros"}
//!
//! event: partial
//! data: an answer from the rows scanned by then
//!
//! event: answer
//! data: the answer
//! ```
//!
//! The last event is `answer`, or `problem` with the document of an error. The response begins with
//! the first event: an error before that is an ordinary response. Closing the connection cancels
//! the query. (WHATWG HTML, 9.2, "Server-sent events")

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hadal_frontend::{
    ErrorKind, FrontendError, Principal, QueryRequest, QueryResult, QueryUpdate, blocking,
};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::accept::EVENTS;
use crate::problem::Problem;
use crate::query_response::pieces;
use crate::state::AppState;

/// What is sent to the connection.
enum Sent {
    /// The bytes of one event.
    Event(VecDeque<Bytes>),
    /// The end of the query.
    Failure(Problem),
}

/// Answers a query with events.
///
/// # Errors
/// When the query fails before the first event.
pub(crate) async fn respond_in_events(
    state: &Arc<AppState>,
    principal: Principal,
    request: QueryRequest,
) -> Result<Response, Problem> {
    // One event waits while the connection sends the one before it.
    let (sender, mut receiver) = mpsc::channel(1);
    let state = Arc::clone(state);
    tokio::spawn(async move {
        // Without a receiver, the query is cancelled.
        tokio::select! {
            () = sender.closed() => {}
            () = produce(&state, &principal, request, &sender) => {}
        }
    });
    let event = match receiver.recv().await {
        Some(Sent::Event(event)) => event,
        Some(Sent::Failure(problem)) => return Err(problem),
        None => return Err(Problem::new(ErrorKind::Internal, "the query ended without an answer")),
    };
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS))];
    Ok((headers, Body::new(EventBody { event, receiver })).into_response())
}

/// Runs the query, and sends its events.
async fn produce(
    state: &AppState,
    principal: &Principal,
    mut request: QueryRequest,
    sender: &mpsc::Sender<Sent>,
) {
    let (updates, mut update_receiver) = mpsc::channel(1);
    request.updates = Some(updates);
    let (start, until) = (request.start, request.until);
    let (finish, finished) = oneshot::channel();
    // Sent when the query has ended: a client that reads slowly does not use up its time.
    let deliver = |result| async move {
        let answer = blocking(move || pieces(result, start, until)).await??;
        let _ = finish.send(event("answer", answer));
        Ok(())
    };
    let executing = state.frontend.execute(principal, request, deliver);
    let updating = async {
        while let Some(update) = update_receiver.recv().await {
            // Nothing waits behind an update that has not been read.
            if sender.capacity() > 0 {
                send_update(sender, update, (start, until)).await;
            }
        }
        std::future::pending::<Infallible>().await
    };
    let outcome = tokio::select! {
        biased;
        outcome = executing => outcome,
        never = updating => match never {},
    };
    let last = match outcome {
        Ok(()) => finished.await.ok().map(Sent::Event),
        Err(error) => Some(Sent::Failure(error.into())),
    };
    if let Some(last) = last {
        // A client that is gone needs no answer.
        let _ = sender.send(last).await;
    }
}

#[derive(Serialize)]
struct ProgressBody {
    leaves_asked: u32,
    leaves_answered: u32,
    rows_expected: u64,
    rows_scanned: u64,
    elapsed_micros: u64,
}

/// Sends the progress, and the partial answer if it can be written.
async fn send_update(
    sender: &mpsc::Sender<Sent>,
    QueryUpdate { progress, partial }: QueryUpdate,
    times: (Instant, Instant),
) {
    let body = ProgressBody {
        leaves_asked: progress.leaves_asked,
        leaves_answered: progress.leaves_answered,
        rows_expected: progress.rows_expected,
        rows_scanned: progress.rows_scanned,
        elapsed_micros: u64::try_from(times.0.elapsed().as_micros()).unwrap_or(u64::MAX),
    };
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let mut events = event("progress", VecDeque::from([body.into()]));
    if let Some(Ok(partial)) = match partial {
        Some(partial) => Some(written(partial, times).await),
        None => None,
    } {
        events.extend(event("partial", partial));
    }
    // A client that is gone needs no update.
    let _ = sender.send(Sent::Event(events)).await;
}

async fn written(
    partial: QueryResult,
    (start, until): (Instant, Instant),
) -> Result<VecDeque<Bytes>, FrontendError> {
    blocking(move || pieces(partial, start, until)).await?
}

/// An event; `data` has no line ends.
fn event(name: &str, mut data: VecDeque<Bytes>) -> VecDeque<Bytes> {
    data.push_front(format!("event: {name}\ndata: ").into());
    data.push_back(Bytes::from_static(b"\n\n"));
    data
}

/// The events, one after the other; the body ends with the query.
struct EventBody {
    /// The bytes of the last event that were not sent.
    event: VecDeque<Bytes>,
    receiver: mpsc::Receiver<Sent>,
}

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.event.is_empty() {
            self.event = match ready!(self.receiver.poll_recv(context)) {
                Some(Sent::Event(next)) => next,
                Some(Sent::Failure(problem)) => {
                    event("problem", VecDeque::from([problem.document().into()]))
                }
                None => return Poll::Ready(None),
            };
        }
        Poll::Ready(self.event.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }
}
