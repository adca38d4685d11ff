//! Groups that keep every value of their rows, and the series limit.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hadal_query::{Expr, GroupInput, OutputExpr, Query, RowInput, SeriesLimit};
use hadal_types::{Micros, TimeRange, Value};

use super::calendar;
use super::evaluate::Evaluator;
use super::exact::Exact;
use super::finish::{self, Cell, Tolerance, Weighted};
use super::{OracleFault, Standing};

/// The rows with the same keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The weights of all rows.
    pub(super) rows: Vec<Weighted>,
    /// By measure: the values of the rows that have a value.
    pub(super) values: Vec<Vec<Weighted>>,
}

/// The weight of a row in a measure, and its values there, one or two.
pub(super) type RowValues = (Option<i64>, Value, Option<Value>);

/// Groups by their keys.
pub(super) type Groups = BTreeMap<Vec<Value>, Group>;

impl Group {
    /// A group without rows.
    pub(super) fn empty(measures: usize) -> Self {
        Self { rows: Vec::new(), values: vec![Vec::new(); measures] }
    }

    /// Adds a row with this weight, and for each measure its weight there and its values, one or
    /// two. Without a weight, the measure leaves the row out.
    pub(super) fn add(&mut self, weight: i64, values: Vec<RowValues>) {
        self.rows.push(Weighted { value: Value::Null, second: Value::Null, weight });
        for (kept, (weight, value, second)) in self.values.iter_mut().zip(values) {
            if let Some(weight) = weight
                && !value.is_null()
                && second != Some(Value::Null)
            {
                kept.push(Weighted { value, second: second.unwrap_or(Value::Null), weight });
            }
        }
    }

    /// Adds the rows of another group.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.rows.extend_from_slice(&other.rows);
        for (kept, values) in self.values.iter_mut().zip(&other.values) {
            kept.extend_from_slice(values);
        }
    }
}

/// The values of one group, or of one raw row, for output expressions.
pub(super) struct GroupValues<'a> {
    pub(super) keys: &'a [Value],
    pub(super) group: &'a Group,
    /// By measure: whether the engine sums decimals.
    pub(super) sums_exactly: &'a [bool],
    pub(super) seconds: Cell,
}

impl GroupValues<'_> {
    /// The value of `expr`.
    pub(super) fn output(
        &self,
        evaluator: &Evaluator,
        expr: &OutputExpr,
    ) -> Result<Cell, OracleFault> {
        if let Expr::Leaf(slot) = expr {
            return Ok(self.cell(slot));
        }
        let mut exact = true;
        expr.for_each_leaf(&mut |slot| exact &= self.cell(slot).is_exact());
        let value = evaluator.value(expr, &|slot: &GroupInput| self.cell(slot).value)?;
        let tolerance = if exact { Tolerance::Exact } else { Tolerance::Open };
        Ok(Cell { value, tolerance })
    }

    fn cell(&self, slot: &GroupInput) -> Cell {
        match slot {
            GroupInput::Key(index) => {
                Cell::exact(self.keys.get(*index).cloned().unwrap_or(Value::Null))
            }
            GroupInput::Count => Cell::exact(finish::count(&self.group.rows)),
            GroupInput::RawCount => Cell::exact(finish::length(self.group.rows.len())),
            GroupInput::Seconds => self.seconds.clone(),
            GroupInput::Measure(index, finish) => {
                let values = self.group.values.get(*index).map_or(&[][..], Vec::as_slice);
                let exactly = self.sums_exactly.get(*index).is_some_and(|exactly| *exactly);
                finish::finish(*finish, values, exactly)
            }
        }
    }
}

/// The seconds of the query's range that the group's time bucket covers; without a bucket, the
/// whole range. Open if another key depends on time, because a group then covers only the time when
/// that key has its value.
pub(super) fn seconds(query: &Query, keys: &[Value]) -> Cell {
    let bucket = query.time_key().map(|(index, _)| index);
    let mut is_open = false;
    for (_, key) in query.keys().iter().enumerate().filter(|(index, _)| Some(*index) != bucket) {
        key.for_each_leaf(&mut |leaf| is_open |= matches!(leaf, RowInput::Time));
    }
    let tolerance = if is_open { Tolerance::Open } else { Tolerance::Exact };
    Cell { value: seconds_of_bucket(query, keys), tolerance }
}

fn seconds_of_bucket(query: &Query, keys: &[Value]) -> Value {
    let TimeRange { mut from, mut to } = query.range;
    if let Some((index, buckets)) = query.time_key()
        && let Some(Value::Time(start)) = keys.get(index)
    {
        let end = calendar::bucket_end(&buckets, *start);
        from = Some(from.map_or(*start, |from| from.max(*start)));
        to = Some(to.map_or(end, |to| to.min(end)));
    }
    between(from, to)
}

/// The seconds of the whole range; the first and the last bucket close open ends.
pub(super) fn seconds_of_all(query: &Query, groups: &Groups) -> Value {
    let TimeRange { mut from, mut to } = query.range;
    if let Some((index, buckets)) = query.time_key() {
        for keys in groups.keys() {
            let Value::Time(start) = keys[index] else { continue };
            let end = calendar::bucket_end(&buckets, start);
            if query.range.from.is_none() {
                from = Some(from.map_or(start, |from| from.min(start)));
            }
            if query.range.to.is_none() {
                to = Some(to.map_or(end, |to| to.max(end)));
            }
        }
    }
    between(from, to)
}

fn between(from: Option<Micros>, to: Option<Micros>) -> Value {
    let (Some(from), Some(to)) = (from, to) else { return Value::Null };
    let micros = i128::from(to.0) - i128::from(from.0);
    let seconds = Exact::from_integer(micros.max(0)).shifted_down(6);
    seconds.to_decimal().map_or(Value::Null, Value::Number)
}

/// Keeps the top series. The others become one more series with null keys at the end.
pub(super) fn limit_series(
    groups: Groups,
    limit: &SeriesLimit,
    query: &Query,
    evaluator: &Evaluator,
    sums_exactly: &[bool],
    standing: &mut Standing,
) -> Result<Vec<(Vec<Value>, Group)>, OracleFault> {
    let time_key = query.time_key().map(|(index, _)| index);
    let blank_time = |keys: &[Value]| -> Vec<Value> {
        let blank = |(index, key): (usize, &Value)| match time_key == Some(index) {
            true => Value::Null,
            false => key.clone(),
        };
        keys.iter().enumerate().map(blank).collect()
    };
    let measures = query.measures().len();
    let mut series = Groups::new();
    for (keys, group) in &groups {
        series.entry(blank_time(keys)).or_insert_with(|| Group::empty(measures)).add_all(group);
    }
    let seconds = seconds_of_all(query, &groups);
    let mut ranked = Vec::new();
    for (keys, group) in &series {
        let slots =
            GroupValues { keys, group, sums_exactly, seconds: Cell::exact(seconds.clone()) };
        let rank = slots.output(evaluator, &limit.rank)?;
        if !rank.is_exact() && series.len() > limit.count {
            *standing = Standing::Open;
        }
        ranked.push((rank.value, keys));
    }
    ranked.sort_by(|left, right| largest_first(&left.0, &right.0).then(left.1.cmp(right.1)));
    let kept: Vec<&Vec<Value>> =
        ranked.into_iter().take(limit.count).map(|(_, keys)| keys).collect();
    let mut answer = Vec::new();
    let mut others = Groups::new();
    for (keys, group) in groups {
        if kept.contains(&&blank_time(&keys)) {
            answer.push((keys, group));
            continue;
        }
        let null_but_time = |(index, key): (usize, Value)| match time_key == Some(index) {
            true => key,
            false => Value::Null,
        };
        let keys = keys.into_iter().enumerate().map(null_but_time).collect();
        others.entry(keys).or_insert_with(|| Group::empty(measures)).add_all(&group);
    }
    answer.extend(others);
    Ok(answer)
}

/// Orders the largest first, nulls last.
pub(super) fn largest_first(left: &Value, right: &Value) -> Ordering {
    left.is_null().cmp(&right.is_null()).then_with(|| right.cmp(left))
}
