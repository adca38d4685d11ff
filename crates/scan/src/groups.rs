//! Groups of one block, added to the partial answer.

use hadal_aggregate::Groups;
use hadal_block::BlockError;
use hadal_query::Query;

use crate::accumulate::{Measured, Rows};
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
    let rows = Rows::new(selection, &numbers.numbers, numbers.space, &weights);
    let tallies = rows.tallies(None);
    let arguments = plan
        .measures
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, BlockError>>()?;
    let mut measures: Vec<Measured<'_>> = query
        .measures()
        .iter()
        .zip(&arguments)
        .map(|(measure, values)| Measured::new(measure.kind, values, &rows, &tallies))
        .collect();
    for (number, tally) in tallies.iter().enumerate().filter(|(_, tally)| tally.rows() > 0) {
        let Some(group) = groups.entry(&numbers.keys_of(number)) else {
            groups.drop_rows(tally.rows());
            continue;
        };
        group.tally.merge(*tally);
        for (own, measure) in group.states.iter_mut().zip(&mut measures) {
            measure.add_to(own, number, &rows);
        }
    }
    Ok(())
}
