//! The turn of a query: waits for a place among the running queries, and gives it back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hadal_types::limits;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::error::{ErrorKind, FrontendError};
use crate::query_client::QueryClient;
use crate::state::fair_queue::{Entered, FairQueue, QueueLimits, Ticket};

/// The queries that wait and run. Clones share them.
#[derive(Clone)]
pub(crate) struct QueryTurns(Arc<Mutex<State>>);

struct State {
    queue: FairQueue<QueryClient>,
    /// Signals to a waiting query that it may run, or that it is refused.
    signals: HashMap<Ticket, oneshot::Sender<Signal>>,
    /// The running queries, long ones included.
    running: HashSet<Ticket>,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Run,
    Refused,
}

/// A query that waits or runs, until this is dropped.
pub(crate) struct QueryTurn {
    turns: QueryTurns,
    ticket: Ticket,
    is_long: bool,
}

impl QueryTurns {
    /// No queries. `cores` is the number of processors.
    pub(crate) fn new(cores: usize) -> Self {
        Self::with(QueueLimits {
            places: cores.max(1) * limits::QUERIES_RUNNING_PER_CORE,
            long: limits::LONG_QUERIES_MAX,
            waiting: limits::QUERIES_WAITING_MAX,
        })
    }

    fn with(limits: QueueLimits) -> Self {
        Self(Arc::new(Mutex::new(State {
            queue: FairQueue::new(limits),
            signals: HashMap::new(),
            running: HashSet::new(),
        })))
    }

    /// Waits for the turn of a client's query.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when too many queries wait.
    pub(crate) async fn wait(&self, client: QueryClient) -> Result<QueryTurn, FrontendError> {
        let (turn, signal) = self.enter(client).ok_or_else(refused)?;
        match signal.await {
            Ok(Signal::Run) => Ok(turn),
            // A sender is not dropped without a signal.
            Ok(Signal::Refused) | Err(_) => Err(refused()),
        }
    }

    fn enter(&self, client: QueryClient) -> Option<(QueryTurn, oneshot::Receiver<Signal>)> {
        let mut state = self.0.lock();
        let ticket = match state.queue.enter(client) {
            Entered::Waiting(ticket) => ticket,
            Entered::InPlaceOf { ticket, refused } => {
                state.signal(refused, Signal::Refused);
                ticket
            }
            Entered::Refused => return None,
        };
        let (sender, receiver) = oneshot::channel();
        state.signals.insert(ticket, sender);
        state.run_next();
        let turn = QueryTurn { turns: self.clone(), ticket, is_long: false };
        Some((turn, receiver))
    }

    /// The number of waiting queries.
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().queue.waiting()
    }
}

impl State {
    /// Runs queries while there are places.
    fn run_next(&mut self) {
        while let Some(ticket) = self.queue.next() {
            self.running.insert(ticket);
            self.signal(ticket, Signal::Run);
        }
    }

    fn signal(&mut self, ticket: Ticket, signal: Signal) {
        if let Some(sender) = self.signals.remove(&ticket) {
            // A query that has gone meanwhile gives its place back when its turn is dropped.
            let _ = sender.send(signal);
        }
    }
}

impl QueryTurn {
    /// Frees the place for another query, because this one takes long. Returns whether it could:
    /// not while there are too many long ones.
    pub(crate) fn make_long(&mut self) -> bool {
        let mut state = self.turns.0.lock();
        if !self.is_long && state.queue.make_long() {
            self.is_long = true;
            state.run_next();
        }
        self.is_long
    }
}

impl Drop for QueryTurn {
    fn drop(&mut self) {
        let mut state = self.turns.0.lock();
        state.signals.remove(&self.ticket);
        match state.running.remove(&self.ticket) {
            true => state.queue.end(self.is_long),
            // It waits, or it was refused.
            false => _ = state.queue.leave(self.ticket),
        }
        state.run_next();
    }
}

fn refused() -> FrontendError {
    let most = limits::QUERIES_WAITING_MAX;
    let detail = format!("{most} queries wait already, the most that may");
    FrontendError::new(ErrorKind::Busy, detail)
        .hint("try again in a second, with fewer queries at the same time")
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn client(port: u16) -> QueryClient {
        QueryClient::of_peer(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    fn turns(places: usize, waiting: usize) -> QueryTurns {
        QueryTurns::with(QueueLimits { places, long: 1, waiting })
    }

    #[tokio::test]
    async fn a_query_waits_for_a_place_and_gives_it_back() {
        let turns = turns(1, 8);
        let first = turns.wait(client(1)).await.expect("a place");
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { turns.wait(client(2)).await.map(drop) }
        });
        while turns.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        drop(first);
        waiting.await.expect("no panic").expect("a place");
        assert!(turns.wait(client(3)).await.is_ok());
    }

    #[tokio::test]
    async fn a_query_that_is_dropped_loses_nothing_whether_it_waits_or_may_run() {
        let turns = turns(1, 8);
        let (first, _signal) = turns.enter(client(1)).expect("room");
        let (second, signal) = turns.enter(client(2)).expect("room");
        let (third, _third_signal) = turns.enter(client(3)).expect("room");
        drop(third);
        assert_eq!(turns.waiting(), 1);
        // The second may run, and goes before it sees that.
        drop(first);
        assert_eq!(turns.waiting(), 0);
        drop((second, signal));
        assert!(turns.wait(client(4)).await.is_ok());
    }

    #[tokio::test]
    async fn a_long_query_lets_others_run() {
        let turns = turns(1, 8);
        let mut long = turns.wait(client(1)).await.expect("a place");
        assert!(long.make_long());
        let mut other = turns.wait(client(2)).await.expect("a place");
        // Only one may be long, so this one keeps its place.
        assert!(!other.make_long());
        let (waiting, mut signal) = turns.enter(client(3)).expect("room");
        assert!(signal.try_recv().is_err());
        drop(other);
        assert_eq!(signal.try_recv(), Ok(Signal::Run));
        drop((long, waiting));
        assert_eq!(turns.waiting(), 0);
    }

    #[tokio::test]
    async fn running_and_long_queries_are_limited() {
        let turns = QueryTurns::new(1);
        let mut long = Vec::new();
        for port in 0..limits::LONG_QUERIES_MAX {
            let port = u16::try_from(port).expect("small");
            let mut turn = turns.wait(client(port)).await.expect("a place");
            assert!(turn.make_long());
            long.push(turn);
        }
        let mut running = Vec::new();
        for _ in 0..limits::QUERIES_RUNNING_PER_CORE {
            let mut turn = turns.wait(client(0)).await.expect("a place");
            assert!(!turn.make_long());
            running.push(turn);
        }
        let (_waiting, mut signal) = turns.enter(client(1)).expect("room");
        assert!(signal.try_recv().is_err());
        drop(long);
        assert!(signal.try_recv().is_err());
        assert!(running[0].make_long());
        assert_eq!(signal.try_recv(), Ok(Signal::Run));
    }

    #[tokio::test]
    async fn the_client_with_the_most_queries_is_refused() {
        let turns = turns(1, 3);
        let running = turns.wait(client(1)).await.expect("a place");
        let many: Vec<_> = (0..3).map(|_| turns.enter(client(1)).expect("room")).collect();
        let error = turns.wait(client(1)).await.err().expect("refused");
        assert_eq!(error.kind, ErrorKind::Busy);
        assert!(error.detail.contains(&limits::QUERIES_WAITING_MAX.to_string()), "{error}");
        let other = turns.enter(client(2)).expect("room");
        let (many, mut signals): (Vec<_>, Vec<_>) = many.into_iter().unzip();
        assert_eq!(signals.pop().map(|mut signal| signal.try_recv()), Some(Ok(Signal::Refused)));
        // Also if it goes before it sees that.
        drop((running, many, other));
        let state = turns.0.lock();
        assert!(state.signals.is_empty() && state.running.is_empty());
        assert_eq!(state.queue.waiting(), 0);
    }
}
