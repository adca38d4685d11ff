use hadal_query::{Expr, Measure, QueryKind, RowInput};
use hadal_types::{Decimal, Micros, TableName};
use proptest::prelude::*;

use super::*;

const KINDS: [StateKind; 4] =
    [StateKind::Moments, StateKind::MinMax, StateKind::Quantiles, StateKind::Distinct];

fn query(keys: usize) -> Query {
    let argument = || Expr::Leaf(RowInput::Time);
    let measures = KINDS.map(|kind| Measure::new(kind, argument())).into();
    let keys = vec![argument(); keys];
    Query::new(TableName::new("t").expect("a name"), QueryKind::Groups { keys, measures })
}

fn of_rows(keys: usize, rows: &[(Vec<Value>, Value, Weight)]) -> Groups {
    let mut groups = Groups::new(&query(keys));
    for (key, value, weight) in rows {
        groups.add_row(&key[..keys], &vec![value.clone(); KINDS.len()], *weight);
    }
    groups
}

fn key() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        3 => (-3i64..4).prop_map(Value::integer),
        3 => "[a-c]{0,2}|same beginning of [xy]".prop_map(|text| Value::string(&text)),
        2 => (-3i64..4).prop_map(|time| Value::Time(Micros(time))),
        1 => any::<bool>().prop_map(Value::Bool),
    ]
}

/// Keys of one kind, or of several.
fn keys() -> impl Strategy<Value = Vec<Value>> {
    let ints = prop_oneof![1 => Just(Value::Null), 9 => any::<i64>().prop_map(Value::integer)];
    let texts =
        prop_oneof![1 => Just(Value::Null), 9 => "[a-d]{0,9}".prop_map(|t| Value::string(&t))];
    let times = any::<i64>().prop_map(|time| Value::Time(Micros(time)));
    (prop_oneof![key(), Just(Value::integer(7))], ints, texts, times)
        .prop_map(|(any, int, text, time)| vec![any, int, text, time])
}

fn value() -> impl Strategy<Value = Value> {
    let decimal = (any::<i64>(), 0u8..=18).prop_filter_map("a decimal", |(mantissa, scale)| {
        Decimal::new(mantissa.into(), scale).map(|decimal| Value::Number(decimal.into()))
    });
    prop_oneof![
        4 => (-9i64..9).prop_map(Value::integer),
        1 => decimal,
        1 => Just(Value::Null),
        1 => Just(Value::Number("1e300".parse().expect("a number"))),
        1 => key(),
    ]
}

fn rows() -> impl Strategy<Value = Vec<(Vec<Value>, Value, Weight)>> {
    let weight = prop_oneof![
        3 => Just(Weight::ONE),
        1 => (1..Weight::MILLIONTHS_MAX).prop_filter_map("a weight", Weight::from_millionths),
    ];
    prop::collection::vec((keys(), value(), weight), 0..30)
}

proptest! {
    #[test]
    fn groups_are_those_of_their_columns(keys in 0usize..=4, rows in rows(), dropped in 0u64..2) {
        let mut groups = of_rows(keys, &rows);
        groups.drop_rows(dropped);
        let same = groups.clone();
        let columns = groups.to_columns();
        let mut read = Groups::from_columns(&query(keys), columns.clone()).expect("they fit");
        prop_assert_eq!(&read, &same);
        prop_assert_eq!(read.to_columns(), columns);
        let (sorted, _) = same.clone().into_sorted();
        let counts = sorted.iter().map(|(_, group)| group.count);
        prop_assert_eq!(read.to_columns().counts, counts.collect::<Vec<_>>());
        let parts = Groups::from_parts(&query(keys), sorted, dropped).expect("they fit");
        prop_assert_eq!(read.key_max, parts.key_max);
    }

    #[test]
    fn columns_do_not_depend_on_the_way_to_the_groups(
        keys in 0usize..=4, rows in rows(), cut in 0usize..30,
    ) {
        let mut all = of_rows(keys, &rows);
        let (left, right) = rows.split_at(cut.min(rows.len()));
        let query = query(keys);
        let read = |rows| {
            let mut groups = of_rows(keys, rows);
            Groups::from_columns(&query, groups.to_columns()).expect("they fit")
        };
        let mut merged = read(right);
        merged.merge(read(left));
        prop_assert_eq!(merged.to_columns(), all.to_columns());
    }
}

fn two_rows() -> [(Vec<Value>, Value, Weight); 2] {
    let row = |key, value: &str| {
        (vec![Value::integer(key)], Value::Number(value.parse().expect("a number")), Weight::ONE)
    };
    [row(1, "2.5"), row(2, "-7")]
}

#[test]
fn compact_columns_are_used_where_numbers_fit() {
    let mut groups = of_rows(1, &two_rows());
    let columns = groups.to_columns();
    let values = DistinctValues::Integers(vec![1, 2]);
    assert_eq!(columns.keys, [KeyColumn { values, indexes: vec![0, 1] }]);
    let MeasureColumn::Sums { scale, sums, counts } = &columns.measures[0] else { panic!("sums") };
    assert_eq!((*scale, &sums[..], counts), (1, &[25, -70][..], &columns.counts));
    let ranges = vec![Some((25, 25)), Some((-70, -70))];
    assert_eq!(columns.measures[1], MeasureColumn::Ranges { are_times: false, scale: 1, ranges });
}

#[test]
fn columns_that_do_not_fit_together_are_refused() {
    let mut groups = of_rows(1, &two_rows());
    let refused = |change: &dyn Fn(&mut GroupColumns<'_>)| {
        let mut groups = groups.clone();
        let mut columns = groups.to_columns();
        change(&mut columns);
        Groups::from_columns(&query(1), columns).is_none()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|columns| columns.counts.truncate(1)));
    assert!(refused(&|columns| drop(columns.keys.pop())));
    assert!(refused(&|columns| drop(columns.measures.pop())));
    assert!(refused(&|columns| columns.measures.swap(0, 1)));
    assert!(refused(&|columns| columns.keys[0].indexes = vec![0]));
    assert!(refused(&|columns| columns.keys[0].indexes = vec![1, 1]));
    assert!(refused(&|columns| columns.keys[0].indexes = vec![0, 3]));
    assert!(refused(&|columns| columns.keys[0].values = DistinctValues::Integers(vec![1, 1])));
    assert!(!refused(&|columns| columns.keys[0].indexes = vec![0, 2]), "one has no value");
    let sums = |scale, sum| {
        move |columns: &mut GroupColumns<'_>| {
            let counts = columns.counts.clone();
            columns.measures[0] = MeasureColumn::Sums { counts, scale, sums: vec![0, sum] };
        }
    };
    assert!(!refused(&sums(24, i128::MIN)));
    assert!(refused(&sums(25, 0)));
    assert!(!refused(&sums(5, i128::MAX / 10)));
    assert!(refused(&sums(5, i128::MAX / 10 + 1)));
    let ranges = |scale, range: (i64, i64)| {
        move |columns: &mut GroupColumns<'_>| {
            let ranges = vec![Some(range), None];
            columns.measures[1] = MeasureColumn::Ranges { are_times: false, scale, ranges };
        }
    };
    assert!(!refused(&ranges(18, (i64::MIN, i64::MAX))));
    assert!(refused(&ranges(19, (0, 0))));
    assert!(refused(&ranges(0, (1, 0))));
    assert!(groups.to_columns().measures.len() == KINDS.len());
}
