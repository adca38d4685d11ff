//! A leaf that others may use as far as it knows which of its batches are revoked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_leaf::Leaf;
use hadal_peer::{
    Batch, BatchLookup, BoxFuture, MemberState, Peer, PeerStatus, Receipt, Sink, SinkError,
    StatusScope, TableBlocks, TableReport,
};
use hadal_query::Query;
use hadal_tree::revocation_review::RevocationReview;
use hadal_types::{BatchId, Clock, LeafName, LeafState, Micros, TableName};
use parking_lot::Mutex;

/// A batch of a table.
pub(crate) type BatchKey = (TableName, BatchId);

/// A leaf, and the review of its revoked batches. While the review does not allow it, the leaf
/// answers no queries, and takes no batches that may be retries.
pub(crate) struct ReviewedLeaf {
    pub(crate) leaf: Arc<Leaf>,
    /// Never locked while something is waited for.
    pub(crate) review: Mutex<RevocationReview<LeafName, BatchKey>>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ReviewedLeaf {
    /// A leaf whose process was `away` until it started now; `None` if that is unknown.
    pub(crate) fn new(leaf: Arc<Leaf>, away: Option<Duration>, clock: Arc<dyn Clock>) -> Self {
        // Nothing is settled before the first read.
        leaf.note_revocations_read(Micros(0));
        let review = RevocationReview::new(clock.running(), away, leaf.remembers_batches());
        Self { leaf, review: Mutex::new(review), clock }
    }

    fn may_serve(&self) -> bool {
        self.review.lock().may_serve(self.clock.running())
    }

    fn takes_retries(&self) -> bool {
        self.review.lock().takes_retries(self.clock.running())
    }

    /// Whether it knows its revoked batches, and others may use it without any limit.
    pub(crate) fn is_reviewed(&self) -> bool {
        self.may_serve() && self.takes_retries()
    }

    /// The state to announce for a leaf that is in this state.
    pub(crate) fn state(&self, state: LeafState) -> LeafState {
        match self.is_reviewed() {
            true => state,
            false => state.max(LeafState::MemoryRecovery),
        }
    }

    /// A lookup as far as the leaf may answer it. Before the records are read, the batch may be
    /// revoked here, and only they say where it went.
    fn checked(&self, lookup: BatchLookup) -> BatchLookup {
        match lookup.is_known || self.takes_retries() {
            true => lookup,
            false => BatchLookup::default(),
        }
    }

    /// Before the records are read, it is unknown whether the leaf may have the batch. If the leaf
    /// declined the batch, it would be revoked here and move for nothing.
    fn check_retry(&self, batch: &Batch) -> Result<(), SinkError> {
        match batch.first_try || self.takes_retries() {
            true => Ok(()),
            false => {
                let leaf = self.leaf.name();
                Err(SinkError::OutcomeUnknown(format!(
                    "{leaf} (it does not know its revoked batches)"
                )))
            }
        }
    }
}

impl Peer for ReviewedLeaf {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        if self.may_serve() {
            return self.leaf.query(query, deadline);
        }
        let holdings = self.leaf.holdings();
        let rows_expected = holdings.get(&query.table).map_or(0, |(rows, _)| *rows);
        let leaf = LeafCoverage {
            name: self.leaf.name().clone(),
            outcome: LeafOutcome::Restarting,
            rows_expected,
            rows_scanned: 0,
            micros: 0,
            as_of: (0, 0),
        };
        let mut partial = Partial::empty(&query);
        partial.coverage = Coverage::of_leaf(leaf, false);
        Box::pin(async move { partial })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let mut status = self.leaf.status(scope).await;
            for leaf in &mut status.leaves {
                if let MemberState::Announced(state) = leaf.state {
                    leaf.state = MemberState::Announced(self.state(state));
                }
            }
            status
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaf.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.leaf.blocks(table)
    }
}

impl Sink for ReviewedLeaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            self.check_retry(&batch)?;
            self.leaf.accept(batch).await
        })
    }

    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            self.check_retry(&batch)?;
            self.leaf.accept_moved(batch).await
        })
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move { self.checked(self.leaf.look_up(table, id).await) })
    }

    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move { self.checked(self.leaf.refuse(table, id).await) })
    }
}
