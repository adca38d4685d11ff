//! Codec of groups, column by column. Each column is decoded to as many numbers as there are
//! groups, so its memory is known before.

mod key_column;
mod measure_column;
mod weighted_counts;

use hadal_aggregate::{GroupColumns, Groups, KeyColumn};
use hadal_query::Query;
use hadal_types::limits::{FRAMES_MEMORY_MAX, LEAF_GROUPS_MAX};

use crate::error::{At, DecodeError, at_most, unfit};
use crate::proto;
use crate::pruning::{decode_cut, encode_cut};
use crate::size_guard::MemoryLimit;
use key_column::{decode_key, encode_key};
use measure_column::{decode_measure, encode_measure};
use weighted_counts::{decode_counts, encode_counts};

/// Encodes groups; equal groups have equal bytes.
pub(crate) fn encode_groups(mut groups: Groups) -> proto::Groups {
    let cut = groups.cut_parts().map(encode_cut);
    let columns = groups.to_columns();
    proto::Groups {
        cut,
        dropped_rows: columns.dropped_rows,
        count: u32::try_from(columns.counts.len()).unwrap_or(u32::MAX),
        keys: columns.keys.iter().map(encode_key).collect(),
        tallies: Some(encode_counts(&columns.counts)),
        states: columns
            .measures
            .into_iter()
            .map(|measure| encode_measure(measure, &columns.counts))
            .collect(),
    }
}

/// Decodes the groups of a query.
pub(crate) fn decode_groups(message: &proto::Groups, query: &Query) -> Result<Groups, DecodeError> {
    let count = usize::try_from(message.count).unwrap_or(usize::MAX);
    at_most("groups", count, LEAF_GROUPS_MAX)?;
    let mut memory = MemoryLimit::new(FRAMES_MEMORY_MAX);
    of_number("keys", message.keys.len(), query.keys().len())?;
    of_number("states", message.states.len(), query.measures().len())?;
    let keys = message.keys.iter().enumerate();
    let keys =
        keys.map(|(key, column)| decode_key(column, count, &mut memory).at_index("keys", key));
    let keys: Vec<KeyColumn<'_>> = keys.collect::<Result<_, _>>()?;
    check_order(&keys, count)?;
    let counts = decode_counts(message.tallies.as_ref(), count, &mut memory).at("tallies")?;
    let states = query.measures().iter().zip(&message.states).enumerate();
    let measures = states.map(|(index, (measure, column))| {
        let kind = (measure.kind, &*query.functions);
        decode_measure(column, kind, &counts, &mut memory).at_index("states", index)
    });
    let measures = measures.collect::<Result<_, _>>()?;
    let columns = GroupColumns { keys, counts, measures, dropped_rows: message.dropped_rows };
    let groups = Groups::from_columns(query, columns)
        .ok_or_else(|| unfit("groups", "such as the query asks for"))?;
    match &message.cut {
        Some(cut) => decode_cut(cut, groups).at("cut"),
        None => Ok(groups),
    }
}

fn of_number(field: &str, count: usize, expected: usize) -> Result<(), DecodeError> {
    match count == expected {
        true => Ok(()),
        false => Err(unfit(format!("{count} {field}"), expected)),
    }
}

/// Fails if a group's key is not above that of the group before.
fn check_order(keys: &[KeyColumn<'_>], count: usize) -> Result<(), DecodeError> {
    let is_above = |group: usize| {
        let mut orders = keys.iter().map(|key| key.indexes[group - 1].cmp(&key.indexes[group]));
        orders.find(|order| order.is_ne()).is_some_and(|order| order.is_lt())
    };
    match (1..count).find(|&group| !is_above(group)) {
        None => Ok(()),
        Some(group) => Err(unfit("keys out of order", "ascending keys")).at_index("group", group),
    }
}
