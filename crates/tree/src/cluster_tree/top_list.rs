//! The rounds of a top list: what members are asked for, and which of their answers counts. Pure.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_aggregate::{LeafOutcome, NextRound, Partial, TopList};
use hadal_peer::Plan;
use hadal_query::{Query, SentGroups};
use hadal_types::LeafName;

/// The query of the first round: of a top list, it asks for the largest groups only.
pub(super) fn first_round(query: &Arc<Query>) -> Arc<Query> {
    match TopList::of(query) {
        Some(_) if query.sent == SentGroups::All => with(query, SentGroups::Largest),
        _ => Arc::clone(query),
    }
}

/// The query of the second round. `None` if the answer of the first is exact, or has failed.
pub(super) fn next_round(first: &Partial, query: &Arc<Query>) -> Option<Arc<Query>> {
    if !first.errors.is_empty() || query.sent != SentGroups::All {
        return None;
    }
    match first.next_round(query) {
        NextRound::None => None,
        NextRound::Keys(keys) => Some(with(query, SentGroups::Keys(keys.into()))),
        NextRound::All => Some(with(query, SentGroups::All)),
    }
}

/// The plan of the second round: leaves that have not answered the first are not waited for again.
/// Returns these, too.
pub(super) fn plan_of_answered(
    mut plan: Plan,
    first: &Partial,
) -> (Plan, Vec<(LeafName, LeafOutcome)>) {
    let answered: HashSet<&LeafName> = answered(first).collect();
    for machine in &mut plan.machines {
        machine.leaves.retain(|leaf| answered.contains(leaf));
    }
    let mut is_own = true;
    plan.machines.retain(|machine| std::mem::take(&mut is_own) || !machine.leaves.is_empty());
    let leaves = first.coverage.leaves.iter();
    let unanswered = leaves.filter(|leaf| leaf.outcome != LeafOutcome::Answered);
    (plan, unanswered.map(|leaf| (leaf.name.clone(), leaf.outcome)).collect())
}

/// The answer of the second round if it has all leaves of the first, otherwise that of the first,
/// with a warning. It has the cost of both.
pub(super) fn better(mut first: Partial, mut second: Partial, query: &Query) -> Partial {
    let (first_stats, second_stats) = (first.stats, second.stats);
    let answered = answered(&second).collect::<HashSet<_>>();
    let has_all = self::answered(&first).all(|leaf| answered.contains(leaf));
    drop(answered);
    if second.errors.is_empty() && has_all {
        second.stats.merge(first_stats);
        return second;
    }
    first.warn_inexact(query);
    first.stats.merge(second_stats);
    first
}

fn answered(partial: &Partial) -> impl Iterator<Item = &LeafName> {
    let leaves = partial.coverage.leaves.iter();
    leaves.filter(|leaf| leaf.outcome == LeafOutcome::Answered).map(|leaf| &leaf.name)
}

fn with(query: &Query, sent: SentGroups) -> Arc<Query> {
    Arc::new(Query { sent, ..query.clone() })
}
