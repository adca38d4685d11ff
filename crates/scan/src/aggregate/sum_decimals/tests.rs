use hadal_aggregate::Groups;
use hadal_query::{Expr, Measure, Query, QueryKind};
use hadal_types::{Logical, TableName, Value, Weight};
use proptest::prelude::*;

use super::*;
use crate::column::bitmaps::bits;
use crate::column::column_values::Truths;
use crate::column::decimals::FrameOfReference;
use crate::column::selection::Selection;

const MEASURES: usize = 2;

/// Numbers; every `nulls`-th row is null if `nulls` is above zero.
fn numbers(mantissas: MantissaColumn, scale: u8, nulls: usize) -> Numbers {
    let rows = mantissas.len();
    let valid = (nulls > 0).then(|| Rc::new(bits(rows, |row| row % nulls != 1)));
    Numbers { mantissas, scale, logical: Logical::Plain, valid }
}

fn by_code(codes: Vec<u32>, values: Vec<i64>) -> MantissaColumn {
    MantissaColumn::Dictionary(DictionaryMantissas {
        codes: Rc::new(codes.into()),
        values: Rc::new(values),
    })
}

/// Keys in each form that group numbers are made from.
fn keys(form: usize, picked: &[u32], values: &[i64]) -> MantissaColumn {
    let count = u32::try_from(values.len()).expect("small");
    let codes: Vec<u32> = picked.iter().map(|pick| pick % count).collect();
    match form {
        0 => by_code(codes, values.to_vec()),
        1 => {
            let reference = FrameOfReference {
                from: 70_000,
                step: 3,
                span: count,
                steps: Rc::new(codes.into()),
            };
            MantissaColumn::FrameOfReference(reference)
        }
        _ => MantissaColumn::Plain(Rc::new(
            codes.iter().map(|&code| values[code as usize]).collect(),
        )),
    }
}

/// The groups of a query with `key_count` keys that sums two measures: enough of them for deferred
/// lookups.
fn many(key_count: usize) -> Groups {
    let literal = || Expr::Literal(Value::Null);
    let measure = || Measure::new(StateKind::Moments, literal());
    let measures = (0..MEASURES).map(|_| measure()).collect();
    let keys = (0..key_count).map(|_| literal()).collect();
    let shape = QueryKind::Groups { keys, measures };
    let mut groups = Groups::new(&Query::new(TableName::new("t").expect("a name"), shape));
    if key_count == 1 {
        let _ = groups.groups_of_ints(&(0..70_000).collect::<Vec<i64>>());
    } else {
        let numbers = |key: usize| {
            let most = *[70_000, 40].get(key).unwrap_or(&3);
            let wholes: Vec<i64> = (0..70_000).map(|at| at % most).collect();
            let mut numbers = Vec::new();
            groups.key_mut(key).numbers_of_ints(&wholes, &mut numbers);
            numbers
        };
        let keys: Vec<Vec<u32>> = (0..key_count).map(numbers).collect();
        let _ = groups.find_or_insert_all(&keys, 70_000);
    }
    assert!(groups.can_defer(), "they are many");
    groups
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_waits_comes_to_what_is_added_at_once(
        form in 0usize..3, picked in prop::collection::vec(any::<u32>(), 1..3_000),
        mut values in prop::collection::hash_set(prop_oneof![0i64..99_999, any::<i64>()], 1..999),
        nulls in prop::array::uniform3(0usize..4), scales in prop::array::uniform2(0u8..4),
        is_part in any::<bool>(), class_count in 1usize..4, again in 1usize..4,
        key_count in 1usize..6,
    ) {
        let rows = picked.len();
        values.insert(7);
        let values: Vec<i64> = values.into_iter().collect();
        let key = numbers(keys(form, &picked, &values), 0, nulls[0]);
        let steps = |by: u32| {
            let rotated = picked.iter().map(|pick| pick.rotate_left(7) % (900 + by));
            let steps = Rc::new(rotated.collect());
            MantissaColumn::FrameOfReference(FrameOfReference { from: -5, step: 2, span: 900 + by, steps })
        };
        let arguments = [0, 1].map(|at| {
            ColumnValues::Numbers(numbers(steps(7 * u32::from(scales[at])), scales[at], nulls[at + 1]))
        });
        let mut selection = Selection::all(rows);
        if is_part {
            selection.narrow(&bits(rows, |row| row % 5 < 3));
        }
        let weights = match class_count {
            1 => Weights::One,
            _ => {
                let millionths = (1..).take(class_count).map(|at| at * 2 * Weight::UNIT).collect();
                let classes = u32::try_from(class_count).expect("small");
                let by_row = picked.iter().map(|pick| (pick >> 5) % classes);
                Weights::Classes { millionths, by_row: by_row.collect() }
            }
        };
        // Sums of few values, of many, of one, and of truth values.
        let few = numbers(steps(0), 0, nulls[1]);
        let far = numbers(keys(2, &picked, &values), 1, 0);
        let yes = bits(rows, |row| picked[row] % 3 > 0);
        let all = [
            ColumnValues::Numbers(key),
            ColumnValues::Numbers(few),
            ColumnValues::Truths(Truths::certain(yes)),
            ColumnValues::Numbers(far),
            ColumnValues::Constant(Value::Null),
        ];
        let block = GroupIds::new(all.into_iter().take(key_count).collect(), &selection);
        let rows = GroupedRows::new(&selection, &block.numbers, block.space, &weights);
        let kinds = [StateKind::Moments; MEASURES].into_iter();
        let adding = SumDecimals::new(kinds.zip(&arguments), &rows);
        let (mut groups, mut plain) = (many(key_count), many(key_count));
        for _ in 0..again {
            let waits = adding.add_later_to(&mut groups, &block, &rows);
            if !waits {
                let lookup = GroupLookup::new(&block, &rows.used(), &rows, &mut groups);
                prop_assert!(adding.add_directly_to(&mut groups, &lookup, &rows));
            }
            let lookup = GroupLookup::new(&block, &rows.used(), &rows, &mut plain);
            prop_assert!(adding.add_up_to(&mut plain, &adding.up(&rows), &lookup, &rows));
        }
        prop_assert!(groups == plain);
    }
}
