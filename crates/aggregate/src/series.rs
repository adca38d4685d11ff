//! The series limit: the top groups without their time bucket, each with all its buckets, and
//! the rest summed up as "other".

use std::collections::BTreeMap;

use hadal_query::{PrepareError, Prepared, Query, SeriesLimit, Slot};
use hadal_types::{Micros, Value};

use crate::finish::{Line, bucket_range, of_group, seconds_of};
use crate::groups::Group;
use crate::order::{Direction, SortKey};

/// The largest first, nulls last.
const RANK: Direction = Direction { descending: true, nulls_first: false };

/// The groups as lines of the answer; beyond the query's series limit, if it has one, merged
/// per time bucket into lines whose other keys are null.
///
/// # Errors
/// When what series are ranked by cannot run.
pub(crate) fn limit(
    query: &Query,
    groups: Vec<(Box<[Value]>, Group)>,
) -> Result<Vec<Line>, PrepareError> {
    let line = |(key, group)| Line { key, group: Some(group), is_other: false };
    let Some(limit) = &query.series else {
        return Ok(groups.into_iter().map(line).collect());
    };
    let time_key = query.time_key().map(|(index, _)| index);
    let kept = top(query, limit, &groups, time_key)?;
    let mut lines = Vec::new();
    let mut others: BTreeMap<Box<[Value]>, Group> = BTreeMap::new();
    for (key, group) in groups {
        if kept.contains_key(&without_time(&key, time_key)) {
            lines.push(line((key, group)));
            continue;
        }
        match others.entry(only_time(&key, time_key)) {
            std::collections::btree_map::Entry::Occupied(other) => other.into_mut().merge(group),
            std::collections::btree_map::Entry::Vacant(other) => drop(other.insert(group)),
        }
    }
    let other = |(key, group)| Line { key, group: Some(group), is_other: true };
    lines.extend(others.into_iter().map(other));
    Ok(lines)
}

/// The series that are kept.
fn top(
    query: &Query,
    limit: &SeriesLimit,
    groups: &[(Box<[Value]>, Group)],
    time_key: Option<usize>,
) -> Result<BTreeMap<Box<[Value]>, ()>, PrepareError> {
    let rank = Prepared::new(&limit.rank)?;
    let mut series: BTreeMap<Box<[Value]>, Group> = BTreeMap::new();
    for (key, group) in groups {
        series
            .entry(without_time(key, time_key))
            .and_modify(|whole| whole.merge(group.clone()))
            .or_insert_with(|| group.clone());
    }
    let seconds = whole_range(query, groups);
    let mut ranked: Vec<(SortKey, Box<[Value]>)> = series
        .into_iter()
        .map(|(key, group)| {
            let slot = |slot: &Slot| match slot {
                Slot::Key(index) => key.get(*index).cloned().unwrap_or(Value::Null),
                Slot::Seconds => seconds.clone(),
                other => of_group(&group, other),
            };
            (RANK.key(rank.value(&slot)), key)
        })
        .collect();
    ranked.sort();
    ranked.truncate(limit.count);
    Ok(ranked.into_iter().map(|(_, key)| (key, ())).collect())
}

/// The seconds of the whole range; what is open ends with the buckets that have rows.
fn whole_range(query: &Query, groups: &[(Box<[Value]>, Group)]) -> Value {
    let mut range = query.range;
    if let Some((index, width)) = query.time_key() {
        let starts = groups.iter().filter_map(|(key, _)| match key.get(index) {
            Some(Value::Time(start)) => Some(*start),
            _ => None,
        });
        range.from = range.from.or_else(|| starts.clone().min());
        range.to =
            range.to.or_else(|| starts.max().and_then(|last: Micros| bucket_range(last, width).to));
    }
    seconds_of(range)
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
