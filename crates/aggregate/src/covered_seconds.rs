//! The time that a group covers, which is the divisor of `per_second` and `per_minute`.
//!
//! A group covers a moment if the query asks for that moment, and if all keys that depend on time
//! alone have the group's values at that moment. Such keys are the time bucket and, in a
//! comparison, the side. So only the part of a bucket that is inside the time range counts. If a
//! bucket is on both sides of a comparison, each side counts the part that the query asks for on
//! that side.

use std::borrow::Cow;

use hadal_query::{Expr, Function, PrepareError, Prepared, Query, RowExpr, RowInput, TimeBuckets};
use hadal_types::{Decimal, Micros, TimeRange, Value};

/// Computes how many seconds of the query's time each group covers.
pub(crate) struct CoveredSeconds {
    intervals: Vec<TimeRange>,
    /// The index of the time bucket's key, and its buckets.
    bucket: Option<(usize, TimeBuckets)>,
    /// Other keys that are step functions of time alone.
    steps: Vec<(usize, Prepared<RowInput>)>,
    /// The moments at which the step functions may change, ascending.
    changes: Vec<Micros>,
}

impl CoveredSeconds {
    /// For the groups of `query`.
    ///
    /// # Errors
    /// A key cannot be prepared.
    pub(crate) fn new(query: &Query) -> Result<Self, PrepareError> {
        let (mut steps, mut changes) = (Vec::new(), Vec::new());
        for (index, key) in query.keys().iter().enumerate() {
            let mut moments = Vec::new();
            if is_by_steps(key, &mut moments) && !moments.is_empty() {
                steps.push((index, Prepared::with_functions(key, &query.functions)?));
                changes.append(&mut moments);
            }
        }
        changes.sort_unstable();
        changes.dedup();
        Ok(Self { intervals: intervals(query), bucket: query.time_key(), steps, changes })
    }

    /// The seconds of the group with these keys. Null if the covered time is open at an end.
    pub(crate) fn of<'k>(&self, key: impl Fn(usize) -> Option<Cow<'k, Value>>) -> Value {
        let bucket =
            self.bucket.as_ref().and_then(|(index, buckets)| match key(*index).as_deref() {
                Some(Value::Time(from)) => Some(buckets.range(*from)),
                _ => None,
            });
        let bucket = bucket.unwrap_or(TimeRange::ALL);
        // Intervals ascend; skip those that end before the bucket.
        let is_before = |interval: &TimeRange| {
            interval.to.zip(bucket.from).is_some_and(|(to, from)| to <= from)
        };
        let first = self.intervals.partition_point(is_before);
        let is_within =
            |interval: &&TimeRange| interval.from.zip(bucket.to).is_none_or(|(from, to)| from < to);
        let asked = self.intervals[first..].iter().take_while(is_within);
        let asked = asked.map(|interval| interval.intersect(bucket));
        if self.steps.is_empty() {
            return seconds_of(&asked.collect::<Vec<_>>());
        }
        let pieces = asked.flat_map(|interval| self.pieces(interval));
        let covered = pieces.filter(|piece| {
            let at = Value::Time(piece.from.unwrap_or(Micros::MIN));
            let input = |_: &RowInput| at.clone();
            self.steps.iter().all(|(index, step)| {
                step.eval(&input).is_ok_and(|value| key(*index).as_deref() == Some(&*value))
            })
        });
        seconds_of(&covered.collect::<Vec<_>>())
    }

    /// The seconds of all groups together. Null if the time is open at an end.
    pub(crate) fn of_all(&self) -> Value {
        seconds_of(&self.intervals)
    }

    /// The interval, cut where keys may change.
    fn pieces(&self, interval: TimeRange) -> Vec<TimeRange> {
        let mut from = interval.from;
        let within = self.changes.iter().copied().filter(|&at| {
            interval.from.is_none_or(|from| from < at) && interval.to.is_none_or(|to| at < to)
        });
        let mut pieces: Vec<TimeRange> =
            within.map(|at| TimeRange { from: from.replace(at), to: Some(at) }).collect();
        pieces.push(TimeRange { from, to: interval.to });
        pieces
    }
}

/// The time range of a query as intervals.
pub(crate) fn intervals(query: &Query) -> Vec<TimeRange> {
    match query.intervals.is_empty() {
        true => vec![query.range],
        false => query.intervals.clone(),
    }
}

/// Whether `expr` consists of comparisons of the row's time with literals. Then it changes at
/// single moments only, which are appended to `changes`.
fn is_by_steps(expr: &RowExpr, changes: &mut Vec<Micros>) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Leaf(_) => false,
        Expr::Call { function, arguments } => match (arguments.as_slice(), function.mirrored()) {
            (
                [Expr::Leaf(RowInput::Time), Expr::Literal(Value::Time(at))]
                | [Expr::Literal(Value::Time(at)), Expr::Leaf(RowInput::Time)],
                Some(_),
            ) => {
                // A comparison may differ before, at and after the moment.
                changes.extend([*at, Micros(at.0.saturating_add(1))]);
                true
            }
            _ => {
                let is_made_of_them = matches!(
                    function,
                    Function::And | Function::Or | Function::Not | Function::Case
                );
                is_made_of_them && arguments.iter().all(|argument| is_by_steps(argument, changes))
            }
        },
    }
}

/// The total seconds of disjoint intervals; null if one is open.
pub(crate) fn seconds_of(intervals: &[TimeRange]) -> Value {
    let micros = intervals.iter().map(|interval| {
        let (from, to) = interval.from.zip(interval.to)?;
        Some((i128::from(to.0) - i128::from(from.0)).max(0))
    });
    let Some(micros) = micros.sum::<Option<i128>>() else { return Value::Null };
    Decimal::new(micros, 6).map_or(Value::Null, |seconds| Value::Number(seconds.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partial::fixture::groups_query;

    const MINUTE: i64 = 60 * Micros::SECOND;

    fn at(seconds: i64) -> Micros {
        Micros(seconds * Micros::SECOND)
    }

    fn range(from: i64, to: i64) -> TimeRange {
        TimeRange { from: Some(at(from)), to: Some(at(to)) }
    }

    fn time_and(function: Function, seconds: i64) -> RowExpr {
        let literal = Expr::Literal(Value::Time(at(seconds)));
        Expr::call(function, [Expr::Leaf(RowInput::Time), literal])
    }

    /// The side of a comparison whose later interval begins at `from`.
    fn side(from: i64) -> RowExpr {
        let is_now = time_and(Function::GreaterOrEqual, from);
        let (now, before) = (Value::String("now".into()), Value::String("before".into()));
        Expr::call(Function::Case, [is_now, Expr::Literal(now), Expr::Literal(before)])
    }

    fn minutes() -> RowExpr {
        let width = Value::Number(hadal_types::Number::integer(MINUTE));
        Expr::call(Function::TimeBucket, [Expr::Leaf(RowInput::Time), Expr::Literal(width)])
    }

    fn seconds(query: &Query, key: &[Value]) -> String {
        let seconds = CoveredSeconds::new(query).expect("keys that run");
        seconds.of(|index| key.get(index).map(Cow::Borrowed)).to_string()
    }

    #[test]
    fn a_bucket_on_both_sides_of_a_comparison_counts_with_the_part_of_each() {
        // 70 s to 100 s is compared with 30 s to 65 s; the minute from 60 s overlaps both.
        let query = Query {
            range: range(30, 100),
            intervals: vec![range(30, 65), range(70, 100)],
            ..groups_query(vec![side(70), minutes()], vec![])
        };
        let text = |text: &str| Value::String(text.into());
        let key = |side: &str, minute: i64| [text(side), Value::Time(at(60 * minute))];
        assert_eq!(seconds(&query, &key("before", 0)), "30", "the first is cut at its begin");
        assert_eq!(seconds(&query, &key("before", 1)), "5", "the last at its end");
        assert_eq!(seconds(&query, &key("now", 1)), "30");
        assert_eq!(seconds(&query, &key("now", 0)), "0");
        let without_buckets = Query { ..groups_query(vec![side(70)], vec![]) };
        let without_buckets =
            Query { range: query.range, intervals: query.intervals.clone(), ..without_buckets };
        assert_eq!(seconds(&without_buckets, &[text("before")]), "35");
        assert_eq!(seconds(&without_buckets, &[text("now")]), "30");
    }

    #[test]
    fn a_bucket_has_the_time_of_all_intervals_within() {
        let intervals = vec![range(0, 5), range(10, 20), range(50, 70), range(200, 300)];
        let query =
            Query { range: range(0, 300), intervals, ..groups_query(vec![minutes()], vec![]) };
        let minute = |minute: i64| seconds(&query, &[Value::Time(at(60 * minute))]);
        assert_eq!([0, 1, 2, 3, 4].map(minute), ["25", "10", "0", "40", "60"]);
    }

    #[test]
    fn what_is_open_has_no_length() {
        let open = TimeRange { from: Some(at(100)), to: None };
        let query = Query {
            range: TimeRange::ALL,
            intervals: vec![range(0, 50), open],
            ..groups_query(vec![side(100)], vec![])
        };
        assert_eq!(seconds(&query, &[Value::String("now".into())]), "null");
        assert_eq!(seconds(&query, &[Value::String("before".into())]), "50");
    }
}
