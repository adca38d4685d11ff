use hadal_query::QueryKind;
use hadal_types::{Number, NumberRepr, Value};

use super::*;

#[test]
fn the_same_seed_makes_the_same_rows_and_queries() {
    for seed in 0..20 {
        let make = || {
            let rows = rows(seed, &RowSpec::of_seed(seed));
            let facts = facts(&rows);
            let query = query(seed, &facts);
            (rows, facts, query)
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
fn some_columns_are_of_neither_one_scale_nor_doubles() {
    let (mut columns, mut mixed) = (0, 0);
    for seed in 0..200 {
        let rows = rows(seed, &RowSpec::of_seed(seed));
        for column in &schema(&rows).columns {
            let cells = rows.iter().filter_map(|row| row.cells.get(&column.name));
            let numbers = cells.filter_map(|value| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            });
            let numbers: Vec<Number> = numbers.collect();
            let rounded = |number: &Number| Number::from_f64(number.to_f64()) != Some(*number);
            columns += 1;
            mixed += usize::from(
                numbers.iter().any(rounded)
                    && numbers.iter().any(|number| matches!(number.form(), NumberRepr::Double(_))),
            );
        }
    }
    assert!(mixed * 100 > columns * 2, "{mixed} of {columns}");
}

#[test]
fn every_part_of_the_house_is_asked_for() {
    let (mut sizes, mut kinds, mut shapes) = (Vec::new(), Vec::new(), [0; 4]);
    for seed in 0..400 {
        let rows = rows(seed, &RowSpec::of_seed(seed));
        let facts = facts(&rows);
        sizes.push(rows.len());
        kinds.push(facts.schema.columns.iter().any(|column| column.parts.len() > 1));
        let query = query(seed, &facts);
        shapes[0] += usize::from(matches!(query.kind, QueryKind::Rows { .. }));
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
