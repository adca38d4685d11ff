use proptest::prelude::*;

use hadal_types::Micros;

use super::sparse_column::SparseColumn;
use super::typed_values::TypedValues;
use super::*;
use crate::sort_order::SortDirection;

/// A column, and the values that it should have.
type Expected = (ValueColumn, Vec<Value>);

fn typed<T: Copy + Default>(values: &[Option<T>]) -> TypedValues<T> {
    let valid = values.iter().map(Option::is_some).collect();
    TypedValues::new(values.iter().map(|value| value.unwrap_or_default()).collect(), Some(valid))
}

fn expected<T: Copy>(values: &[Option<T>], of: impl Fn(T) -> Value) -> Vec<Value> {
    values.iter().map(|value| value.map_or(Value::Null, &of)).collect()
}

fn sparse(values: &[Value]) -> ValueColumn {
    let mut column = SparseColumn::nulls(0);
    values.iter().enumerate().for_each(|(row, value)| column.put(row, value.clone()));
    ValueColumn::Sparse(column)
}

fn column() -> impl Strategy<Value = Expected> {
    let rows = 0..12_usize;
    let bools = prop::collection::vec(any::<Option<bool>>(), rows.clone());
    let small = prop::option::of(prop_oneof![-20i64..20, Just(i64::MAX), Just(i64::MIN)]);
    let ints = prop::collection::vec(small, rows.clone());
    let doubles = prop::collection::vec(prop::option::of(-4i32..4), rows.clone());
    let texts = prop::collection::vec(0u32..5, rows.clone());
    let nulls = rows.clone().prop_map(|rows| (ValueColumn::nulls(rows), vec![Value::Null; rows]));
    prop_oneof![
        bools.prop_map(|all| (ValueColumn::Truths(typed(&all)), expected(&all, Value::Bool))),
        (ints.clone(), 0u8..3).prop_map(|(all, scale)| {
            let value = |mantissa: i64| {
                let decimal = hadal_types::Decimal::new(i128::from(mantissa), scale);
                Value::Number(decimal.expect("in range").into())
            };
            (ValueColumn::Decimals(typed(&all), scale), expected(&all, value))
        }),
        ints.prop_map(|all| {
            let value = |micros| Value::Time(Micros(micros));
            (ValueColumn::Times(typed(&all)), expected(&all, value))
        }),
        doubles.prop_map(|all| {
            let all: Vec<Option<f64>> =
                all.iter().map(|value| value.map(|value| f64::from(value) * 1e300)).collect();
            let value =
                |double| Value::Number(hadal_types::Number::from_f64(double).expect("finite"));
            (ValueColumn::Doubles(typed(&all)), expected(&all, value))
        }),
        texts.prop_map(|codes| {
            let values = ["b", "a", "", "b"].map(Value::string);
            let values = [&values[..], &[Value::Null]].concat();
            let expected = codes.iter().map(|code| values[*code as usize].clone()).collect();
            (ValueColumn::Coded(codes, values), expected)
        }),
        prop::collection::vec(
            prop_oneof![Just(Value::Null), Just(Value::integer(3)), Just(Value::string("a"))],
            rows
        )
        .prop_map(|all| (sparse(&all), all)),
        nulls,
    ]
}

fn values(column: &ValueColumn) -> Vec<Value> {
    (0..column.len()).map(|row| column.value(row)).collect()
}

proptest! {
    #[test]
    fn a_column_is_its_values((column, all) in column(), rows in prop::collection::vec(0u32..12, 8)) {
        prop_assert_eq!(values(&column), all.clone());
        prop_assert_eq!(values(&column.clone().or_sparse()), all.clone());
        let rows: Vec<u32> = rows.into_iter().filter(|row| (*row as usize) < all.len()).collect();
        let gathered: Vec<Value> = rows.iter().map(|row| all[*row as usize].clone()).collect();
        prop_assert_eq!(values(&column.gather(&rows)), gathered);
        for direction in [(false, false), (false, true), (true, false), (true, true)] {
            let direction = SortDirection { descending: direction.0, nulls_first: direction.1 };
            for (left, right) in rows.iter().zip(rows.iter().rev()) {
                let by_value = direction.cmp(&all[*left as usize], &all[*right as usize]);
                prop_assert_eq!(column.cmp(*left, *right, direction), by_value);
            }
        }
    }

    #[test]
    fn columns_in_a_row_are_their_values(parts in prop::collection::vec(column(), 1..5), cut in 0usize..30) {
        let all: Vec<Value> = parts.iter().flat_map(|(_, all)| all.clone()).collect();
        let mut columns = parts.into_iter().map(|(column, _)| column);
        let mut joined = columns.next().expect("a column");
        columns.for_each(|column| joined.append(column));
        prop_assert_eq!(values(&joined), all.clone());
        let mut visited = vec![Value::Null; all.len()];
        joined.for_each_value(|row, value| visited[row] = value);
        prop_assert_eq!(visited, all.clone());
        joined.truncate(cut);
        prop_assert_eq!(values(&joined), all[..cut.min(all.len())].to_vec());
        joined.pad(40);
        prop_assert_eq!((joined.len(), joined.value(39)), (40, Value::Null));
    }
}

#[test]
fn rows_are_the_same_as_columns() {
    let rows: Vec<SparseRow> = vec![
        [Value::integer(1), Value::Null].into(),
        [Value::Null, Value::string("x")].into(),
        [Value::string("mixed"), Value::Null].into(),
    ];
    let columns = RowColumns::of_rows(&rows, 2);
    assert_eq!(columns.to_rows(), rows);
    assert_eq!(columns.bytes_as_rows(), 3 * size_of::<SparseRow>() + columns.bytes());
}

#[test]
fn few_values_take_no_room_for_nulls() {
    let mut valid = vec![false; 8_000];
    valid[7] = true;
    let column = ValueColumn::Times(TypedValues::new(vec![1; 8_000], Some(valid))).or_sparse();
    assert!(column.bytes() < 100 && column.value(7) == Value::Time(Micros(1)));
}
