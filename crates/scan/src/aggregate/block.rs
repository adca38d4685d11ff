//! Adds the groups of one block to the partial result.

use hadal_aggregate::{Groups, WeightedCount};
use hadal_query::{AggregateUdf, Measure, Query, StateKind, Weighting};

use crate::aggregate::block_sums::BlockSums;
use crate::aggregate::measures::MeasureStates;
use crate::aggregate::sketches::Sketches;
use crate::aggregate::sum_decimals::SumDecimals;
use crate::aggregate::ungrouped;
use crate::aggregate::user::UserRows;
use crate::aggregate::variance_sums::VarianceSums;
use crate::column::column_values::ColumnValues;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::expr::eval::eval;
use crate::expr::plan::{PreparedExpr, PreparedQuery};
use crate::group::group_ids::GroupIds;
use crate::group::group_lookup::GroupLookup;
use crate::group::grouped_rows::GroupedRows;
use crate::scan_memory::Interrupt;

/// Adds the selected rows of one block to `groups`.
///
/// # Errors
/// [`Interrupt`]; then `groups` are unchanged, unless a user aggregate fails.
pub(crate) fn add(
    query: &Query,
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    use_zones: bool,
) -> Result<(), Interrupt> {
    if ungrouped::add(query, plan, columns, selection, groups, use_zones)? {
        return Ok(());
    }
    let weights = Weights::new(columns)?;
    let keys = plan
        .keys
        .iter()
        .map(|key| key_values(key, columns, selection, groups.takes_lifted()))
        .collect::<Result<Vec<_>, _>>()?;
    add_by_keys(query, plan, columns, (selection, &weights, keys), groups)
}

/// Adds the selected rows with these weights and key values to `groups`.
///
/// # Errors
/// As [`add`].
pub(crate) fn add_by_keys<'a>(
    query: &Query,
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, 'a>,
    (selection, weights, keys): (&Selection, &Weights, Vec<ColumnValues<'a>>),
    groups: &mut Groups,
) -> Result<(), Interrupt> {
    let numbers = GroupIds::new(keys, selection);
    let rows = GroupedRows::new(selection, &numbers.numbers, numbers.space, weights);
    let block_rows = selection.block_rows();
    let argument = |(argument, measure): (&PreparedExpr, &Measure)| {
        Ok(eval(argument, columns, selection)?.for_measure(measure.kind, block_rows))
    };
    let arguments = plan.measures.iter().zip(query.measures()).map(argument);
    let arguments = arguments.collect::<Result<Vec<_>, Interrupt>>()?;
    let second = |second: &Option<PreparedExpr>| {
        second.as_ref().map(|second| eval(second, columns, selection)).transpose()
    };
    let seconds = plan.seconds.iter().map(second).collect::<Result<Vec<_>, Interrupt>>()?;
    let _ = groups.enforce_capacity();
    let is_scattered = groups.can_defer() && numbers.is_by_text();
    let added = Added::new(query, &arguments, &rows, is_scattered);
    let is_of_leaves = |measure: &Measure| matches!(measure.weighting, Weighting::Leaves(_));
    let mut measures = query.measures().iter().enumerate();
    let is_all = measures.all(|(index, measure)| is_of_leaves(measure) || added.has(index));
    if is_all && added.add_later_to(groups, &numbers, &rows) {
        return Ok(());
    }
    let is_asked = rows.has_many_groups() && !matches!(added.how, How::ByRow(_));
    let lookup = if is_asked { GroupLookup::known(&numbers, groups, &rows) } else { None };
    let lookup =
        lookup.unwrap_or_else(|| GroupLookup::new(&numbers, &added.used(&rows), &rows, groups));
    added.add_to(groups, &lookup, &rows);
    let sums = variance_sums(query, &arguments, &rows);
    let variances = Variances::new(query, &sums, &rows, &numbers);
    let variance_rows = variances.as_ref().map(|variances| variances.rows(numbers.space));
    for (index, (measure, values)) in query.measures().iter().zip(&arguments).enumerate() {
        if let Some(sums) = &sums[index] {
            sums.add_to(groups, index, lookup.used_groups(&rows));
            continue;
        }
        let rows = match measure.weighting {
            Weighting::Events => Some(&rows),
            Weighting::SamplingVariance => variance_rows.as_ref(),
            Weighting::Leaves(_) => None,
        };
        if let Some(rows) = rows
            && !added.has(index)
        {
            let second = seconds[index].as_ref();
            if let Some(aggregate) = user_aggregate(query, measure.kind) {
                let memory = columns.memory();
                let user = || UserRows { aggregate, values, second, memory };
                let mut states = MeasureStates::ByGroup(Sketches::User(user()));
                states.add_to(groups, index, &lookup, rows);
                user().check()?;
                continue;
            }
            let mut states = match second {
                Some(second) => MeasureStates::ByGroup(Sketches::Pairs(values, second)),
                None => MeasureStates::new(measure.kind, values, rows),
            };
            states.add_to(groups, index, &lookup, rows);
        }
    }
    Ok(())
}

/// The rows of a block that add to variances of estimates.
struct Variances {
    selection: Selection,
    weights: Weights,
    /// The group number of each of these rows.
    numbers: Vec<u32>,
}

impl Variances {
    /// `None` if no measure beside those of `sums` needs them, or if there are none.
    fn new(
        query: &Query,
        sums: &[Option<VarianceSums>],
        GroupedRows { selection, weights, .. }: &GroupedRows<'_>,
        groups: &GroupIds<'_>,
    ) -> Option<Self> {
        let is_asked = |(measure, sums): (&Measure, &Option<VarianceSums>)| {
            measure.weighting == Weighting::SamplingVariance && sums.is_none()
        };
        if !query.measures().iter().zip(sums).any(is_asked) {
            return None;
        }
        let (weights, sampled) = weights.sampling_variances(selection)?;
        let numbers = selection.to_rows().iter().zip(groups.numbers.iter());
        let is_sampled = |row: u32| sampled.chosen().is_none_or(|rows| rows.get(row as usize));
        let numbers = numbers.filter(|(row, _)| is_sampled(**row)).map(|(_, &number)| number);
        Some(Self { weights, numbers: numbers.collect(), selection: sampled })
    }

    fn rows(&self, space: usize) -> GroupedRows<'_> {
        GroupedRows::new(&self.selection, &self.numbers, space, &self.weights)
    }
}

/// The sums of each measure of variances for which rows can be summed by cell.
fn variance_sums(
    query: &Query,
    arguments: &[ColumnValues<'_>],
    rows: &GroupedRows<'_>,
) -> Vec<Option<VarianceSums>> {
    let sums = |(measure, values): (&Measure, &ColumnValues<'_>)| match (measure.kind, values) {
        (StateKind::Variance, ColumnValues::Numbers(numbers)) if numbers.is_plain() => {
            let classes = match measure.weighting {
                Weighting::SamplingVariance => rows.weights.variance_classes(),
                Weighting::Events => rows.classes().to_vec(),
                Weighting::Leaves(_) => return None,
            };
            VarianceSums::new(numbers, rows, classes)
        }
        _ => None,
    };
    query.measures().iter().zip(arguments).map(sums).collect()
}

/// The definition of a user aggregate; `None` for built-in kinds.
fn user_aggregate(query: &Query, kind: StateKind) -> Option<&dyn AggregateUdf> {
    let StateKind::User(id) = kind else { return None };
    query.functions.aggregate(id).map(|definition| &**definition)
}

/// The values of a key: strings as interned ids if there are some, or as templates if
/// `takes_lifted`.
pub(crate) fn key_values<'a>(
    key: &PreparedExpr,
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
    takes_lifted: bool,
) -> Result<ColumnValues<'a>, Interrupt> {
    let PreparedExpr::Leaf(input) = key else { return eval(key, columns, selection) };
    let coded = match columns.interned(input)? {
        None if takes_lifted => columns.lifted(input)?,
        coded => coded,
    };
    coded.map_or_else(|| eval(key, columns, selection), |coded| Ok(ColumnValues::Coded(coded)))
}

/// The counts and sums of a block.
struct Added<'v> {
    sums: SumDecimals<'v>,
    how: How,
}

/// How rows are counted.
enum How {
    /// Within the block; the sums are complete.
    Within(BlockSums),
    /// One by one, into the accumulators of their groups.
    Directly,
    /// Row by row, each with its own weight; the counts are complete.
    ByRow(Vec<WeightedCount>),
}

impl<'v> Added<'v> {
    /// `is_scattered`: the groups are in row order in this block, but in random order in the group
    /// table.
    fn new<'x: 'v>(
        query: &Query,
        arguments: &'v [ColumnValues<'x>],
        rows: &GroupedRows<'_>,
        is_scattered: bool,
    ) -> Self {
        let kinds = query.measures().iter().map(|measure| measure.kind);
        let sums = SumDecimals::new(kinds.zip(arguments), rows);
        let how = match rows.weights {
            Weights::ByRow(_) => How::ByRow(rows.weighted_counts_where(None)),
            // Adding rows directly sums them once, not again per group.
            _ if rows.has_many_groups() && (is_scattered || rows.runs().is_none()) => How::Directly,
            _ => How::Within(sums.up(rows)),
        };
        Self { sums, how }
    }

    /// Whether a measure is summed here.
    fn has(&self, measure: usize) -> bool {
        self.sums.has(measure)
    }

    /// The group numbers that rows have, in ascending order.
    fn used(&self, rows: &GroupedRows<'_>) -> Vec<u32> {
        let has_rows: Vec<bool> = match &self.how {
            How::Within(added) => {
                let counts = rows.groups_of(&added.counts[0]);
                counts.map(|counts| counts.iter().any(|&count| count > 0)).collect()
            }
            How::ByRow(counts) => counts.iter().map(|count| count.rows() > 0).collect(),
            How::Directly => return rows.used(),
        };
        (0..).zip(has_rows).filter(|entry| entry.1).map(|entry| entry.0).collect()
    }

    /// Defers the group lookup, if possible; returns whether it was deferred.
    fn add_later_to(
        &self,
        groups: &mut Groups,
        numbers: &GroupIds<'_>,
        rows: &GroupedRows<'_>,
    ) -> bool {
        matches!(self.how, How::Directly)
            && groups.can_defer()
            && self.sums.add_later_to(groups, numbers, rows)
    }

    fn add_to(&self, groups: &mut Groups, lookup: &GroupLookup, rows: &GroupedRows<'_>) {
        let is_added = match &self.how {
            How::ByRow(counts) => {
                let used_groups = lookup.used_groups(rows).iter();
                used_groups.for_each(|&(number, group_index)| {
                    groups.add_count(group_index, counts[number])
                });
                true
            }
            How::Within(added) => self.sums.add_up_to(groups, added, lookup, rows),
            How::Directly if lookup.is_complete => self.sums.add_directly_to(groups, lookup, rows),
            How::Directly => self.sums.add_up_to(groups, &self.sums.up(rows), lookup, rows),
        };
        // An assertion, because a wrong result is worse than none.
        assert!(is_added, "cells have room for the sums of one block");
    }
}

#[cfg(test)]
mod tests;
