//! A leaf that counts the batches that it took.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, LeafStatus, MemberState, Peer, PeerStatus, Receipt, Sink,
    SinkError, StatusScope, TableBlocks, TableChange, TableReport,
};
use hadal_query::Query;
use hadal_types::{BatchId, LeafName, LeafState, TableName};
use parking_lot::Mutex;

use crate::records::Records;

/// One leaf. What it took outlives its process, and its promises do not.
pub(crate) struct CountingLeaf {
    name: LeafName,
    records: Arc<Records>,
    refused: Mutex<BTreeSet<BatchId>>,
}

impl CountingLeaf {
    pub(crate) fn new(name: LeafName, records: Arc<Records>) -> Self {
        Self { name, records, refused: Mutex::default() }
    }

    fn take(&self, batch: &Batch, moves: bool) -> Result<Receipt, SinkError> {
        let promised = !moves && self.refused.lock().contains(&batch.id);
        let is_refused = promised || self.records.is_revoked(&self.name, &batch.id);
        if is_refused && !self.records.has(&self.name, &batch.id) {
            return Err(SinkError::Unavailable(self.name.to_string()));
        }
        let duplicate = !self.records.take(&self.name, &batch.id);
        let (rows, durable, overflowing, report) = (batch.rows, true, false, None);
        Ok(Receipt { rows, duplicate, durable, overflowing, report })
    }
}

impl Peer for CountingLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        let rows = self.records.counting(&self.name).len() as u64;
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: LeafOutcome::Answered,
            rows_expected: rows,
            rows_scanned: rows,
            micros: 1,
            as_of: (0, 0),
        };
        let mut partial = Partial::empty(&query);
        partial.coverage = Coverage::of_leaf(leaf, true);
        Box::pin(async move { partial })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        let status = LeafStatus {
            name: self.name.clone(),
            state: MemberState::Announced(LeafState::Alive),
            block_bytes: 0,
            tables: Arc::default(),
            losses: Vec::new(),
        };
        Box::pin(async move { PeerStatus { leaves: vec![status] } })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

impl Sink for CountingLeaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move { self.take(&batch, false) })
    }

    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move { self.take(&batch, true) })
    }

    fn look_up<'a>(&'a self, _: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        let is_known = self.records.has(&self.name, id);
        let lookup = BatchLookup {
            is_answered: true,
            is_known,
            is_accepted: is_known,
            is_revoked: !is_known && self.records.is_revoked(&self.name, id),
            takes_batches: true,
            free_bytes: u64::MAX,
            ..BatchLookup::default()
        };
        Box::pin(async move { lookup })
    }

    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let lookup = self.look_up(table, id).await;
            if lookup.is_known {
                return lookup;
            }
            self.refused.lock().insert(id.clone());
            BatchLookup { is_refused: true, ..lookup }
        })
    }
}

impl Admin for CountingLeaf {
    fn apply(&self, _change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async { Ok(0) })
    }
}
