use hadal_query::Shape;
use hadal_types::{Number, Value};

use super::*;
use crate::oracle::exact::Exact;

#[test]
fn the_same_seed_makes_the_same_rows_and_queries() {
    for seed in 0..20 {
        let make = || {
            let rows = rows(seed, &RowSpec::of_seed(seed));
            let schema = schema(&rows);
            let query = query(seed, &schema);
            (rows, schema, query)
        };
        assert_eq!(make(), make(), "seed {seed}");
    }
    let first = rows(1, &RowSpec::of_seed(1));
    assert_ne!(first, rows(2, &RowSpec::of_seed(1)));
}

#[test]
fn the_stream_of_a_seed_never_changes() {
    let mut random = Random::new(0);
    // The reference values of SplitMix64 for seed 0.
    assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
    assert_eq!(random.next_u64(), 0x6e78_9e6a_a1b9_65f4);
}

#[test]
fn numbers_of_a_column_keep_their_value_in_any_block() {
    for seed in 0..200 {
        let rows = rows(seed, &RowSpec::of_seed(seed));
        let schema = schema(&rows);
        for column in &schema.columns {
            let numbers: Vec<Number> = rows
                .iter()
                .filter_map(|row| match row.cells.get(&column.name) {
                    Some(Value::Number(number)) => Some(*number),
                    _ => None,
                })
                .collect();
            let scale = numbers
                .iter()
                .map(|number| Exact::from_number(*number).scale())
                .max()
                .and_then(|scale| u8::try_from(scale).ok())
                .unwrap_or(0);
            let of_one_scale = numbers.iter().all(|number| match number {
                Number::Decimal(decimal) => decimal
                    .mantissa_at(scale)
                    .is_some_and(|mantissa| scale <= 18 && i64::try_from(mantissa).is_ok()),
                Number::Double(_) => false,
            });
            let survive =
                numbers.iter().all(|number| Number::from_f64(number.to_f64()) == Some(*number));
            assert!(of_one_scale || survive, "seed {seed}, column {:?}", column.name);
        }
    }
}

#[test]
fn every_part_of_the_house_is_asked_for() {
    let (mut sizes, mut kinds, mut shapes) = (Vec::new(), Vec::new(), [0; 4]);
    for seed in 0..400 {
        let rows = rows(seed, &RowSpec::of_seed(seed));
        let schema = schema(&rows);
        sizes.push(rows.len());
        kinds.push(schema.columns.iter().any(|column| column.parts.len() > 1));
        let query = query(seed, &schema);
        shapes[0] += usize::from(matches!(query.shape, Shape::Rows { .. }));
        shapes[1] += usize::from(query.series.is_some());
        shapes[2] += usize::from(query.having.is_some());
        shapes[3] += usize::from(query.filter.is_some());
    }
    for size in [0, 1, 1_023, 1_024, 1_025] {
        assert!(sizes.contains(&size), "{size} rows");
    }
    assert!(sizes.iter().any(|size| *size > 2_048));
    assert!(kinds.contains(&true), "a column of two kinds");
    assert!(shapes.iter().all(|count| *count >= 20), "{shapes:?}");
}
