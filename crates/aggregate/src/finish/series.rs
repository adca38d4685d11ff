//! The series limit keeps the top series, each with all its time buckets, and sums up the remaining
//! series as "other".
//!
//! The ids of a group's keys without time identify its series. Groups are ordered by series, so
//! that one series after the other is merged, ranked and forgotten. Only two things are kept: a
//! heap of the best series, as many as the query asks for, and the current sum of "other" in each
//! time bucket. Limiting drops no group and copies none.

use std::collections::BinaryHeap;

use hadal_query::{Query, SeriesLimit};
use hadal_types::{MemoryReservation, Value};
use hashbrown::HashMap;

use crate::finish::{ResultRow, ResultRows, RowKind};
use crate::groups::Groups;
use crate::groups::group::Group;
use crate::groups::series::{AllSeries, CancelCheck, RANK, SeriesRank};
use crate::query_error::{FinishError, invalid};
use crate::sort_order::SortKey;

/// The groups as result rows. Groups beyond the query's series limit are merged per time bucket
/// into rows whose other keys are null.
///
/// # Errors
/// The rank cannot be prepared or evaluated, memory is exhausted, or `is_late` says that nobody
/// waits for the result.
pub(crate) fn limit(
    query: &Query,
    limit: &SeriesLimit,
    groups: &Groups,
    held: &mut MemoryReservation,
    is_late: &dyn Fn() -> bool,
) -> Result<ResultRows, FinishError> {
    let time_key = query.time_key().map(|(index, _)| index);
    let series = AllSeries::new(groups, time_key, held, is_late)?;
    let rank =
        SeriesRank::new(query, limit, groups, &series.times).map_err(|error| invalid(&error))?;
    let mut best: BinaryHeap<Best> = BinaryHeap::new();
    let mut checks = CancelCheck { is_late, groups: 0 };
    for number in 0..series.len() {
        let group_indexes = series.groups_by_number(number);
        checks.pass(group_indexes.len())?;
        let value = RANK.key(rank.value(groups, group_indexes)?);
        if best.len() < limit.count || best.peek().is_some_and(|worst| value <= worst.0) {
            best.push((value, rank.key(groups, group_indexes), number));
            if best.len() > limit.count {
                best.pop();
            }
        }
    }
    let mut is_kept = vec![false; series.len()];
    best.iter().for_each(|(_, _, number)| is_kept[*number] = true);
    let (mut kept, mut others) = (Vec::new(), folded(groups));
    for (number, is_kept) in is_kept.into_iter().enumerate() {
        let group_indexes = series.groups_by_number(number);
        if is_kept {
            kept.extend_from_slice(group_indexes);
            continue;
        }
        checks.pass(group_indexes.len())?;
        for &group_index in group_indexes {
            let bucket = series.time_of(groups, group_index as usize, time_key);
            let other = others.entry(bucket).or_insert_with(|| Group::empty(query));
            other.merge(&groups.group_at(group_index as usize));
        }
    }
    let key_count = groups.key_count();
    let other = move |(bucket, group): (Value, Group)| {
        let mut key = vec![Value::Null; key_count];
        if let Some(index) = time_key {
            key[index] = bucket;
        }
        ResultRow::Alone { key: key.into(), group, kind: RowKind::Other }
    };
    let kept = kept.into_iter().map(|group_index| ResultRow::Place(group_index as usize));
    Ok(Box::new(kept.chain(others.into_iter().map(other))))
}

/// The groups that were folded into "other" before series were ranked.
fn folded(groups: &Groups) -> Others {
    let Some(folded) = groups.folded().0 else { return Others::default() };
    let entry = |group_index: usize| {
        let time = folded.key_value(group_index, 0).map(std::borrow::Cow::into_owned);
        (time.unwrap_or(Value::Null), folded.group_at(group_index))
    };
    (0..folded.len()).map(entry).collect()
}

/// One of the best series: its rank, its key for ties, and its number.
type Best = (SortKey, Box<[Value]>, usize);

/// The group "other" of each time bucket; the key is null without time buckets.
type Others = HashMap<Value, Group>;

#[cfg(test)]
mod tests;
