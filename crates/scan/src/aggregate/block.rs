//! Groups of one block, added to the partial answer.

use hadal_aggregate::{Groups, WeightedCount};
use hadal_query::Query;

use crate::aggregate::measures::Measured;
use crate::aggregate::sum_decimals::{AddedUp, Adding};
use crate::aggregate::ungrouped;
use crate::column::column_values::BlockValues;
use crate::column::lazy_columns::Columns;
use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::expr::eval::eval;
use crate::expr::plan::{Plan, PlanExpr};
use crate::group::group_ids::GroupNumbers;
use crate::group::group_lookup::Placed;
use crate::group::grouped_rows::Rows;
use crate::scan_memory::Halt;

/// Adds what the selected rows of one block have to say to `groups`.
///
/// # Errors
/// [`Halt`]; then `groups` are as they were.
pub(crate) fn add(
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    use_zones: bool,
) -> Result<(), Halt> {
    let weights = Weights::new(columns)?;
    let weigh_one = matches!(weights, Weights::One);
    if weigh_one && ungrouped::add(query, plan, columns, selection, groups, use_zones)? {
        return Ok(());
    }
    let keys = plan
        .keys
        .iter()
        .map(|key| key_values(key, columns, selection, groups.takes_lifted()))
        .collect::<Result<Vec<_>, _>>()?;
    let numbers = GroupNumbers::new(keys, selection);
    let rows = Rows::new(selection, &numbers.numbers, numbers.space, &weights);
    let arguments = plan
        .measures
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, Halt>>()?;
    let _ = groups.enforce_capacity();
    let is_scattered = groups.can_defer() && numbers.is_by_text();
    let added = Added::new(query, &arguments, &rows, is_scattered);
    let is_all = (0..arguments.len()).all(|index| added.has(index));
    if is_all && added.add_later_to(groups, &numbers, &rows) {
        return Ok(());
    }
    let is_asked = rows.has_many_groups() && !matches!(added.how, How::ByRow(_));
    let known = if is_asked { Placed::known(&numbers, groups, &rows) } else { None };
    let placed = known.unwrap_or_else(|| Placed::new(&numbers, &added.used(&rows), &rows, groups));
    added.add_to(groups, &placed, &rows);
    for (index, (measure, values)) in query.measures().iter().zip(&arguments).enumerate() {
        if !added.has(index) {
            Measured::new(measure.kind, values, &rows).add_to(groups, index, &placed, &rows);
        }
    }
    Ok(())
}

/// The values of a key: strings by their ids, where they have some, or lifted.
fn key_values<'a>(
    key: &PlanExpr,
    columns: &Columns<'_, 'a>,
    selection: &Selection,
    takes_lifted: bool,
) -> Result<BlockValues<'a>, Halt> {
    let PlanExpr::RowInput(input) = key else { return eval(key, columns, selection) };
    let coded = match columns.interned(input)? {
        None if takes_lifted => columns.lifted(input)?,
        coded => coded,
    };
    coded.map_or_else(|| eval(key, columns, selection), |coded| Ok(BlockValues::Coded(coded)))
}

/// What a block counts and adds up.
struct Added<'v> {
    sums: Adding<'v>,
    how: How,
}

/// How rows are counted.
enum How {
    /// They have been: within the block.
    Within(AddedUp),
    /// One by one, in the cells of their groups.
    Directly,
    /// They have been, each with its own weight.
    ByRow(Vec<WeightedCount>),
}

impl<'v> Added<'v> {
    /// `is_scattered` where groups are in the order of rows here, but in none where they are kept.
    fn new<'x: 'v>(
        query: &Query,
        arguments: &'v [BlockValues<'x>],
        rows: &Rows<'_>,
        is_scattered: bool,
    ) -> Self {
        let kinds = query.measures().iter().map(|measure| measure.kind);
        let sums = Adding::new(kinds.zip(arguments), rows);
        let how = match rows.weights {
            Weights::ByRow(_) => How::ByRow(rows.tallies_where(None)),
            // They are added up only once then, and not again by group.
            _ if rows.has_many_groups() && (is_scattered || rows.stretches().is_none()) => {
                How::Directly
            }
            _ => How::Within(sums.up(rows)),
        };
        Self { sums, how }
    }

    /// Whether a measure is added up here.
    fn has(&self, measure: usize) -> bool {
        self.sums.has(measure)
    }

    /// The group numbers that rows have, in ascending order.
    fn used(&self, rows: &Rows<'_>) -> Vec<u32> {
        let has_rows: Vec<bool> = match &self.how {
            How::Within(added) => {
                let counts = rows.groups_of(&added.counts[0]);
                counts.map(|counts| counts.iter().any(|&count| count > 0)).collect()
            }
            How::ByRow(tallies) => tallies.iter().map(|tally| tally.rows() > 0).collect(),
            How::Directly => return rows.used(),
        };
        (0..).zip(has_rows).filter(|own| own.1).map(|own| own.0).collect()
    }

    /// Leaves it for later to find the groups, where that can be.
    fn add_later_to(
        &self,
        groups: &mut Groups,
        numbers: &GroupNumbers<'_>,
        rows: &Rows<'_>,
    ) -> bool {
        matches!(self.how, How::Directly)
            && groups.can_defer()
            && self.sums.add_later_to(groups, numbers, rows)
    }

    fn add_to(&self, groups: &mut Groups, placed: &Placed, rows: &Rows<'_>) {
        let is_added = match &self.how {
            How::ByRow(tallies) => {
                let found = placed.found(rows).iter();
                found.for_each(|&(number, place)| groups.add_count(place, tallies[number]));
                true
            }
            How::Within(added) => self.sums.add_up_to(groups, added, placed, rows),
            How::Directly if placed.is_complete => self.sums.add_directly_to(groups, placed, rows),
            How::Directly => self.sums.add_up_to(groups, &self.sums.up(rows), placed, rows),
        };
        // A wrong answer would be worse than none.
        assert!(is_added, "cells have room for the sums of one block");
    }
}

#[cfg(test)]
mod tests;
