//! Groups of one block, added to the partial answer.

use hadal_aggregate::Groups;
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
use crate::whole;

/// Adds what the selected rows of one block have to say to `groups`.
pub(crate) fn add(
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    use_zones: bool,
) -> Result<(), BlockError> {
    let weights = Weights::new(columns)?;
    let weigh_one = matches!(weights, Weights::One);
    if weigh_one && whole::add(query, plan, columns, selection, groups, use_zones)? {
        return Ok(());
    }
    let keys =
        plan.keys.iter().map(|key| eval(key, columns, selection)).collect::<Result<Vec<_>, _>>()?;
    let numbers = GroupNumbers::new(&keys, selection);
    let rows = Rows::new(selection, &numbers.numbers, numbers.space, &weights);
    let arguments = plan
        .measures
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, BlockError>>()?;
    let (tallies, mut measures) = measured(query.measures(), &arguments, &rows);
    let _ = groups.make_room();
    let used: Vec<usize> =
        (0..tallies.len()).filter(|&number| tallies[number].rows() > 0).collect();
    let mut places = Places::new(&numbers);
    let mut found = Vec::with_capacity(used.len());
    for number in used {
        match places.of(number, groups) {
            Some(place) => {
                groups.add_tally(place, tallies[number]);
                found.push((number, place));
            }
            None => groups.drop_rows(tallies[number].rows()),
        }
    }
    for (index, measure) in measures.iter_mut().enumerate() {
        measure.add_to(groups, index, &found, &rows, &tallies);
    }
    Ok(())
}
