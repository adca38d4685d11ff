//! The limit of prefixes keeps the top prefixes of vectors as a tree: from the empty prefix on,
//! each with all prefixes of itself. The others are summed up in rows "other", one below each
//! prefix whose children are not all kept. An event is in one child of a prefix at most, so the sum
//! over the children left out is exact.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_query::{Query, SeriesLimit};
use hadal_types::{MemoryReservation, Value};
use hashbrown::HashMap;

use crate::finish::{ResultRow, ResultRows, RowKind};
use crate::groups::Groups;
use crate::groups::group::Group;
use crate::groups::series::{AllSeries, CancelCheck, RANK, SeriesRank};
use crate::query_error::{FinishError, invalid, out_of_memory};
use crate::sort_order::SortKey;

/// A prefix by rank: the empty one first, then by rank, and a shorter one before its extensions.
type Ranked = (bool, SortKey, usize, Value);

/// The groups as result rows. Prefixes are ranked over all groups that have them. The key of a row
/// "other" is that of the row above it.
///
/// # Errors
/// As [`crate::finish::series::limit`].
pub(crate) fn limit(
    query: &Query,
    (limit, prefix_key): (&SeriesLimit, usize),
    groups: &Groups,
    held: &mut MemoryReservation,
    is_late: &dyn Fn() -> bool,
) -> Result<ResultRows, FinishError> {
    let mut checks = CancelCheck { is_late, groups: 0 };
    let kept = kept(query, (limit, prefix_key), groups, held, &mut checks)?;
    let mut places = Vec::new();
    let mut others: HashMap<Box<[Value]>, Group> = HashMap::new();
    for group_index in 0..groups.len() {
        checks.pass(1)?;
        let mut key = groups.key_of(group_index);
        if kept.contains(&key[prefix_key]) {
            places.push(group_index);
            continue;
        }
        let Some(above) = shorter(&key[prefix_key]).filter(|above| kept.contains(above)) else {
            // It is a part of a group that is left out, too.
            continue;
        };
        key[prefix_key] = above;
        let group = groups.group_at(group_index);
        match others.get_mut(&key) {
            Some(other) => other.merge(&group),
            None => {
                let bytes = size_of_val(&*key) + size_of::<Group>() + size_of_val(&*group.states);
                hold(held, bytes)?;
                others.insert(key, group);
            }
        }
    }
    let other = |(key, group)| ResultRow::Alone { key, group, kind: RowKind::Other };
    let places = places.into_iter().map(ResultRow::Place);
    Ok(Box::new(places.chain(others.into_iter().map(other))))
}

/// The prefixes that are kept.
fn kept(
    query: &Query,
    (limit, prefix_key): (&SeriesLimit, usize),
    groups: &Groups,
    held: &mut MemoryReservation,
    checks: &mut CancelCheck<'_>,
) -> Result<HashSet<Value>, FinishError> {
    let time_key = query.time_key().map(|(index, _)| index);
    let times = AllSeries::new(groups, time_key, held, checks.is_late)?.times;
    let rank = SeriesRank::new(query, limit, groups, &times).map_err(|error| invalid(&error))?;
    hold(held, groups.len() * size_of::<u32>())?;
    let mut by_prefix: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, group_index) in (0..groups.len()).zip(0..) {
        let number = groups.numbers_at(index).nth(prefix_key).unwrap_or_default();
        by_prefix.entry(number).or_default().push(group_index);
    }
    hold(held, by_prefix.len() * size_of::<Ranked>())?;
    let mut ranked: Vec<Ranked> = Vec::with_capacity(by_prefix.len());
    for group_indexes in by_prefix.values() {
        checks.pass(group_indexes.len())?;
        let prefix = rank.key_of(groups, group_indexes, prefix_key);
        let length = elements(&prefix).len();
        let value = RANK.key(rank.value(groups, group_indexes)?);
        ranked.push((length > 0, value, length, prefix));
    }
    ranked.sort_unstable();
    ranked.truncate(limit.count);
    // A rank that is larger than that of a shorter prefix, such as an average, does not help.
    ranked.sort_unstable_by_key(|(_, _, length, _)| *length);
    let mut kept: HashSet<Value> = HashSet::new();
    for (_, _, length, prefix) in ranked {
        if length == 0 || shorter(&prefix).is_some_and(|above| kept.contains(&above)) {
            kept.insert(prefix);
        }
    }
    Ok(kept)
}

/// The prefix without its last element; `None` for the empty one.
fn shorter(prefix: &Value) -> Option<Value> {
    let (_, shorter) = elements(prefix).split_last()?;
    Some(Value::Vector(shorter.into()))
}

fn elements(prefix: &Value) -> &[Arc<str>] {
    match prefix {
        Value::Vector(elements) => elements,
        _ => &[],
    }
}

fn hold(held: &mut MemoryReservation, bytes: usize) -> Result<(), FinishError> {
    held.grow(bytes)
        .map_err(|spent| out_of_memory(held.bytes().saturating_add(bytes), spent).into())
}
