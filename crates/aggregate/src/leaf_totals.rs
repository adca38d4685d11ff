//! The totals of one leaf, for the variance of estimates where others are missing.

use hadal_query::{LeafTotal, Query, Weighting};
use hadal_types::{Number, Weight};

use crate::finish::group_states::GroupStates;
use crate::partial::{Partial, PartialBody};
use crate::state::State;
use crate::state::comoments::Comoments;

/// Adds the totals of a leaf, which has scanned `rows` rows of the table, to the states of its
/// groups that `query` has for them ([`Weighting::Leaves`]). `partial` must be that of one leaf.
pub fn add_leaf_totals(partial: &mut Partial, query: &Query, rows: u64) {
    let PartialBody::Groups(groups) = &mut partial.body else { return };
    let pairs: Vec<(usize, [LeafTotal; 2])> = (0..)
        .zip(query.measures())
        .filter_map(|(index, measure)| match measure.weighting {
            Weighting::Leaves(pair) => Some((index, pair)),
            _ => None,
        })
        .collect();
    if pairs.is_empty() {
        return;
    }
    groups.spill();
    for group_index in 0..groups.len() {
        let states = GroupStates::Place(groups, group_index);
        let number = |total: LeafTotal| match total {
            LeafTotal::TableRows => i64::try_from(rows).ok().map(Number::integer),
            LeafTotal::Of(total) => Number::from_f64(states.total(total)?.1),
        };
        let pair = |&(measure, [one, other]): &(usize, [LeafTotal; 2])| {
            let mut leaf = Comoments::of_pairs();
            leaf.add_pair(number(one)?, number(other)?, Weight::ONE);
            Some((measure, State::Comoments(leaf)))
        };
        let leaf: Vec<(usize, State)> = pairs.iter().filter_map(pair).collect();
        for (measure, state) in leaf {
            groups.merge_state_at(group_index, measure, &state);
        }
    }
    partial.hold(usize::MAX);
}
