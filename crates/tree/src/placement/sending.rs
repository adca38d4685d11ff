//! Carries out the decisions of [`BatchPlacement`] for one batch: asks leaves, sends the batch,
//! records revocations, waits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_peer::{Batch, BatchLookup, BoxFuture, Receipt, SinkError};
use hadal_types::limits::{ACCEPT_SECONDS, BATCH_MOVED_SECONDS, LOOK_UP_MILLIS};
use hadal_types::{LeafName, Micros};
use tokio::time::{sleep_until, timeout};

use super::batch_placement::{
    Answer, BatchPlacement, Candidate, Effect, Event, Lookup, SendOutcome,
};
use super::members::Member;
use super::revocations::{Record, Revocation};
use super::{Key, Placement};

/// A batch on its way.
pub(super) struct Sending<'p> {
    placement: &'p Placement,
    key: Key,
    /// `None` once it was sent to the only leaf that it is sent to.
    batch: Option<Batch>,
    first_try: bool,
    bytes: u64,
    under_way: FuturesUnordered<BoxFuture<'p, Done>>,
    wake_at: Option<Duration>,
    /// The last leaf to which the batch was sent, and what it answered.
    last: Option<(Arc<Member>, Result<Receipt, SinkError>)>,
}

/// The end of a request.
enum Done {
    LookedUp(Arc<Member>, BatchLookup),
    NotLookedUp(LeafName),
    /// The batch was meant for the leaf `to`.
    Sent {
        to: LeafName,
        member: Arc<Member>,
        answer: Result<Receipt, SinkError>,
    },
    NotSent(LeafName),
    Revoked(LeafName, Result<Record, String>),
}

impl<'p> Sending<'p> {
    pub(super) fn new(placement: &'p Placement, batch: Batch) -> Self {
        Self {
            placement,
            key: (batch.table.clone(), batch.id.clone()),
            first_try: batch.first_try,
            bytes: batch.block().len() as u64,
            batch: Some(batch),
            under_way: FuturesUnordered::new(),
            wake_at: None,
            last: None,
        }
    }

    /// Places the batch; returns the leaf that took it, and its receipt.
    pub(super) async fn run(mut self) -> Result<(Arc<Member>, Receipt), SinkError> {
        let (placement, first_try, bytes) = (self.placement, self.first_try, self.bytes);
        let mut machine = BatchPlacement::new(placement.rules, placement.now(), first_try, bytes);
        let mut changes = placement.members.changes();
        let mut event = Event::Candidates(self.candidates());
        let mut effects = Vec::new();
        loop {
            self.wake_at = None;
            machine.step(placement.now(), event, &mut effects);
            for effect in effects.drain(..) {
                match effect {
                    Effect::LookUp { leaf, refuse } => self.look_up(leaf, refuse),
                    Effect::Send { leaf, process, moves } => self.send(leaf, process, moves),
                    Effect::Revoke { leaf, instead } => self.revoke(leaf, instead),
                    Effect::WaitUntil(time) => self.wake_at = Some(time),
                    Effect::NoteHeld { leaf } => self.note_held(&leaf).await,
                    Effect::Answer(answer) => return self.answer(answer),
                }
            }
            let wake = async |time: Option<Duration>| match time {
                Some(time) => sleep_until(placement.start + time).await,
                None => std::future::pending().await,
            };
            event = tokio::select! {
                Some(done) = self.under_way.next() => self.event(done),
                _ = changes.changed() => Event::Candidates(self.candidates()),
                () = wake(self.wake_at) => Event::Time,
            };
        }
    }

    fn candidates(&self) -> Vec<Candidate<LeafName>> {
        let Placement { members, state, .. } = self.placement;
        let now = (self.placement.now(), self.placement.clock.now());
        let state = state.lock();
        let (table, id) = &self.key;
        let may_be_retry = self.placement.rules.has_other_senders && !self.first_try;
        members.candidates((id, may_be_retry), now, |leaf| state.tables.load(table, leaf))
    }

    fn look_up(&mut self, leaf: LeafName, refuse: bool) {
        let Some(member) = self.placement.members.of_name(&leaf) else {
            self.under_way.push(Box::pin(async move { Done::NotLookedUp(leaf) }));
            return;
        };
        let (table, id) = self.key.clone();
        let has_limit = self.placement.rules.has_other_senders;
        self.under_way.push(Box::pin(async move {
            let lookup = async {
                match refuse {
                    true => member.sink.refuse(&table, &id).await,
                    false => member.sink.look_up(&table, &id).await,
                }
            };
            let lookup = match has_limit {
                true => timeout(Duration::from_millis(LOOK_UP_MILLIS), lookup).await,
                false => Ok(lookup.await),
            };
            match lookup {
                Ok(lookup) if lookup.is_answered => Done::LookedUp(member, lookup),
                Ok(_) | Err(_) => Done::NotLookedUp(leaf),
            }
        }));
    }

    fn send(&mut self, leaf: LeafName, process: u64, moves: bool) {
        let has_limit = self.placement.rules.has_other_senders;
        let member = self.placement.members.process(&leaf, process);
        let batch = if has_limit { self.batch.clone() } else { self.batch.take() };
        let (Some(member), Some(batch)) = (member, batch) else {
            self.under_way.push(Box::pin(async move { Done::NotSent(leaf) }));
            return;
        };
        let member = self.placement.shared_leaf(&self.key, member);
        self.under_way.push(Box::pin(async move {
            let accepted = match moves {
                true => member.sink.accept_moved(batch),
                false => member.sink.accept(batch),
            };
            let accepted = match has_limit {
                true => timeout(Duration::from_secs(ACCEPT_SECONDS), accepted).await,
                false => Ok(accepted.await),
            };
            match accepted {
                Ok(answer) => Done::Sent { to: leaf, member, answer },
                Err(_) => Done::NotSent(leaf),
            }
        }));
    }

    fn revoke(&mut self, leaf: LeafName, instead: LeafName) {
        let (table, batch) = self.key.clone();
        let revocations = Arc::clone(&self.placement.revocations);
        self.under_way.push(Box::pin(async move {
            let revocation = Revocation { leaf, table, batch, instead };
            let recorded = revocations.record(&revocation).await;
            Done::Revoked(revocation.leaf, recorded)
        }));
    }

    /// The batch is acknowledged whether or not this succeeds.
    async fn note_held(&mut self, leaf: &LeafName) {
        let (table, id) = &self.key;
        let noting = self.placement.revocations.note_held(table, id, leaf);
        let _ = timeout(Duration::from_millis(LOOK_UP_MILLIS), noting).await;
    }

    fn event(&mut self, done: Done) -> Event<LeafName> {
        match done {
            Done::NotLookedUp(leaf) => Event::NotLookedUp { leaf },
            Done::LookedUp(member, lookup) => Event::LookedUp {
                leaf: member.name.clone(),
                process: member.process,
                lookup: Lookup {
                    is_known: lookup.is_known,
                    refuses: lookup.is_refused,
                    is_revoked: lookup.is_revoked,
                    takes_batches: lookup.takes_batches,
                    free_bytes: lookup.free_bytes,
                },
            },
            Done::Sent { to: leaf, member, answer } => {
                let outcome = self.outcome(&answer);
                self.last = Some((member, answer));
                Event::Sent { leaf, outcome }
            }
            Done::NotSent(leaf) => Event::Sent { leaf, outcome: SendOutcome::Unknown },
            Done::Revoked(leaf, Ok(Record { instead, at })) => {
                let age = self.placement.clock.now().0.saturating_sub(at.0);
                let is_old = age >= BATCH_MOVED_SECONDS * Micros::SECOND;
                Event::Revoked { leaf, instead, is_old }
            }
            Done::Revoked(leaf, Err(_)) => Event::NotRevoked { leaf },
        }
    }

    fn outcome(&self, answer: &Result<Receipt, SinkError>) -> SendOutcome {
        match answer {
            Ok(_) => SendOutcome::Accepted,
            Err(_) if !self.placement.rules.has_other_senders => SendOutcome::Final,
            Err(SinkError::Full(_) | SinkError::Unavailable(_)) => SendOutcome::Declined,
            Err(SinkError::OutcomeUnknown(_)) => SendOutcome::Unknown,
            Err(_) => SendOutcome::Final,
        }
    }

    fn answer(self, answer: Answer<LeafName>) -> Result<(Arc<Member>, Receipt), SinkError> {
        match (answer, self.last) {
            (Answer::OfLeaf, Some((member, answer))) => answer.map(|receipt| (member, receipt)),
            (Answer::Unavailable { leaf: Some(leaf), .. }, _) => {
                Err(SinkError::Unavailable(format!("leaf {leaf}, which may have the batch,")))
            }
            _ => Err(SinkError::Unavailable("every leaf".to_owned())),
        }
    }
}
