//! The rounds of a top list: what members are asked for, and which of their answers counts. Pure.

use std::sync::Arc;

use hadal_aggregate::{NextRound, Partial, TopList};
use hadal_query::{Query, SentGroups};

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

/// The answer of the second round if it has all leaves of the first, otherwise that of the first,
/// with a warning. It has the cost of both.
pub(super) fn better(
    mut first: Partial,
    mut second: Partial,
    has_all: bool,
    query: &Query,
) -> Partial {
    let (first_stats, second_stats) = (first.stats, second.stats);
    if second.errors.is_empty() && has_all {
        second.stats.merge(first_stats);
        return second;
    }
    first.warn_inexact(query);
    first.stats.merge(second_stats);
    first
}

fn with(query: &Query, sent: SentGroups) -> Arc<Query> {
    Arc::new(Query { sent, ..query.clone() })
}
