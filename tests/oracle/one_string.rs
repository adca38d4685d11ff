//! One string among ten million numbers changes no numeric answer, and is found by `name::string`.
//! This is the promise that columns have kinds, at its full size.

use std::sync::Arc;

use hadal_block::BlockBuilder;
use hadal_query::Query;
use hadal_sql::{Catalog, Context, Statement, UnknownColumns, lower};
use hadal_tests::engine;
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{
    ColumnName, ColumnPart, ColumnSchema, Decimal, Kind, Logical, Micros, Number, TableName,
    TableSchema, Value,
};

const NUMBERS: usize = 10_000_000;
/// The row, somewhere inside a block, with the string or without a value.
const ODD_ROW: usize = 6_000_007;
const TEXT: &str = "not a number";
const START: Micros = Micros(1_700_000_000_000_000);
/// The number of partial results that are merged.
const PARTIALS: usize = 3;

/// Hundredths: 0.00 to 9999.99, each about equally often, unordered.
fn hundredths(row: usize) -> i64 {
    i64::try_from(row * 7_919 % 1_000_003 % 1_000_000).expect("below a million")
}

fn time(row: usize) -> Micros {
    Micros(START.0 + i64::try_from(row).expect("small") * 1_000)
}

/// A block of the rows from `first` on. All have a number but one, which has `odd`.
fn block(first: usize, odd: Option<&str>) -> Vec<u8> {
    let name = |text: &str| ColumnName::new(text).expect("a name");
    let mut builder = BlockBuilder::new(name("time"));
    let numbers = builder.column(&name("n"), Kind::Number);
    for row in first..(first + BLOCK_ROWS_MAX).min(NUMBERS + 1) {
        match (row == ODD_ROW, odd) {
            (false, _) => {
                let number = Decimal::new(hundredths(row).into(), 2).expect("a decimal");
                builder.push_number(numbers, number.into()).expect("a number fits");
            }
            (true, Some(text)) => {
                let strings = builder.column(&name("n"), Kind::String);
                builder.push_string(strings, text).expect("a text fits");
            }
            (true, None) => {}
        }
        builder.end_row(time(row));
    }
    builder.finish(START, None).expect("a block")
}

struct Table(Arc<TableSchema>);

impl Table {
    fn new(has_string: bool) -> Self {
        let part = |kind, logical, rows| ColumnPart { kind, logical, rows };
        let many = u64::try_from(NUMBERS).expect("small");
        let mut n = vec![part(Kind::Number, Logical::Plain, many)];
        n.extend(has_string.then(|| part(Kind::String, Logical::Plain, 1)));
        let time_parts = vec![part(Kind::Number, Logical::Time, many + 1)];
        let columns = [("n", n), ("time", time_parts)].map(|(name, parts)| ColumnSchema {
            name: ColumnName::new(name).expect("a name"),
            parts,
        });
        Self(Arc::new(TableSchema {
            name: TableName::new("t").expect("a name"),
            time_column: ColumnName::new("time").expect("a name"),
            columns: columns.into(),
            rows: many + 1,
            time_range: Some((time(0), time(NUMBERS))),
        }))
    }

    fn query(&self, sql: &str) -> Query {
        let context = Context { catalog: self, now: START, unknown_columns: UnknownColumns::Error };
        match lower(sql, &context).expect(sql) {
            Statement::Query { query, .. } => *query,
            other => panic!("{sql}: {other:?}"),
        }
    }

    fn ask(&self, blocks: &[Vec<u8>], sql: &str) -> Vec<Vec<Value>> {
        engine::ask(blocks, &self.query(sql), PARTIALS).expect(sql).rows
    }
}

impl Catalog for Table {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        (name == "t").then(|| Arc::clone(&self.0))
    }

    fn table_names(&self) -> Vec<TableName> {
        vec![self.0.name.clone()]
    }
}

#[test]
fn one_string_among_ten_million_numbers() {
    let starts = (0..=NUMBERS).step_by(BLOCK_ROWS_MAX);
    let mut blocks: Vec<Vec<u8>> = starts.map(|first| block(first, None)).collect();
    let numeric = [
        "SELECT count(*), count(n), sum(n), avg(n), min(n), max(n), p50(n), p99(n), \
         histogram(n, 10), count(DISTINCT n) FROM t",
        "SELECT count(*), sum(n * 2), max(round(n)) FROM t WHERE n >= 5000.5 OR n = 0.01",
        "SELECT bucket(n, 1000) AS b, count(*), sum(n) FROM t GROUP BY b ORDER BY b",
        "SELECT n, time FROM t WHERE n < 1 ORDER BY n DESC, time LIMIT 20",
    ];
    let without = Table::new(false);
    let expected: Vec<_> = numeric.map(|sql| without.ask(&blocks, sql)).into();
    let total: i128 =
        (0..=NUMBERS).filter(|row| *row != ODD_ROW).map(|row| i128::from(hundredths(row))).sum();
    let total = Number::from(Decimal::new(total, 2).expect("a decimal"));
    assert_eq!(expected[0][0][1..3], [Value::integer(10_000_000), Value::Number(total)]);

    let odd_block = ODD_ROW / BLOCK_ROWS_MAX;
    blocks[odd_block] = block(odd_block * BLOCK_ROWS_MAX, Some(TEXT));
    let with = Table::new(true);
    for (sql, expected) in numeric.iter().zip(&expected) {
        assert_eq!(with.ask(&blocks, sql), *expected, "{sql}");
    }
    let expected_rows = vec![vec![Value::Time(time(ODD_ROW)), Value::string(TEXT)]];
    for condition in ["n::string = 'not a number'", "search('A NUM')"] {
        let sql = format!("SELECT time, n::string FROM t WHERE {condition}");
        assert_eq!(with.ask(&blocks, &sql), expected_rows, "{condition}");
    }
}
