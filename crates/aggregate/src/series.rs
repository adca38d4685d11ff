//! The series limit: the top groups without their time bucket, each with all its buckets, and
//! the rest summed up as "other".

use hadal_query::{PrepareError, Prepared, Query, SeriesLimit, Slot, StringTooLong};
use hadal_types::{Micros, Value};
use hashbrown::HashMap;

use crate::finish::{Line, Lines, of_group};
use crate::group::{Group, KeyedGroup};
use crate::order::{Direction, SortKey};
use crate::seconds::{bucket_range, intervals, seconds_of};

/// The largest first, nulls last.
const RANK: Direction = Direction { descending: true, nulls_first: false };

/// Groups by what is left of their keys.
type ByKey<T> = HashMap<Box<[Value]>, T>;

/// All groups that differ in the time bucket alone.
struct Series {
    /// The best first; ties by key.
    rank: (SortKey, Box<[Value]>),
    groups: Vec<KeyedGroup>,
}

/// The groups as lines of the answer; beyond the query's series limit merged
/// per time bucket into lines whose other keys are null.
///
/// # Errors
/// When what series are ranked by cannot run.
pub(crate) fn limit(
    query: &Query,
    limit: &SeriesLimit,
    groups: Vec<KeyedGroup>,
) -> Result<Lines, PrepareError> {
    let line = |(key, group)| Line::Alone { key, group, is_other: false };
    let time_key = query.time_key().map(|(index, _)| index);
    let rank = Prepared::new(&limit.rank)?;
    let seconds = whole_range(query, &groups);
    let mut series: ByKey<Vec<KeyedGroup>> = HashMap::new();
    for (key, group) in groups {
        series.entry(without_time(&key, time_key)).or_default().push((key, group));
    }
    let (kept, rest) = split(query, limit, series, |key, whole| {
        rank.value(&|slot: &Slot| match slot {
            Slot::Key(index) => key.get(*index).cloned().unwrap_or(Value::Null),
            Slot::Seconds => seconds.clone(),
            other => of_group(whole, other),
        })
    })?;
    let mut others: ByKey<Group> = HashMap::new();
    for (key, group) in rest {
        others
            .entry(only_time(&key, time_key))
            .or_insert_with(|| Group::empty(query))
            .merge(&group);
    }
    let other = |(key, group)| Line::Alone { key, group, is_other: true };
    Ok(Box::new(kept.into_iter().map(line).chain(others.into_iter().map(other))))
}

/// The groups of the series that are kept, and all others.
fn split(
    query: &Query,
    limit: &SeriesLimit,
    series: ByKey<Vec<KeyedGroup>>,
    rank: impl Fn(&[Value], &Group) -> Result<Value, StringTooLong>,
) -> Result<(Vec<KeyedGroup>, Vec<KeyedGroup>), StringTooLong> {
    let mut ranked: Vec<Series> = series
        .into_iter()
        .map(|(key, groups)| {
            let value = match &*groups {
                [(_, only)] => rank(&key, only),
                several => {
                    let mut whole = Group::empty(query);
                    several.iter().for_each(|(_, group)| whole.merge(group));
                    rank(&key, &whole)
                }
            };
            Ok(Series { rank: (RANK.key(value?), key), groups })
        })
        .collect::<Result<_, _>>()?;
    if limit.count < ranked.len() {
        ranked.select_nth_unstable_by(limit.count, |left, right| left.rank.cmp(&right.rank));
    }
    let rest = ranked.split_off(limit.count.min(ranked.len()));
    let groups = |series: Vec<Series>| series.into_iter().flat_map(|one| one.groups).collect();
    Ok((groups(ranked), groups(rest)))
}

/// The seconds of the whole range; what is open ends with the buckets that have rows.
fn whole_range(query: &Query, groups: &[KeyedGroup]) -> Value {
    let mut intervals = intervals(query);
    if let Some((index, width)) = query.time_key() {
        let starts = groups.iter().filter_map(|(key, _)| match key.get(index) {
            Some(Value::Time(start)) => Some(*start),
            _ => None,
        });
        if let Some(first) = intervals.first_mut() {
            first.from = first.from.or_else(|| starts.clone().min());
        }
        if let Some(last) = intervals.last_mut() {
            let end = || starts.max().and_then(|last: Micros| bucket_range(last, width).to);
            last.to = last.to.or_else(end);
        }
    }
    seconds_of(&intervals)
}

/// The key of the series: the time bucket left blank.
fn without_time(key: &[Value], time_key: Option<usize>) -> Box<[Value]> {
    blank(key, |index| Some(index) == time_key)
}

/// The key of "other" in a time bucket: all else left blank.
fn only_time(key: &[Value], time_key: Option<usize>) -> Box<[Value]> {
    blank(key, |index| Some(index) != time_key)
}

fn blank(key: &[Value], is_blank: impl Fn(usize) -> bool) -> Box<[Value]> {
    let value = |(index, value): (usize, &Value)| match is_blank(index) {
        true => Value::Null,
        false => value.clone(),
    };
    key.iter().enumerate().map(value).collect()
}
