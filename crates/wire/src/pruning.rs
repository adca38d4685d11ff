//! Codec of what was left out of a top list.

use hadal_aggregate::{CutParts, Groups};

use crate::error::{At, DecodeError, unfit};
use crate::proto;
use crate::value::{decode_integer, encode_integer};

/// A list without values is absent, and so is one of zeros.
fn column<T: Default + PartialEq>(column: Vec<T>) -> Vec<T> {
    if column.iter().all(|value| *value == T::default()) { Vec::new() } else { column }
}

pub(crate) fn encode_cut(cut: CutParts) -> proto::Cut {
    let CutParts { threshold, groups, rows, slacks } = cut;
    let halves: Vec<proto::Int128> = slacks.into_iter().map(encode_integer).collect();
    // A slack is not negative.
    let high = halves.iter().map(|slack| slack.high.unsigned_abs()).collect();
    let low = halves.iter().map(|slack| slack.low).collect();
    proto::Cut {
        threshold: Some(encode_integer(threshold)),
        groups,
        rows,
        slack_low: column(low),
        slack_high: column(high),
    }
}

/// Adds the cut to the groups that it was sent with.
pub(crate) fn decode_cut(cut: &proto::Cut, groups: Groups) -> Result<Groups, DecodeError> {
    let proto::Cut { threshold, groups: left_out, rows, slack_low, slack_high } = cut;
    let threshold = decode_integer(*threshold).at("threshold")?;
    let count = groups.len();
    for (place, halves) in [("slack_low", slack_low), ("slack_high", slack_high)] {
        if !halves.is_empty() && halves.len() != count {
            let expected = format_args!("{count}, as groups, or none");
            return Err(unfit(halves.len(), expected)).at(place);
        }
    }
    let half = |halves: &[u64], index: usize| halves.get(index).copied().unwrap_or(0);
    let slack = |index| {
        let high = i64::try_from(half(slack_high, index)).unwrap_or(i64::MAX);
        decode_integer(Some(proto::Int128 { low: half(slack_low, index), high }))
    };
    let slacks = (0..count).map(slack).collect::<Result<_, _>>().at("slack_high")?;
    let parts = CutParts { threshold, groups: *left_out, rows: *rows, slacks };
    groups.with_cut(parts).ok_or_else(|| unfit("bounds", "1 to 2^96, and slacks up to that"))
}

#[cfg(test)]
mod tests {
    use hadal_query::{Query, QueryKind};
    use hadal_types::limits::TOP_BOUND_MAX;
    use hadal_types::{TableName, Value, Weight};

    use super::*;

    fn groups(count: i64) -> Groups {
        let key = hadal_query::Expr::Leaf(hadal_query::RowInput::Time);
        let kind = QueryKind::Groups { keys: vec![key], measures: Vec::new() };
        let mut groups = Groups::new(&Query::new(TableName::new("t").expect("a name"), kind));
        (0..count).for_each(|key| groups.add_row(&[Value::integer(key)], &[], Weight::ONE));
        groups
    }

    fn parts(threshold: i128, slacks: Vec<i128>) -> CutParts {
        CutParts { threshold, groups: 7, rows: 9, slacks }
    }

    #[test]
    fn a_cut_is_decoded_as_it_was() {
        for slacks in [vec![], vec![1, 0, 5], vec![1 << 70, 1 << 64, 0], vec![0, 0, TOP_BOUND_MAX]]
        {
            let cut = parts(TOP_BOUND_MAX, slacks);
            let mut decoded = decode_cut(&encode_cut(cut.clone()), groups(3)).expect("it is valid");
            assert_eq!(decoded.cut_parts(), Some(cut));
        }
    }

    #[test]
    fn bounds_that_cannot_be_are_refused() {
        let valid = || encode_cut(parts(1 << 70, vec![1 << 70, 3, 0]));
        let negative = Some(encode_integer(-1));
        let above = Some(encode_integer(TOP_BOUND_MAX + 1));
        for cut in [
            proto::Cut { threshold: None, ..valid() },
            proto::Cut { slack_low: vec![], slack_high: vec![], ..encode_cut(parts(0, vec![])) },
            proto::Cut { threshold: negative, ..valid() },
            proto::Cut { threshold: above, ..valid() },
            proto::Cut { threshold: Some(encode_integer(9)), ..valid() },
            proto::Cut { slack_low: vec![1, 2], ..valid() },
            proto::Cut { slack_high: vec![1, 2, 3, 4], ..valid() },
            proto::Cut { slack_high: vec![u64::MAX, 0, 0], ..valid() },
        ] {
            assert!(decode_cut(&cut, groups(3)).is_err(), "{cut:?}");
        }
    }
}
