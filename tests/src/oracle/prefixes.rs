//! The limit of prefixes of vectors.

use std::collections::{BTreeMap, BTreeSet};

use hadal_query::{Query, SeriesLimit};
use hadal_types::Value;

use super::evaluate::Evaluator;
use super::finish::Cell;
use super::group::{Group, GroupValues, Groups, largest_first, seconds_of_all};
use super::{OracleFault, Standing};

/// Keeps the top prefixes of the key with this index, and those that they begin with. The others
/// are added up by the kept prefix that is one element shorter.
pub(super) fn limit(
    groups: Groups,
    (limit, index): (&SeriesLimit, usize),
    query: &Query,
    evaluator: &Evaluator,
    sums_exactly: &[bool],
    standing: &mut Standing,
) -> Result<Vec<(Vec<Value>, Group)>, OracleFault> {
    let measures = query.measures().len();
    let mut by_prefix: BTreeMap<Value, Group> = BTreeMap::new();
    for (keys, group) in &groups {
        let whole = by_prefix.entry(keys[index].clone());
        whole.or_insert_with(|| Group::empty(measures)).add_all(group);
    }
    let seconds = seconds_of_all(query, &groups);
    let mut ranked = Vec::new();
    for (prefix, group) in &by_prefix {
        let mut keys = vec![Value::Null; query.keys().len()];
        keys[index] = prefix.clone();
        let seconds = Cell::exact(seconds.clone());
        let values = GroupValues { keys: &keys, group, sums_exactly, seconds };
        let rank = values.output(evaluator, &limit.rank)?;
        if !rank.is_exact() && by_prefix.len() > limit.count {
            *standing = Standing::Open;
        }
        ranked.push((rank.value, length(prefix), prefix));
    }
    ranked.sort_by(|left, right| {
        let empty_first = (left.1 > 0).cmp(&(right.1 > 0));
        let by_rank = || largest_first(&left.0, &right.0);
        empty_first.then_with(by_rank).then_with(|| (left.1, left.2).cmp(&(right.1, right.2)))
    });
    ranked.truncate(limit.count);
    ranked.sort_by_key(|(_, length, _)| *length);
    let mut kept: BTreeSet<Value> = BTreeSet::new();
    for (_, length, prefix) in ranked {
        if length == 0 || kept.contains(&shorter(prefix)) {
            kept.insert(prefix.clone());
        }
    }
    let (mut answer, mut others) = (Vec::new(), Groups::new());
    for (mut keys, group) in groups {
        if kept.contains(&keys[index]) {
            answer.push((keys, group));
        } else if length(&keys[index]) > 0 && kept.contains(&shorter(&keys[index])) {
            keys[index] = shorter(&keys[index]);
            others.entry(keys).or_insert_with(|| Group::empty(measures)).add_all(&group);
        }
    }
    answer.extend(others);
    Ok(answer)
}

fn length(prefix: &Value) -> usize {
    match prefix {
        Value::Vector(elements) => elements.len(),
        _ => 0,
    }
}

fn shorter(prefix: &Value) -> Value {
    match prefix {
        Value::Vector(elements) => Value::vector(&elements[..elements.len().saturating_sub(1)]),
        other => other.clone(),
    }
}
