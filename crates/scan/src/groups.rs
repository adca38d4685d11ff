//! Groups of one block, added to the partial answer.

use hadal_aggregate::{Groups, State, Tally};
use hadal_block::BlockError;
use hadal_query::Query;

use crate::accumulate::{Rows, states};
use crate::columns::Columns;
use crate::eval::eval;
use crate::keys::GroupNumbers;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::weights::Weights;

/// Adds what the selected rows of one block have to say to `groups`.
pub(crate) fn add(
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
) -> Result<(), BlockError> {
    let keys =
        plan.keys.iter().map(|key| eval(key, columns, selection)).collect::<Result<Vec<_>, _>>()?;
    let numbers = GroupNumbers::new(&keys, selection);
    let weights = Weights::new(columns)?;
    let rows =
        Rows { selection, numbers: &numbers.numbers, space: numbers.space, weights: &weights };
    let tallies = rows.tallies(None);
    let measures = query
        .measures()
        .iter()
        .zip(&plan.measures)
        .map(|(measure, argument)| {
            let values = eval(argument, columns, selection)?;
            Ok(states(measure.kind, &values, &rows, &tallies))
        })
        .collect::<Result<Vec<_>, BlockError>>()?;
    merge(&numbers, &tallies, measures, groups);
    Ok(())
}

fn merge(
    numbers: &GroupNumbers<'_>,
    tallies: &[Tally],
    measures: Vec<Vec<State>>,
    groups: &mut Groups,
) {
    let mut measures: Vec<_> = measures.into_iter().map(Vec::into_iter).collect();
    for (number, tally) in tallies.iter().enumerate() {
        let states = measures.iter_mut().filter_map(Iterator::next);
        if tally.rows() == 0 {
            // A group number that no row has; its states are passed over all the same.
            states.for_each(drop);
            continue;
        }
        let Some(group) = groups.entry(&numbers.keys_of(number)) else {
            states.for_each(drop);
            groups.drop_rows(tally.rows());
            continue;
        };
        group.tally.merge(*tally);
        for (own, state) in group.states.iter_mut().zip(states) {
            own.merge(state);
        }
    }
}
