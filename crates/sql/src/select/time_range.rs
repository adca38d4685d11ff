//! Extracts the time range of a query from its conditions.
//!
//! A condition that constrains only the time is a set of intervals: a comparison is one interval,
//! OR unites sets, AND intersects them. Rows count within the intersection of all conditions; its
//! hull becomes the query's range. A condition of one interval is then redundant and dropped. Other
//! conditions remain in the filter.

use hadal_query::{Expr, Function, RowExpr, RowInput};
use hadal_types::{Micros, TimeRange, Value, limits};

/// From the first microsecond to the one after the last; an extreme value means an open end.
type Interval = (i64, i64);

/// The times at which rows can count: disjoint intervals in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intervals(Vec<Interval>);

/// The time range of a query's conditions, and the remaining conditions.
pub(crate) struct Split {
    pub(crate) intervals: Intervals,
    /// The conditions to evaluate for each row.
    pub(crate) rest: Vec<RowExpr>,
}

/// Splits conditions that must all be true.
pub(crate) fn split(conditions: Vec<RowExpr>) -> Split {
    let mut intervals = Intervals::all();
    let mut rest = Vec::new();
    for condition in conditions {
        match constraint(&condition) {
            Some(times) => {
                if times.0.len() != 1 {
                    rest.push(condition);
                }
                intervals = intervals.intersect(&times);
            }
            None => rest.push(condition),
        }
    }
    Split { intervals, rest }
}

impl Intervals {
    fn all() -> Self {
        Self(vec![(i64::MIN, i64::MAX)])
    }

    /// The range from the first to the last interval; an empty range if there is none.
    pub(crate) fn hull(&self) -> TimeRange {
        let (Some((from, _)), Some((_, to))) = (self.0.first(), self.0.last()) else {
            return TimeRange { from: Some(Micros(0)), to: Some(Micros(0)) };
        };
        range_of(&(*from, *to))
    }

    /// The range, if there is at most one interval; an empty range if there is none.
    pub(crate) fn as_one(&self) -> Option<TimeRange> {
        (self.0.len() <= 1).then(|| self.hull())
    }

    /// All ranges if there are several, else none.
    pub(crate) fn if_several(&self) -> Vec<TimeRange> {
        match self.0.as_slice() {
            [] | [_] => Vec::new(),
            several => several.iter().map(range_of).collect(),
        }
    }

    /// The maximum number of buckets of `width` microseconds; `None` if an end is open.
    pub(crate) fn buckets(&self, width: i64) -> Option<u64> {
        let hull = self.hull();
        hull.from.and(hull.to)?;
        let count = |(from, to): &Interval| {
            let length = to.saturating_sub(*from).max(0).unsigned_abs();
            length.div_ceil(width.unsigned_abs().max(1))
        };
        Some(self.0.iter().map(count).fold(0, u64::saturating_add))
    }

    /// The number of buckets of this width, if it exceeds the limit of a result.
    pub(crate) fn too_many_buckets(&self, width: i64) -> Option<u64> {
        let most = u64::try_from(limits::TIME_BUCKETS_MAX).unwrap_or(u64::MAX);
        self.buckets(width).filter(|buckets| *buckets > most)
    }

    fn intersect(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some((left_from, left_to)), Some((right_from, right_to))) =
            (left.peek(), right.peek())
        {
            let (from, to) = ((*left_from).max(*right_from), (*left_to).min(*right_to));
            if from < to {
                both.push((from, to));
            }
            if left_to < right_to {
                left.next()
            } else {
                right.next()
            };
        }
        Self(both)
    }

    /// Unites intervals in any order; adjacent and overlapping ones become one.
    fn unite(mut all: Vec<Interval>) -> Self {
        all.sort_unstable();
        let mut apart: Vec<Interval> = Vec::new();
        for (from, to) in all {
            match apart.last_mut() {
                Some((_, end)) if from <= *end => *end = (*end).max(to),
                _ => apart.push((from, to)),
            }
        }
        Self(apart)
    }
}

/// Converts an interval to a range, open where it has no bound.
fn range_of((from, to): &Interval) -> TimeRange {
    TimeRange {
        from: (*from != i64::MIN).then_some(Micros(*from)),
        to: (*to != i64::MAX).then_some(Micros(*to)),
    }
}

/// The intervals of a condition that constrains only the time; `None` for other conditions.
fn constraint(condition: &RowExpr) -> Option<Intervals> {
    let Expr::Call { function, arguments } = condition else { return None };
    match function {
        Function::And => {
            let mut all = Intervals::all();
            for argument in arguments {
                all = all.intersect(&constraint(argument)?);
            }
            Some(all)
        }
        Function::Or => {
            let mut all = Vec::new();
            for argument in arguments {
                all.extend(constraint(argument)?.0);
            }
            Some(Intervals::unite(all))
        }
        Function::In => {
            let (Expr::Leaf(RowInput::Time), times) = arguments.split_first()? else { return None };
            let moments: Option<Vec<Interval>> = times.iter().map(moment).collect();
            Some(Intervals::unite(moments?))
        }
        _ => comparison(*function, arguments),
    }
}

fn moment(expr: &RowExpr) -> Option<Interval> {
    match expr {
        Expr::Literal(Value::Time(time)) => Some((time.0, time.0.checked_add(1)?)),
        _ => None,
    }
}

fn comparison(function: Function, arguments: &[RowExpr]) -> Option<Intervals> {
    let (function, time) = match arguments {
        [Expr::Leaf(RowInput::Time), Expr::Literal(Value::Time(time))] => (function, *time),
        [Expr::Literal(Value::Time(time)), Expr::Leaf(RowInput::Time)] => {
            (function.mirrored()?, *time)
        }
        _ => return None,
    };
    let after = time.0.checked_add(1)?;
    let interval = match function {
        Function::Equal => (time.0, after),
        Function::Less => (i64::MIN, time.0),
        Function::LessOrEqual => (i64::MIN, after),
        Function::Greater => (after, i64::MAX),
        Function::GreaterOrEqual => (time.0, i64::MAX),
        _ => return None,
    };
    Some(Intervals(vec![interval]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: Function, micros: i64) -> RowExpr {
        let time = Expr::Literal(Value::Time(Micros(micros)));
        Expr::call(function, [Expr::Leaf(RowInput::Time), time])
    }

    fn range(from: i64, to: i64) -> RowExpr {
        let ends = [at(Function::GreaterOrEqual, from), at(Function::Less, to)];
        Expr::call(Function::And, ends)
    }

    #[test]
    fn comparisons_are_half_open_ranges() {
        for (function, expected) in [
            (Function::Equal, (Some(10), Some(11))),
            (Function::Less, (None, Some(10))),
            (Function::LessOrEqual, (None, Some(11))),
            (Function::Greater, (Some(11), None)),
            (Function::GreaterOrEqual, (Some(10), None)),
        ] {
            let Split { intervals, rest } = split(vec![at(function, 10)]);
            let hull = intervals.hull();
            assert_eq!((hull.from.map(|m| m.0), hull.to.map(|m| m.0)), expected, "{function:?}");
            assert_eq!(rest, []);
        }
    }

    #[test]
    fn two_ranges_have_a_hull_and_stay_in_the_filter() {
        let either = Expr::call(Function::Or, [range(100, 110), range(0, 10)]);
        let Split { intervals, rest } = split(vec![either.clone()]);
        assert_eq!(intervals.hull(), TimeRange { from: Some(Micros(0)), to: Some(Micros(110)) });
        assert_eq!(rest, [either]);
        assert_eq!(intervals.buckets(5), Some(4), "what lies between has no buckets");
        assert_eq!(intervals.as_one(), None);
    }

    #[test]
    fn no_time_at_all_is_an_empty_range() {
        let never = vec![at(Function::Less, 5), at(Function::Greater, 5)];
        let hull = split(never).intervals.hull();
        assert_eq!(hull.from, hull.to);
        assert!(hull.from.is_some());
    }

    #[test]
    fn other_conditions_are_left_alone() {
        let other = Expr::Literal(Value::Bool(true));
        let mixed = Expr::call(Function::Or, [range(0, 10), other.clone()]);
        let Split { intervals, rest } = split(vec![mixed.clone(), other.clone()]);
        assert_eq!(intervals.hull(), TimeRange::ALL);
        assert_eq!(rest, [mixed, other]);
    }
}
