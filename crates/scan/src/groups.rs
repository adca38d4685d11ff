//! Groups of one block, added to the partial answer.

use hadal_aggregate::{Group, Groups};
use hadal_block::BlockError;
use hadal_query::Query;

use crate::accumulate::measured;
use crate::columns::Columns;
use crate::eval::eval;
use crate::keys::GroupNumbers;
use crate::places::Places;
use crate::plan::Plan;
use crate::rows::Rows;
use crate::selection::Selection;
use crate::weights::Weights;

/// Where a block has fewer rows per group than this, most groups are new, and remembering where
/// they are would cost more than it saves.
const ROWS_PER_GROUP_MIN: usize = 4;

/// Adds what the selected rows of one block have to say to `groups`.
pub(crate) fn add(
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    places: &mut Places,
) -> Result<(), BlockError> {
    let keys =
        plan.keys.iter().map(|key| eval(key, columns, selection)).collect::<Result<Vec<_>, _>>()?;
    let numbers = GroupNumbers::new(&keys, selection);
    let weights = Weights::new(columns)?;
    let rows = Rows::new(selection, &numbers.numbers, numbers.space, &weights);
    let arguments = plan
        .measures
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, BlockError>>()?;
    let (tallies, mut measures) = measured(query.measures(), &arguments, &rows);
    let used = || tallies.iter().enumerate().filter(|(_, tally)| tally.rows() > 0);
    let mut add = |number, group: Option<&mut Group>| match group {
        None => false,
        Some(group) => {
            group.tally.merge(tallies[number]);
            for (own, measure) in group.states.iter_mut().zip(&mut measures) {
                measure.add_to(own, number, &rows, tallies[number]);
            }
            true
        }
    };
    let mut of_block = (used().count() * ROWS_PER_GROUP_MIN <= selection.count())
        .then(|| places.of_block(&numbers));
    for (number, tally) in used() {
        let group = match &mut of_block {
            Some(places) => places.group(number, groups),
            None => groups.entry(&numbers.keys_of(number)),
        };
        if !add(number, group) {
            groups.drop_rows(tally.rows());
        }
    }
    Ok(())
}
