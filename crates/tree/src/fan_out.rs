//! Asks several children at the same time, and merges the partials that arrive in time.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{BoxFuture, Peer, Plan, PlannedPeer, QueryWatch, WatchedPart};
use hadal_query::Query;
use hadal_types::limits::MERGE_AT_ONCE_BYTES;
use hadal_types::{CancelOnDrop, LeafName};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant as TokioInstant, timeout_at};

use crate::child_coverage;
use crate::expected_rows::ExpectedRows;
use crate::straggler_timeout::{earlier, wait_until};

/// One child, and the leaves that it answers for.
pub(crate) struct Child {
    pub(crate) target: Target,
    pub(crate) leaves: Vec<LeafName>,
}

/// What is asked of a child.
pub(crate) enum Target {
    /// All that is at or below it.
    Peer(Arc<dyn Peer>),
    /// The leaves of a plan.
    Subtree(Arc<dyn PlannedPeer>, Arc<Plan>),
}

impl Child {
    fn query(
        &self,
        query: Arc<Query>,
        deadline: Instant,
        watch: &QueryWatch,
    ) -> BoxFuture<'_, Partial> {
        match &self.target {
            Target::Peer(peer) => peer.query_watched(query, deadline, watch.clone()),
            Target::Subtree(peer, plan) => peer.query_planned(query, Arc::clone(plan), deadline),
        }
    }
}

/// Asks children, and counts the answers that it could not use.
pub(crate) struct FanOut {
    leaves: Leaves,
    expected_rows: Arc<ExpectedRows>,
    late: AtomicU64,
    refused: AtomicU64,
}

/// Where the leaves are: how far their counts of their own rows are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// In this process, whose leaves know all their losses.
    Local,
    /// In other processes, which may have lost rows without knowing it.
    Remote,
}

/// The children of one query, and what is still missing of them.
struct Round<'q> {
    query: &'q Arc<Query>,
    start: Instant,
    deadline: Instant,
    /// The expected rows of each child; `None` once it has answered.
    waiting: Vec<Option<u64>>,
    /// Whether a child with rows has answered.
    has_answer: bool,
    /// The expected rows of children that have not answered.
    missing: u64,
    /// The expected rows of the whole query.
    whole: u64,
}

impl FanOut {
    pub(crate) fn new(leaves: Leaves, expected_rows: &Arc<ExpectedRows>) -> Self {
        let expected_rows = Arc::clone(expected_rows);
        Self { leaves, expected_rows, late: AtomicU64::default(), refused: AtomicU64::default() }
    }

    pub(crate) fn expected_rows(&self) -> &Arc<ExpectedRows> {
        &self.expected_rows
    }

    /// Answers that had not come when waiting for them ended.
    pub(crate) fn late_answers(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }

    /// Answers for other leaves than those that were asked for.
    pub(crate) fn refused_answers(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Asks all children; each of their leaves is in the coverage once. `whole` is how many rows
    /// all leaves of the query should have, if more than the children's.
    pub(crate) async fn ask(
        &self,
        children: &[Arc<Child>],
        whole: u64,
        query: &Arc<Query>,
        deadline: Instant,
        watch: &QueryWatch,
    ) -> Partial {
        let mut round = self.begin(children, whole, query, deadline);
        let for_children = earlier(round.start, deadline);
        let mut answers = FuturesUnordered::new();
        for (index, child) in children.iter().enumerate() {
            let answer = child.query(Arc::clone(query), for_children, watch);
            answers.push(async move { (index, answer.await) });
        }
        let mut merged = Partial::empty(query);
        let mut until = deadline;
        let shown = Arc::new(watch.part());
        merged = self.show(&shown, merged, children, &round).await;
        while let Ok(Some((index, partial))) = timeout_at(until.into(), answers.next()).await {
            let partial = self.checked(partial, &children[index], query);
            merged = merge(merged, partial, query).await;
            if !merged.errors.is_empty() {
                // The query has failed: the other peers need not continue.
                return merged;
            }
            until = round.until_after(index);
            merged = self.show(&shown, merged, children, &round).await;
        }
        self.add_silent(&mut merged, children, &round);
        merged
    }

    fn begin<'q>(
        &self,
        children: &[Arc<Child>],
        whole: u64,
        query: &'q Arc<Query>,
        deadline: Instant,
    ) -> Round<'q> {
        let expected = |child: &Arc<Child>| {
            let leaves = child.leaves.iter();
            Some(leaves.map(|leaf| self.expected_rows.expected(leaf, &query.table)).sum())
        };
        let waiting: Vec<Option<u64>> = children.iter().map(expected).collect();
        let expected = waiting.iter().flatten().sum();
        let whole = whole.max(expected);
        Round {
            query,
            start: now(),
            deadline,
            waiting,
            has_answer: false,
            missing: expected,
            whole,
        }
    }

    /// The partial with the coverage of exactly these leaves; an empty one if it has rows of
    /// others.
    fn checked(&self, mut partial: Partial, child: &Child, query: &Query) -> Partial {
        let leaves = &child.leaves;
        if !child_coverage::is_of(&partial.coverage, leaves) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let mut empty = Partial::empty(query);
            for leaf in leaves {
                empty.coverage.merge(self.unanswered(leaf, LeafOutcome::Failed, query, 0));
            }
            return empty;
        }
        self.learn(&mut partial, child, query);
        self.with_expected(partial, leaves, query)
    }

    /// Compares the rows that leaves hold with those that they should hold. That is done once per
    /// leaf: by who asked it directly.
    fn learn(&self, partial: &mut Partial, child: &Child, query: &Query) {
        for leaf in &mut partial.coverage.leaves {
            if leaf.outcome != LeafOutcome::Answered {
                continue;
            }
            let (name, table, rows) = (&leaf.name, &query.table, leaf.rows_expected);
            if self.leaves == Leaves::Local {
                self.expected_rows.set(name, table, rows);
                continue;
            }
            let expected = self.expected_rows.answered(name, table, rows, leaf.as_of);
            if matches!(child.target, Target::Peer(_)) {
                leaf.rows_expected = expected;
            }
        }
    }

    /// Completes the partial with the expected rows of leaves that failed, which cannot report
    /// them, and with leaves that it does not mention.
    fn with_expected(&self, mut partial: Partial, leaves: &[LeafName], query: &Query) -> Partial {
        let coverage = &mut partial.coverage;
        for leaf in &mut coverage.leaves {
            if leaf.outcome != LeafOutcome::Answered {
                leaf.rows_expected = leaf.rows_expected.max(self.expected(&leaf.name, query));
            }
        }
        child_coverage::sum_up(coverage);
        let mentioned: BTreeSet<&LeafName> =
            coverage.leaves.iter().map(|leaf| &leaf.name).collect();
        let forgotten = leaves.iter().filter(|leaf| !mentioned.contains(leaf));
        let silent: Vec<Coverage> =
            forgotten.map(|leaf| self.unanswered(leaf, LeafOutcome::Failed, query, 0)).collect();
        silent.into_iter().for_each(|leaf| coverage.merge(leaf));
        partial
    }

    /// Shows what is merged to the watch of the query, while children have not answered. Returns
    /// the same.
    async fn show(
        &self,
        shown: &Arc<WatchedPart>,
        merged: Partial,
        children: &[Arc<Child>],
        round: &Round<'_>,
    ) -> Partial {
        if !shown.is_watched() || round.waiting.iter().all(Option::is_none) {
            return merged;
        }
        let waiting = children.iter().zip(&round.waiting).filter(|(_, waits)| waits.is_some());
        let leaves = waiting.flat_map(|(child, _)| &child.leaves);
        let silent = leaves
            .map(|leaf| self.unanswered(leaf, LeafOutcome::Late, round.query, round.micros()));
        let silent = silent.collect();
        if merged.reservation.bytes() <= MERGE_AT_ONCE_BYTES {
            shown.show(&merged, silent);
            return merged;
        }
        let shown = Arc::clone(shown);
        let showing = move || {
            shown.show(&merged, silent);
            merged
        };
        on_blocking_thread(showing, round.query).await
    }

    /// Adds the leaves of children that did not answer in time.
    fn add_silent(&self, merged: &mut Partial, children: &[Arc<Child>], round: &Round<'_>) {
        let micros = round.micros();
        let silent = children.iter().zip(&round.waiting).filter(|(_, waits)| waits.is_some());
        for (child, _) in silent {
            self.late.fetch_add(1, Ordering::Relaxed);
            for leaf in &child.leaves {
                let leaf = self.unanswered(leaf, LeafOutcome::Late, round.query, micros);
                merged.coverage.merge(leaf);
            }
        }
    }

    /// The coverage of a leaf without an answer.
    pub(crate) fn unanswered(
        &self,
        leaf: &LeafName,
        outcome: LeafOutcome,
        query: &Query,
        micros: u64,
    ) -> Coverage {
        let leaf = LeafCoverage {
            name: leaf.clone(),
            outcome,
            rows_expected: self.expected(leaf, query),
            rows_scanned: 0,
            micros,
            as_of: (0, 0),
        };
        let unknown_losses = u64::from(self.expected_rows.has_left_out());
        Coverage { unknown_losses, ..Coverage::of_leaf(leaf, false) }
    }

    /// Rows of a leaf that may concern the query.
    fn expected(&self, leaf: &LeafName, query: &Query) -> u64 {
        self.expected_rows.expected_in(leaf, &query.table, &query.range)
    }
}

impl Round<'_> {
    /// Microseconds since the start.
    fn micros(&self) -> u64 {
        let micros = now().saturating_duration_since(self.start).as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    /// Notes that a child has answered; returns until when to wait for others.
    fn until_after(&mut self, index: usize) -> Instant {
        let answered = self.waiting[index].take().unwrap_or(0);
        self.missing -= answered.min(self.missing);
        self.has_answer |= answered > 0;
        match self.query.require_complete || !self.has_answer {
            true => self.deadline,
            false => wait_until(self.start, now(), self.deadline, self.missing, self.whole),
        }
    }
}

/// The runtime's clock, which a test or a simulation may own.
fn now() -> Instant {
    TokioInstant::now().into_std()
}

async fn merge(mut merged: Partial, partial: Partial, query: &Query) -> Partial {
    if merged.reservation.bytes().min(partial.reservation.bytes()) <= MERGE_AT_ONCE_BYTES {
        merged.merge(partial);
        return merged;
    }
    let waits = CancelOnDrop::default();
    let cancelled = waits.cancelled();
    let merging = move || {
        merged.merge_unless(partial, &|| cancelled.is_cancelled());
        merged
    };
    on_blocking_thread(merging, query).await
}

/// Does what takes long where it delays no other request.
async fn on_blocking_thread(
    work: impl FnOnce() -> Partial + Send + 'static,
    query: &Query,
) -> Partial {
    match spawn_blocking(work).await.map_err(JoinError::try_into_panic) {
        Ok(merged) => merged,
        Err(Ok(panic)) => resume_unwind(panic),
        // The program ends, and the client's connection with it.
        Err(Err(_)) => Partial::empty(query),
    }
}
