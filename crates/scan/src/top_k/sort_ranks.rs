//! Numbers that order the rows of one block by an expression.

use hadal_aggregate::SortDirection;
use hadal_types::Value;
use hashbrown::HashMap;

use crate::column::column_values::{ColumnValues, Entries};

/// Returns a number for each of `rows`. The numbers compare as the rows' values do by `direction`.
pub(crate) fn ranks(
    values: &ColumnValues<'_>,
    direction: SortDirection,
    rows: &[u32],
) -> Vec<i128> {
    let of_null = if direction.nulls_first { i128::MIN } else { i128::MAX };
    let sign = if direction.descending { -1 } else { 1 };
    let by = |rank: &dyn Fn(usize) -> Option<i128>| {
        let ranks = rows.iter().map(|&row| rank(row as usize));
        ranks.map(|rank| rank.map_or(of_null, |rank| sign * rank)).collect()
    };
    match values {
        ColumnValues::Constant(_) => vec![0; rows.len()],
        ColumnValues::Numbers(numbers) => {
            by(&|row| numbers.has(row).then(|| numbers.mantissas.get(row).into()))
        }
        ColumnValues::Coded(coded)
            if coded.entries.len() <= rows.len()
                && let Some(by_code) = by_code(&coded.entries) =>
        {
            by(&|row| by_code[coded.codes[row] as usize])
        }
        _ => {
            let values: Vec<Value> = rows.iter().map(|&row| values.value(row as usize)).collect();
            let ranks = dense(&values).into_iter();
            ranks.map(|rank| rank.map_or(of_null, |rank| sign * rank)).collect()
        }
    }
}

/// Returns a number for each code; `None` if the codes have no order.
fn by_code(entries: &Entries<'_>) -> Option<Vec<Option<i128>>> {
    match entries {
        // If nearly every row has a text of its own, the texts are in row order, not sorted.
        Entries::Strings { dictionary, .. } => dictionary
            .iter()
            .is_sorted_by(|left, right| left < right)
            .then(|| (0..).take(dictionary.len()).map(Some).chain([None]).collect()),
        Entries::InternedIds { .. } | Entries::Lifted { .. } | Entries::Lists(_) => None,
        Entries::Values(entries) => Some(dense(entries)),
    }
}

/// Returns the rank of each value among the distinct ones; `None` for null.
fn dense(values: &[Value]) -> Vec<Option<i128>> {
    let mut sorted: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let ranks: HashMap<&Value, i128> = sorted.into_iter().zip(0..).collect();
    values.iter().map(|value| ranks.get(value).copied()).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::Bitmap;
    use hadal_types::{Logical, Number};
    use proptest::prelude::*;

    use super::*;
    use crate::column::column_values::{Coded, Doubles, Numbers, RowValues, Truths};
    use crate::column::decimals::MantissaColumn;

    fn agree(values: &ColumnValues<'_>, rows: &[u32]) {
        for (descending, nulls_first) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let direction = SortDirection { descending, nulls_first };
            let ranks = ranks(values, direction, rows);
            assert_eq!(ranks.len(), rows.len());
            for (left, left_rank) in rows.iter().zip(&ranks) {
                for (right, right_rank) in rows.iter().zip(&ranks) {
                    let [left, right] = [left, right].map(|row| values.value(*row as usize));
                    let expected = direction.cmp(&left, &right);
                    assert_eq!(left_rank.cmp(right_rank), expected, "{left:?} {right:?}");
                }
            }
        }
    }

    fn bitmap(bits: &[bool]) -> Bitmap {
        crate::column::bitmaps::bits(bits.len(), |row| bits[row])
    }

    fn some_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            (-3i64..3).prop_map(Value::integer),
            prop_oneof![Just("a"), Just("b"), Just("")].prop_map(Value::string),
            prop_oneof![Just(vec!["a"]), Just(vec!["a", "b"]), Just(vec![])]
                .prop_map(Value::vector),
        ]
    }

    proptest! {
        #[test]
        fn ranks_compare_as_values(
            mantissas in prop::collection::vec(
                prop_oneof![any::<i64>(), -3i64..3, Just(i64::MIN), Just(i64::MAX)], 1..12,
            ),
            doubles in prop::collection::vec(
                prop_oneof![any::<f64>(), Just(0.0), Just(-0.0), Just(1e300), Just(-1.5)], 1..12,
            ),
            has in prop::collection::vec(any::<bool>(), 12),
            entries in prop::collection::vec(some_value(), 12),
            codes in prop::collection::vec(0u32..12, 1..12),
        ) {
            let all = |rows: usize| (0u32..).take(rows).collect::<Vec<_>>();
            for valid in [None, Some(Rc::new(bitmap(&has)))] {
                let rows = all(mantissas.len());
                agree(&ColumnValues::Numbers(Numbers {
                    mantissas: MantissaColumn::new(mantissas.clone()),
                    scale: 3,
                    logical: Logical::Plain,
                    valid: valid.clone(),
                }), &rows);
                let finite = |double: &f64| if double.is_nan() { 1.0 } else { *double };
                let rows = all(doubles.len());
                let values = Rc::new(doubles.iter().map(finite).collect());
                agree(&ColumnValues::Doubles(Doubles { values, valid }), &rows);
            }
            let truths = Truths::where_valid(bitmap(&has[..6]), Some(&bitmap(&has[6..])));
            agree(&ColumnValues::Truths(truths), &all(6));
            agree(&ColumnValues::Coded(Coded {
                codes: Rc::new(codes.clone().into()),
                entries: Entries::Values(Rc::new(entries.clone())),
            }), &all(codes.len()));
            agree(&ColumnValues::Rows(Rc::new(RowValues { first: 0, values: entries })), &codes);
            agree(&ColumnValues::Constant(Value::Number(Number::ZERO)), &codes);
        }
    }
}
