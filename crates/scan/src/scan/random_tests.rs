//! Random numbers of rows: samples by them are uniform, and the same for every split of the work.

use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody, SparseRow};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{
    ColumnRef, Expr, Function, GroupInput, OrderKey, Query, QueryKind, RowExpr, RowInput,
};
use hadal_types::{ColumnName, Kind, Logical, Micros, Number, TableName, Value};

use super::Scan;

/// Rows of each block, and blocks.
const ROWS: i64 = 40;
const BLOCKS: i64 = 6;
/// Rows of a sample.
const SAMPLE: u64 = 24;

fn block(first: i64) -> Vec<u8> {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    for value in first..first + ROWS {
        let id = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
        builder.push_number(id, Number::integer(value)).expect("taken");
        builder.end_row(Micros(value));
    }
    builder.finish(Micros(0), None).expect("fits")
}

fn blocks() -> Vec<Vec<u8>> {
    (0..BLOCKS).map(|index| block(index * ROWS)).collect()
}

fn value() -> RowExpr {
    let name = ColumnName::new("v").expect("a name");
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind: Kind::Number, logical: Logical::Plain }))
}

fn sample(seed: i64) -> Query {
    let values = vec![value(), Expr::Leaf(RowInput::Random(seed))];
    let by = Expr::Leaf(GroupInput::Key(1));
    Query {
        order: vec![OrderKey { expr: by, descending: false, nulls_first: false }],
        limit: SAMPLE,
        ..Query::new(TableName::new("t").expect("a name"), QueryKind::Rows { values })
    }
}

fn scanned(blocks: &[Vec<u8>], query: &Query, piece_bytes: Option<usize>) -> Partial {
    let scan = Scan::new(Arc::new(query.clone())).expect("a query");
    let scan = match piece_bytes {
        Some(bytes) => scan.in_pieces_of(bytes),
        None => scan,
    };
    let mut partial = Partial::empty(query);
    for bytes in blocks {
        let view = BlockView::parse(bytes).expect("parses");
        scan.block(&view, &|_, column| column.verify(), &mut partial).expect("scans");
    }
    partial
}

fn rows(partial: Partial) -> Vec<SparseRow> {
    match partial.body {
        PartialBody::Rows(rows) => rows.into_sorted(),
        PartialBody::Groups(_) => panic!("the query is for rows"),
    }
}

#[test]
fn each_row_is_as_likely_as_any_other() {
    const SEEDS: i64 = 2_000;
    let blocks = blocks();
    let mut counts = vec![0_u32; usize::try_from(ROWS * BLOCKS).expect("few")];
    for seed in 0..SEEDS {
        let rows = rows(scanned(&blocks, &sample(seed), None));
        assert_eq!(rows.len() as u64, SAMPLE);
        for row in rows {
            let Value::Number(number) = row.get(0) else { panic!("a number") };
            counts[usize::try_from(number.to_i64().expect("whole")).expect("small")] += 1;
        }
    }
    // The statistic of Pearson for a share p of all rows, drawn without replacement.
    let share = f64::from(u32::try_from(SAMPLE).expect("few")) / counts.len() as f64;
    let (draws, cells) = (SEEDS as f64, counts.len() as f64);
    let deviations = counts.iter().map(|&count| (f64::from(count) - draws * share).powi(2));
    let statistic = deviations.sum::<f64>() / (draws * share * (1.0 - share));
    let deviation = (2.0 * cells).sqrt();
    assert!((statistic - cells).abs() < 5.0 * deviation, "{statistic} for {cells} rows");
}

#[test]
fn a_sample_is_the_same_however_the_work_is_split() {
    let blocks = blocks();
    for seed in [-1, 0, 1, i64::MAX] {
        let query = sample(seed);
        let whole = rows(scanned(&blocks, &query, None));
        let (left, right) = blocks.split_at(2);
        let mut merged = scanned(right, &query, None);
        merged.merge(scanned(left, &query, None));
        assert_eq!(rows(merged), whole, "seed {seed}: merged");
        assert_eq!(rows(scanned(&blocks, &query, Some(4_096))), whole, "seed {seed}: in pieces");
    }
    assert_ne!(rows(scanned(&blocks, &sample(1), None)), rows(scanned(&blocks, &sample(2), None)));
}

#[test]
fn conditions_and_outputs_have_the_same_number() {
    let blocks = blocks();
    let half = Expr::Literal(Value::Number("0.5".parse().expect("a number")));
    let random = || Expr::Leaf(RowInput::Random(3));
    let filter = Some(Expr::call(Function::Less, [random(), half]));
    let query = Query { filter, limit: 1_000, ..sample(3) };
    let kept = rows(scanned(&blocks, &query, None));
    let below = |row: &SparseRow| *row.get(1) < Value::Number("0.5".parse().expect("a number"));
    assert!(kept.iter().all(below), "{kept:?}");
    let all = rows(scanned(&blocks, &Query { limit: 1_000, ..sample(3) }, None));
    assert_eq!(all.iter().filter(|row| below(row)).count(), kept.len());
    assert!(kept.len() > 60 && kept.len() < 180, "about half of 240: {}", kept.len());
}
