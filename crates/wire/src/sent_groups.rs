//! Codec of the choice of groups that are sent.

use bytes::Bytes;
use hadal_query::{QueryKind, SentGroups};
use hadal_types::Value;
use hadal_types::limits::TOP_KEYS_MAX;

use crate::error::{At, DecodeError, at_most, each, unfit};
use crate::frames::{self, Frames};
use crate::proto;
use crate::value::{decode_value, encode_value};

/// The keys that are asked for; empty if there are none.
pub(crate) fn encode_only_keys(sent: &SentGroups) -> Bytes {
    let keys: &[Box<[Value]>] = match sent {
        SentGroups::Keys(keys) => keys,
        SentGroups::All | SentGroups::Largest => &[],
    };
    let key = |key: &[Value]| proto::GroupKey { values: key.iter().map(encode_value).collect() };
    frames::encode(keys.iter().map(|values| key(values)))
}

/// Which groups a query of this kind asks for.
pub(crate) fn decode_sent(
    largest_groups: bool,
    only_keys: Bytes,
    kind: &QueryKind,
) -> Result<SentGroups, DecodeError> {
    let keys = decode_keys(only_keys, kind).at("only_keys")?;
    match (largest_groups, keys.is_empty(), kind) {
        (false, true, _) => Ok(SentGroups::All),
        (true, true, QueryKind::Groups { .. }) => Ok(SentGroups::Largest),
        (false, false, QueryKind::Groups { .. }) => Ok(SentGroups::Keys(keys.into())),
        (true, false, _) => Err(unfit("only_keys", "one of only_keys and largest_groups")),
        (_, _, QueryKind::Rows { .. }) => Err(unfit("rows", "groups, of which some are wanted")),
    }
}

fn decode_keys(only_keys: Bytes, kind: &QueryKind) -> Result<Vec<Box<[Value]>>, DecodeError> {
    let count = match kind {
        QueryKind::Rows { .. } => 0,
        QueryKind::Groups { keys, .. } => keys.len(),
    };
    let mut keys: Vec<Box<[Value]>> = Vec::new();
    for (index, key) in Frames::<proto::GroupKey>::new(only_keys).enumerate() {
        at_most("keys", index + 1, TOP_KEYS_MAX)?;
        let key = key.and_then(|key| each("values", key.values, decode_value));
        let key = key.at_index("keys", index)?;
        if key.len() != count {
            return Err(unfit(format!("{} values", key.len()), count)).at_index("keys", index);
        }
        if keys.last().is_some_and(|last| last[..] >= key[..]) {
            return Err(unfit("keys out of order", "ascending keys")).at_index("keys", index);
        }
        keys.push(key.into());
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use hadal_query::{Expr, RowInput};

    use super::*;

    fn groups() -> QueryKind {
        QueryKind::Groups { keys: vec![Expr::Leaf(RowInput::Time)], measures: Vec::new() }
    }

    fn keys(keys: &[i64]) -> Bytes {
        let keys = keys.iter().map(|&key| vec![Value::integer(key)].into_boxed_slice());
        encode_only_keys(&SentGroups::Keys(keys.collect()))
    }

    #[test]
    fn at_most_so_many_keys_are_asked_for() {
        let most = i64::try_from(TOP_KEYS_MAX).expect("small");
        let all: Vec<i64> = (0..=most).collect();
        assert!(decode_sent(false, keys(&all[1..]), &groups()).is_ok());
        let refused = decode_sent(false, keys(&all), &groups()).expect_err("too many");
        assert!(refused.is_limit(), "{refused}");
    }

    #[test]
    fn keys_that_cannot_be_are_refused() {
        let rows = QueryKind::Rows { values: Vec::new() };
        let wider = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
        for (largest, keys, kind) in [
            (true, keys(&[1]), groups()),
            (false, keys(&[2, 1]), groups()),
            (false, keys(&[1, 1]), groups()),
            (false, keys(&[1]), wider),
            (false, keys(&[1]), rows.clone()),
            (true, keys(&[]), rows),
            (false, Bytes::from_static(&[9]), groups()),
        ] {
            assert!(decode_sent(largest, keys, &kind).is_err(), "{kind:?}");
        }
    }
}
