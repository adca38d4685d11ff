//! Carries out the decisions of [`RevocationReview`](hadal_tree::revocation_review) for the leaf of
//! this process: reads the records of its revoked batches, asks other leaves for them, drops its
//! copies.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_definitions::{DefinitionStore, DefinitionsError, Revocation};
use hadal_leaf::HeldBatch;
use hadal_membership::Membership;
use hadal_peer::{BoxFuture, Sink};
use hadal_rpc::RemoteLeaf;
use hadal_tree::comes_later;
use hadal_tree::revocation_review::{Effect, Event, RevokedBatch};
use hadal_types::limits::BATCH_ID_SECONDS;
use hadal_types::{LeafName, Micros};
use tokio::time::{Instant, sleep};

use crate::process::cluster::connections::Connections;
use crate::process::cluster::reviewed_leaf::{BatchKey, ReviewedLeaf};

/// How often a batch that is being written is checked.
const WRITING: Duration = Duration::from_millis(10);
/// Only after this many reads is it reported that the records cannot be read.
const FAILED_READS: u32 = 3;
/// How long the first read is repeated until it succeeds. A process that starts has not heard of
/// the other members yet, and the next read would come only after two seconds.
const FIRST_READ: Duration = Duration::from_secs(1);
/// The pause between these repetitions.
const FIRST_READ_AGAIN: Duration = Duration::from_millis(50);

/// The review of the batches of one leaf.
pub(crate) struct Review {
    leaf: Arc<ReviewedLeaf>,
    definitions: Arc<dyn DefinitionStore>,
    membership: Arc<Membership>,
    connections: Connections,
    /// How many reads have failed one after the other.
    failed_reads: AtomicU32,
    /// Whether a read was begun.
    has_begun: AtomicBool,
}

type ReviewEvent = Event<LeafName, BatchKey>;

impl Review {
    pub(crate) fn new(
        leaf: Arc<ReviewedLeaf>,
        definitions: Arc<dyn DefinitionStore>,
        membership: Arc<Membership>,
        connections: Connections,
    ) -> Self {
        let (failed_reads, has_begun) = (AtomicU32::new(0), AtomicBool::new(false));
        Self { leaf, definitions, membership, connections, failed_reads, has_begun }
    }

    /// Reviews for as long as the process runs.
    pub(crate) async fn run(self) {
        let mut asking = FuturesUnordered::<BoxFuture<'_, ReviewEvent>>::new();
        let mut dropping = FuturesUnordered::<BoxFuture<'_, ReviewEvent>>::new();
        let (mut event, mut effects) = (Event::Time, Vec::new());
        loop {
            let mut wake_at = Duration::MAX;
            self.step(event, &mut effects);
            for effect in effects.drain(..) {
                match effect {
                    Effect::Abandon => asking.clear(),
                    Effect::Read => asking.push(Box::pin(self.read())),
                    Effect::LookUp { batch, leaf } => {
                        asking.push(Box::pin(self.look_up(batch, leaf)));
                    }
                    // Done with the read, before the leaf was asked what it holds.
                    Effect::Refuse { .. } => {}
                    Effect::Drop { batch } => dropping.push(Box::pin(self.drop_batch(batch))),
                    Effect::WaitUntil(time) => wake_at = time,
                }
            }
            let pause = wake_at.saturating_sub(self.leaf.clock.running());
            event = tokio::select! {
                Some(event) = asking.next() => event,
                Some(event) = dropping.next() => event,
                () = sleep(pause) => Event::Time,
            };
        }
    }

    fn step(&self, event: ReviewEvent, effects: &mut Vec<Effect<LeafName, BatchKey>>) {
        let clock = &self.leaf.clock;
        let mut review = self.leaf.review.lock();
        let was_serving = review.may_serve(clock.running());
        review.step(clock.running(), event, effects);
        if let Some(read) = review.read_at() {
            let age = clock.running().saturating_sub(read).as_micros();
            let age = i64::try_from(age).unwrap_or(i64::MAX);
            self.leaf.leaf.note_revocations_read(Micros(clock.now().0.saturating_sub(age)));
        }
        if review.may_serve(clock.running()) && !was_serving {
            tracing::info!(leaf = %self.leaf.leaf.name(), "the leaf serves queries");
        }
    }

    /// Reads the records of this leaf, and refuses their batches from then on.
    async fn read(&self) -> ReviewEvent {
        let name = self.leaf.leaf.name();
        let is_first = !self.has_begun.swap(true, Ordering::Relaxed);
        let read = match is_first {
            true => repeated(|| self.all_records()).await,
            false => self.all_records().await,
        };
        let records = match read {
            Ok(records) => records,
            Err(error) => {
                let failed = self.failed_reads.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                if failed == FAILED_READS {
                    let so = "merges keep batches apart until they can be read";
                    tracing::warn!(leaf = %name, "cannot read the revoked batches: {error}; {so}");
                }
                return Event::NotRead;
            }
        };
        self.failed_reads.store(0, Ordering::Relaxed);
        let mut batches = BTreeMap::<BatchKey, Vec<Revocation>>::new();
        for record in records {
            let key = (record.table.clone(), record.batch.clone());
            batches.entry(key).or_default().push(record);
        }
        self.leaf.leaf.set_revoked(batches.keys().cloned().collect::<HashSet<_>>());
        let mut revoked = Vec::with_capacity(batches.len());
        let mut honoured = Vec::new();
        let oldest = self.leaf.clock.now().0.saturating_sub(BATCH_ID_SECONDS * Micros::SECOND);
        for (batch, mut records) in batches {
            let is_held = self.is_held(&batch).await;
            if !is_held {
                let is_old = |record: &&Revocation| record.leaf == *name && record.at.0 < oldest;
                honoured.extend(records.iter().find(is_old).cloned());
            }
            records.retain(|record| comes_later(&batch.1, name, &record.instead));
            let is_elsewhere = records.iter().any(|record| record.is_held);
            let instead = records.into_iter().map(|record| record.instead).collect();
            revoked.push(RevokedBatch { batch, instead, is_held, is_elsewhere });
        }
        // No client repeats such a batch any more. What is not removed now is removed later.
        if let Err(error) = self.definitions.remove_revocations(&honoured).await {
            tracing::debug!(leaf = %name, "old revocations stay: {error}");
        }
        Event::Read(revoked)
    }

    async fn all_records(&self) -> Result<Vec<Revocation>, DefinitionsError> {
        let name = self.leaf.leaf.name();
        let mut all = Vec::new();
        loop {
            let after =
                all.last().map(|last: &Revocation| (last.table.clone(), last.batch.clone()));
            let page = self.definitions.revocations_of(name, after.as_ref()).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Whether the leaf holds a batch; a batch that is being written is waited for.
    async fn is_held(&self, (table, id): &BatchKey) -> bool {
        loop {
            match self.leaf.leaf.held_batch(table, id) {
                HeldBatch::No => return false,
                HeldBatch::Yes => return true,
                HeldBatch::Writing => sleep(WRITING).await,
            }
        }
    }

    async fn look_up(&self, batch: BatchKey, leaf: LeafName) -> ReviewEvent {
        let members = self.membership.members();
        let member = members.iter().find(|member| member.name == leaf && member.state.answers());
        let process =
            member.and_then(|member| Some((self.connections.to(member)?, member.started)));
        let holds = match process {
            None => None,
            Some((connection, started)) => {
                let remote = RemoteLeaf::new(leaf.clone(), connection).of_process(started);
                let lookup = remote.refuse(&batch.0, &batch.1).await;
                // A batch that is being written there may still fail.
                let is_sure = lookup.is_answered && lookup.is_known == lookup.is_accepted;
                is_sure.then_some(lookup.is_accepted)
            }
        };
        Event::LookedUp { batch, leaf, holds }
    }

    async fn drop_batch(&self, batch: BatchKey) -> ReviewEvent {
        let (name, (table, id)) = (self.leaf.leaf.name(), &batch);
        match self.leaf.leaf.drop_revoked(table, id).await {
            Ok(rows) => {
                tracing::info!(leaf = %name, %table, batch = %id, rows, "a batch that moved is dropped");
            }
            Err(error) => {
                tracing::warn!(leaf = %name, %table, batch = %id, "a batch that moved is not dropped yet: {error}");
            }
        }
        Event::Dropped { batch }
    }
}

/// Reads until that succeeds, for [`FIRST_READ`]; returns the last result.
async fn repeated<T, E, F>(read: impl Fn() -> F) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let until = Instant::now() + FIRST_READ;
    loop {
        let result = read().await;
        if result.is_ok() || Instant::now() >= until {
            return result;
        }
        sleep(FIRST_READ_AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads that fail until this time has passed: what comes of them, and when.
    async fn read_after(time: Duration) -> (Result<(), ()>, Duration) {
        let start = Instant::now();
        let read = || async move { if start.elapsed() >= time { Ok(()) } else { Err(()) } };
        (repeated(read).await, start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_read_waits_for_members_but_not_for_long() {
        let millis = Duration::from_millis;
        assert_eq!(read_after(Duration::ZERO).await, (Ok(()), Duration::ZERO));
        assert_eq!(read_after(millis(230)).await, (Ok(()), millis(250)));
        assert_eq!(read_after(Duration::MAX).await, (Err(()), FIRST_READ));
    }
}
