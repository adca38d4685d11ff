//! Turns the merged partial result into the result: aggregates are finished, then groups are
//! limited to series, filtered, sorted and cut. Only the root does this.

pub(crate) mod confidence;
pub(crate) mod group_states;
pub(crate) mod interval;
pub(crate) mod missing_leaves;
pub(crate) mod prefixes;
pub(crate) mod raw_rows;
pub(crate) mod series;
mod sorting;
pub(crate) mod top_k;
mod totals;

use std::borrow::Cow;

use hadal_query::{
    ConfidencePlan, EvalError, GroupInput, OutputExpr, PrepareError, Prepared, Query, Type,
};
use hadal_types::limits::LIMIT_DEFAULT;
use hadal_types::{MemoryReservation, Value, Weight};

use crate::covered_seconds::CoveredSeconds;
use crate::finish::group_states::GroupStates;
use crate::finish::interval::Interval;
use crate::finish::missing_leaves::AnsweredLeaves;
use crate::finish::top_k::candidates;
use crate::groups::Groups;
use crate::groups::group::Group;
use crate::groups::group_value::{of_count, of_group, of_state};
use crate::partial::coverage::{Coverage, ScanStats};
use crate::partial::warnings::{Warning, WarningCode, Warnings};
use crate::partial::{Partial, PartialBody};
use crate::query_error::{FinishError, QueryError, QueryErrorCode, invalid, out_of_memory};
use crate::sort_order::SortOrder;
use crate::sparse_row::SparseRow;
use crate::state::sum::SumOverflow;
use crate::state::weighted_count::WeightedCount;

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultSet {
    /// The columns: name and type.
    pub columns: Vec<(String, Type)>,
    /// The rows, in order; each has one value per column.
    pub rows: Vec<SparseRow>,
    /// The number of stored rows behind each result row; 1 for raw rows.
    pub raw_counts: Vec<u64>,
    /// The confidence interval of each output of each row; empty if none were asked for.
    pub intervals: Vec<Vec<Interval>>,
    /// What each row stands for.
    pub kinds: Vec<RowKind>,
    /// How much of the data was scanned.
    pub coverage: Coverage,
    /// The cost of the scan.
    pub stats: ScanStats,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// The memory reservation of the rows.
    pub reservation: MemoryReservation,
}

/// What a row of a result stands for. Only a group and a raw row have keys of their own: null keys
/// of any other row mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// A group, or a raw row.
    #[default]
    Group,
    /// The sum of the groups beyond the limit of series.
    Other,
    /// The sum of all groups.
    Total,
}

impl RowKind {
    /// The kind's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Other => "other",
            Self::Total => "total",
        }
    }
}

/// One row of the result before its outputs are computed.
pub(crate) enum ResultRow {
    /// A raw row.
    Raw(SparseRow),
    /// A group that is not one of `Groups`.
    Alone { key: Box<[Value]>, group: Group, kind: RowKind },
    /// The group with this index.
    Place(usize),
}

/// Bytes that are reserved at a time.
const DRAWN_AT_ONCE: usize = 256 << 10;
/// Result rows that are made between two checks of `is_late`.
pub(crate) const LINES_AT_ONCE: usize = 1_024;

/// Finishes the merged partial result of `query`, unless `is_late` says that nobody waits any more.
///
/// # Errors
/// [`FinishError`]: the errors of the partial result, an aggregate beyond the range of numbers, a
/// result larger than the free memory, or no time left.
pub fn finish(
    partial: Partial,
    query: &Query,
    is_late: &dyn Fn() -> bool,
) -> Result<ResultSet, FinishError> {
    if raw_rows::applies(&partial, query) {
        return raw_rows::finish_boxed(partial, query, is_late);
    }
    let Partial { body, coverage, stats, mut warnings, errors, mut reservation } = partial;
    if !errors.is_empty() {
        return Err(FinishError::Errors(errors.iter().cloned().collect()));
    }
    // Leaves have sent up only those raw rows that the result can need.
    let raw_rows = matches!(body, PartialBody::Rows(_)).then_some(stats.rows_matched);
    let FinishInput { groups, lines, count } =
        FinishInput::new(body, query, (&mut warnings, &mut reservation), is_late)?;
    let finisher = Finisher::new(query, &groups).map_err(|error| invalid(&error))?;
    finisher.hold(count, query, &mut reservation)?;
    let (mut lines, looked_at) = finisher.first_of(lines, query, &mut reservation, is_late)?;
    // Groups that cannot be in the result were not examined.
    let is_filtered = query.having.is_some() || query.series.is_some();
    let total = if is_filtered { looked_at } else { count as u64 };
    let beyond = raw_rows.unwrap_or(total).saturating_sub(query.offset).saturating_sub(query.limit);
    if query.counts_distinct_values() {
        let sampled = lines.iter().filter(|line| finisher.is_sampled(line)).count();
        if sampled > 0 {
            warnings.add(WarningCode::DistinctOfSampled, "", sampled as u64);
        }
    }
    // A client that sets a lower limit knows that there may be more rows.
    if beyond > 0 && query.limit >= LIMIT_DEFAULT {
        warnings.add(WarningCode::LimitReached, "", beyond);
    }
    if query.totals {
        lines.push(finisher.totals(query, is_late)?);
    }
    let columns = query.outputs.iter().map(|output| (output.name.clone(), output.value_type));
    let mut answer = ResultSet {
        columns: columns.collect(),
        rows: Vec::with_capacity(lines.len()),
        raw_counts: lines.iter().map(|line| finisher.raw_count(line)).collect(),
        intervals: Vec::new(),
        kinds: lines.iter().map(ResultRow::kind).collect(),
        coverage,
        stats,
        warnings: warnings.iter().collect(),
        reservation,
    };
    let leaves = AnsweredLeaves::of(&answer.coverage);
    let mut made = ReservedRows::default();
    for (index, line) in lines.into_iter().enumerate() {
        if index % LINES_AT_ONCE == 0 && is_late() {
            return Err(FinishError::Late);
        }
        let row = finisher.outputs_of(&line)?;
        made.add(row.bytes().saturating_sub(line.bytes()), &mut answer.reservation)?;
        if let Some(plan) = &query.confidence {
            let intervals = finisher.intervals_of(plan, query, (&line, &row), leaves.as_ref());
            made.add(size_of_val(intervals.as_slice()), &mut answer.reservation)?;
            answer.intervals.push(intervals);
        }
        answer.rows.push(row);
    }
    if let Some(error) = query.functions.failure() {
        return Err(EvalError::from(error).into());
    }
    let bytes = answer.bytes();
    answer.reservation.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))?;
    Ok(answer)
}

/// Counts the bytes of new rows, and reserves them in steps.
#[derive(Default)]
struct ReservedRows {
    /// Bytes that are not reserved yet.
    bytes: usize,
}

impl ReservedRows {
    fn add(&mut self, bytes: usize, held: &mut MemoryReservation) -> Result<(), QueryError> {
        self.bytes += bytes;
        if self.bytes >= DRAWN_AT_ONCE {
            let bytes = std::mem::take(&mut self.bytes);
            held.grow(bytes).map_err(|spent| out_of_memory(held.bytes() + bytes, spent))?;
        }
        Ok(())
    }
}

/// The body of a partial result as result rows.
struct FinishInput {
    /// The groups that `ResultRow::Place` refers to.
    groups: Groups,
    /// The rows that can be in the result.
    lines: ResultRows,
    /// The number of all rows.
    count: usize,
}

impl FinishInput {
    fn new(
        answering: PartialBody,
        query: &Query,
        (warnings, held): (&mut Warnings, &mut MemoryReservation),
        is_late: &dyn Fn() -> bool,
    ) -> Result<Self, FinishError> {
        let mut groups = match answering {
            PartialBody::Groups(groups) => groups,
            PartialBody::Rows(rows) => {
                let count = rows.len();
                let lines = Box::new(rows.into_sorted().into_iter().map(ResultRow::Raw));
                return Ok(Self { groups: Groups::new(query), lines, count });
            }
        };
        groups.flush_deferred();
        let group_indexes = candidates(query, &groups, bounds(query).1);
        if groups.dropped_rows() > 0 {
            warnings.add(WarningCode::GroupsDropped, "", groups.dropped_rows());
        }
        if groups.folded().1 > 0 {
            warnings.add(WarningCode::SeriesFolded, "", groups.folded().1);
        }
        if groups.is_empty() && query.keys().is_empty() {
            let _ = groups.find_or_insert(&[]);
        }
        groups.check_sums().map_err(|error| overflow(&error))?;
        let count = groups.len();
        if let Some(limit) = &query.series {
            let lines = match query.prefix_key() {
                Some(key) => prefixes::limit(query, (limit, key), &groups, held, is_late)?,
                None => series::limit(query, limit, &groups, held, is_late)?,
            };
            return Ok(Self { groups, lines, count });
        }
        let lines: ResultRows = match group_indexes {
            Some(group_indexes) => Box::new(group_indexes.into_iter().map(ResultRow::Place)),
            None => Box::new((0..count).map(ResultRow::Place)),
        };
        Ok(Self { groups, lines, count })
    }
}

impl ResultSet {
    /// Approximate bytes of the rows.
    fn bytes(&self) -> usize {
        let intervals = self.intervals.iter().map(|intervals| size_of_val(intervals.as_slice()));
        self.rows.iter().map(SparseRow::bytes).sum::<usize>() + intervals.sum::<usize>()
    }
}

/// The prepared expressions of each result row.
struct Finisher<'g> {
    /// The groups that `ResultRow::Place` refers to.
    groups: &'g Groups,
    outputs: Vec<Prepared<GroupInput>>,
    having: Option<Prepared<GroupInput>>,
    order: SortOrder,
    seconds: CoveredSeconds,
}

impl<'g> Finisher<'g> {
    fn new(query: &Query, groups: &'g Groups) -> Result<Self, PrepareError> {
        let prepare = |expr: &OutputExpr| Prepared::with_functions(expr, &query.functions);
        Ok(Self {
            groups,
            outputs: query
                .outputs
                .iter()
                .map(|output| prepare(&output.expr))
                .collect::<Result<_, _>>()?,
            having: query.having.as_ref().map(prepare).transpose()?,
            order: SortOrder::new(query)?,
            seconds: CoveredSeconds::new(query)?,
        })
    }

    fn keeps(&self, line: &ResultRow) -> Result<bool, EvalError> {
        let slot = |slot: &GroupInput| self.slot(line, slot);
        self.having.as_ref().map_or(Ok(true), |having| having.is_true(&slot))
    }

    fn outputs_of(&self, line: &ResultRow) -> Result<SparseRow, EvalError> {
        let slot = |slot: &GroupInput| self.slot(line, slot);
        self.outputs.iter().map(|output| output.value(&slot)).collect()
    }

    /// The interval of each output of a result row.
    fn intervals_of(
        &self,
        plan: &ConfidencePlan,
        query: &Query,
        (line, row): (&ResultRow, &SparseRow),
        leaves: Option<&AnsweredLeaves>,
    ) -> Vec<Interval> {
        let none = || vec![Interval::None; query.outputs.len()];
        let states = match line {
            ResultRow::Raw(_) => return none(),
            // What leaves added to each of several groups does not add up.
            ResultRow::Alone { .. } if leaves.is_some() => return none(),
            ResultRow::Alone { group, .. } => GroupStates::Alone(group),
            ResultRow::Place(group_index) => GroupStates::Place(self.groups, *group_index),
        };
        let number = |expr: &OutputExpr| {
            let prepared = Prepared::with_functions(expr, &query.functions).ok()?;
            match prepared.value(&|slot: &GroupInput| self.slot(line, slot)).ok()? {
                Value::Number(number) => Some(number.to_f64()),
                _ => None,
            }
        };
        let outputs = (0..).zip(&plan.outputs);
        outputs
            .map(|(index, of)| {
                confidence::interval((plan, of), row.get(index), &states, leaves, &number)
            })
            .collect()
    }

    fn key<'l>(&'l self, line: &'l ResultRow, key: usize) -> Option<Cow<'l, Value>> {
        match line {
            ResultRow::Raw(values) => Some(Cow::Borrowed(values.get(key))),
            ResultRow::Alone { key: all, .. } => all.get(key).map(Cow::Borrowed),
            ResultRow::Place(group_index) => self.groups.key_value(*group_index, key),
        }
    }

    fn raw_count(&self, line: &ResultRow) -> u64 {
        self.count(line).map_or(1, WeightedCount::rows)
    }

    /// Whether rows of the group stand for others.
    fn is_sampled(&self, line: &ResultRow) -> bool {
        let unit = i128::from(Weight::UNIT);
        self.count(line).is_some_and(|count| count.weight() > i128::from(count.rows()) * unit)
    }

    fn count(&self, line: &ResultRow) -> Option<WeightedCount> {
        match line {
            ResultRow::Raw(_) => None,
            ResultRow::Alone { group, .. } => Some(group.count),
            ResultRow::Place(group_index) => Some(self.groups.count_at(*group_index)),
        }
    }

    fn slot(&self, line: &ResultRow, slot: &GroupInput) -> Value {
        match (slot, line) {
            (GroupInput::Key(index), _) => {
                self.key(line, *index).map_or(Value::Null, Cow::into_owned)
            }
            (GroupInput::Seconds, line) if line.kind() == RowKind::Total => self.seconds.of_all(),
            (GroupInput::Seconds, _) => self.seconds.of(|key| self.key(line, key)),
            (_, ResultRow::Raw(_)) => Value::Null,
            (slot, ResultRow::Alone { group, .. }) => of_group(group, slot),
            (GroupInput::Measure(index, finish), ResultRow::Place(group_index)) => {
                let state = self.groups.state_at(*group_index, *index);
                state.map_or(Value::Null, |state| of_state(&state, *finish))
            }
            (slot, ResultRow::Place(group_index)) => {
                of_count(self.groups.count_at(*group_index), slot)
            }
        }
    }
}

/// The error of a sum beyond the range of numbers.
fn overflow(error: &SumOverflow) -> QueryError {
    QueryError::new(QueryErrorCode::Overflow, &error.to_string())
}

/// An iterator that makes result rows.
pub(crate) type ResultRows = Box<dyn Iterator<Item = ResultRow>>;

/// The numbers of rows before OFFSET and up to LIMIT.
fn bounds(query: &Query) -> (usize, usize) {
    let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    (size(query.offset), size(query.offset.saturating_add(query.limit)))
}

impl ResultRow {
    /// Bytes of its values, if they move to the result row.
    fn bytes(&self) -> usize {
        match self {
            Self::Raw(values) => values.bytes(),
            Self::Alone { .. } | Self::Place(_) => 0,
        }
    }

    fn kind(&self) -> RowKind {
        match self {
            Self::Alone { kind, .. } => *kind,
            Self::Raw(_) | Self::Place(_) => RowKind::Group,
        }
    }
}
