//! Rows with large values are processed in pieces. The result is the same, and so is the memory
//! that the query holds.

use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{Partial, PartialBody, QueryErrorCode};
use hadal_block::{BlockBuilder, BlockError, BlockView};
use hadal_encoding::EncodingError;
use hadal_query::{
    ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Query, QueryKind, RowExpr, RowInput,
    StateKind,
};
use hadal_types::limits::{COMPUTED_STRING_BYTES_MAX, PIECE_BYTES_MAX, SCAN_FREE_BYTES};
use hadal_types::{ColumnName, Kind, Logical, MemoryPool, Micros, Number, TableName, Value};

use crate::{Scan, ScanError};

const ROWS: usize = 1_000;
/// The bytes of a row's string.
const LENGTH: usize = 4 << 10;
/// The number of strings that are concatenated: all rows give four times the limit of a piece.
const TIMES: usize = 4 * PIECE_BYTES_MAX / (ROWS * LENGTH);

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

/// The block of most tests.
fn block() -> Vec<u8> {
    block_of(ROWS, LENGTH)
}

/// A block of a time, a `text` of `length` bytes and an `n`, which is the row's number.
fn block_of(rows: usize, length: usize) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for row in 0..rows {
        let text = builder.column(&name("text"), Kind::String);
        builder.push_string(text, &format!("{row:04}").repeat(length / 4)).expect("taken");
        let n = builder.column(&name("n"), Kind::Number);
        let row = i64::try_from(row).expect("small");
        builder.push_number(n, Number::integer(row)).expect("taken");
        builder.end_row(Micros(row));
    }
    builder.finish(Micros(0), None).expect("fits")
}

fn column(of: &str, kind: Kind) -> RowExpr {
    Expr::Leaf(RowInput::Column(ColumnRef { name: name(of), kind, logical: Logical::Plain }))
}

fn call(function: Function, arguments: impl Into<Vec<RowExpr>>) -> RowExpr {
    Expr::call(function, arguments)
}

/// The text `times` times and then the number. It uses two columns, so it is computed row by row.
fn long(times: usize) -> RowExpr {
    let mut parts = vec![column("text", Kind::String); times];
    parts.push(call(Function::ToText, [column("n", Kind::Number)]));
    call(Function::Concat, parts)
}

fn length_of(of: RowExpr) -> RowExpr {
    call(Function::Length, [of])
}

fn query(shape: QueryKind, filter: Option<RowExpr>) -> Query {
    let table = TableName::new("t").expect("a name");
    Query { filter, limit: 5_000, deadline: Duration::ZERO, ..Query::new(table, shape) }
}

fn groups(keys: impl Into<Vec<RowExpr>>, argument: RowExpr) -> QueryKind {
    let measures = vec![Measure::new(StateKind::Moments, argument)];
    QueryKind::Groups { keys: keys.into(), measures }
}

fn scanned_with(budget: &Arc<MemoryPool>, bytes: &[u8], query: &Query) -> Partial {
    let scan = Scan::new(Arc::new(query.clone())).expect("a query");
    let mut partial = Partial { reservation: budget.reservation(), ..Partial::empty(query) };
    let view = BlockView::parse(bytes).expect("parses");
    if let Err(unlooked) = scan.block(&view, &|_, column| column.verify(), &mut partial) {
        let ScanError::Failed(fault) = unlooked else { panic!("{unlooked}") };
        partial.fail(*fault);
    }
    partial
}

fn scanned(query: &Query) -> Partial {
    // Enough for the decoded columns and one piece.
    let budget = MemoryPool::new(2 * PIECE_BYTES_MAX);
    let partial = scanned_with(&budget, &block(), query);
    assert!(partial.errors.is_empty(), "{:?}", partial.errors);
    assert_eq!(budget.reserved(), partial.reservation.bytes(), "what was computed is given back");
    partial
}

fn digits(row: usize) -> usize {
    row.to_string().len()
}

#[test]
fn measures_and_keys_of_large_values_are_those_of_all_rows() {
    let keys = [call(Function::Bucket, [length_of(long(TIMES)), Expr::Literal(Value::integer(1))])];
    let query = query(groups(keys, length_of(long(TIMES))), None);
    let PartialBody::Groups(groups) = scanned(&query).body else { panic!("groups") };
    let mut counts: Vec<(Value, u64)> = groups
        .into_sorted()
        .0
        .into_iter()
        .map(|(key, group)| (key[0].clone(), group.count.rows()))
        .collect();
    counts.sort_unstable();
    let of = |digits: usize, rows| {
        (Value::integer(i64::try_from(TIMES * LENGTH + digits).expect("small")), rows)
    };
    assert_eq!(counts, [of(1, 10), of(2, 90), of(3, 900)]);
}

#[test]
fn conditions_on_large_values_are_asked_of_every_row() {
    let most = Value::integer(i64::try_from(TIMES * LENGTH + 2).expect("small"));
    let is_short = call(Function::Less, [Expr::Literal(most), length_of(long(TIMES))]);
    let query = query(groups([], column("n", Kind::Number)), Some(is_short));
    let partial = scanned(&query);
    assert_eq!(partial.stats.rows_matched, (0..ROWS).filter(|&row| digits(row) > 2).count() as u64);
}

#[test]
fn the_best_rows_by_large_values_are_the_best_of_all() {
    let values = vec![column("n", Kind::Number), length_of(long(TIMES))];
    let by = |index, descending| OrderKey {
        expr: Expr::Leaf(GroupInput::Key(index)),
        descending,
        nulls_first: false,
    };
    let query = Query {
        order: vec![by(1, false), by(0, true)],
        limit: 12,
        ..query(QueryKind::Rows { values }, None)
    };
    let PartialBody::Rows(rows) = scanned(&query).body else { panic!("rows") };
    let numbers: Vec<Value> = rows.into_sorted().iter().map(|row| row[0].clone()).collect();
    let expected = (0..10).rev().chain([99, 98]).map(Value::integer);
    assert_eq!(numbers, expected.collect::<Vec<_>>());
}

/// When values turn out to be large, some columns were decoded for the best rows only.
#[test]
fn rows_that_were_not_among_the_best_are_decoded_for_their_piece() {
    let (rows, length, limit) = (4_000, 1_500, 300i64);
    let bytes = block_of(rows, length);
    let large = long(64 * 1_024 / length);
    let values = vec![column("text", Kind::String), length_of(large), column("n", Kind::Number)];
    let by =
        OrderKey { expr: Expr::Leaf(GroupInput::Key(2)), descending: false, nulls_first: false };
    let query = Query {
        order: vec![by],
        limit: limit.unsigned_abs(),
        ..query(QueryKind::Rows { values }, None)
    };
    let partial = scanned_with(&MemoryPool::new(1 << 30), &bytes, &query);
    let PartialBody::Rows(best) = partial.body else { panic!("rows") };
    let numbers: Vec<Value> = best.into_sorted().iter().map(|row| row[2].clone()).collect();
    assert_eq!(numbers, (0..limit).map(Value::integer).collect::<Vec<_>>());
}

#[test]
fn a_condition_of_many_operands_is_asked_of_a_whole_block() {
    let rows = 60_000;
    let is = |n: i64| {
        call(Function::Equal, [column("n", Kind::Number), Expr::Literal(Value::integer(n))])
    };
    let any = call(Function::Or, (0..4_000).map(is).collect::<Vec<_>>());
    let query = query(groups([], column("n", Kind::Number)), Some(any));
    let partial = scanned_with(&MemoryPool::new(1 << 20), &block_of(rows, 4), &query);
    assert!(partial.errors.is_empty(), "{:?}", partial.errors);
    assert_eq!(partial.stats.rows_matched, 4_000);
}

#[test]
fn what_has_no_room_fails_the_query_and_is_given_back() {
    // Too little even for the decoded columns.
    let budget = MemoryPool::new(SCAN_FREE_BYTES);
    let query = query(groups([], length_of(long(TIMES))), None);
    let partial = scanned_with(&budget, &block(), &query);
    let fault = partial.errors.iter().next().expect("a fault");
    assert_eq!(fault.code, QueryErrorCode::Memory, "{}", fault.message);
    assert_eq!(budget.reserved(), 0);
}

#[test]
fn too_long_a_string_and_too_much_of_one_row_fail_the_query() {
    let budget = MemoryPool::new(1 << 30);
    let code = |argument: RowExpr| {
        let partial = scanned_with(&budget, &block(), &query(groups([], argument), None));
        let fault = partial.errors.iter().next().expect("a fault").clone();
        assert_eq!(budget.reserved(), 0);
        (fault.code, fault.message)
    };
    let (invalid, message) = code(length_of(long(COMPUTED_STRING_BYTES_MAX / LENGTH + 1)));
    assert_eq!(invalid, QueryErrorCode::Invalid);
    assert!(message.contains("more than 1048576 bytes"), "{message}");
    let large = || long(COMPUTED_STRING_BYTES_MAX / LENGTH - 1);
    let all =
        call(Function::Coalesce, vec![large(); PIECE_BYTES_MAX / COMPUTED_STRING_BYTES_MAX + 2]);
    let (memory, message) = code(length_of(all));
    assert_eq!(memory, QueryErrorCode::Memory);
    assert!(message.contains("of one row"), "{message}");
}

#[test]
fn nothing_of_a_damaged_block_is_added() {
    let scan = |damaged: &str| {
        let query = query(groups([], length_of(long(TIMES))), None);
        let scan = Scan::new(Arc::new(query.clone())).expect("a query");
        let mut partial = Partial::empty(&query);
        let bytes = block();
        let view = BlockView::parse(&bytes).expect("parses");
        let check = |_: usize, column: &hadal_block::ColumnView<'_>| match column.name().as_str() {
            name if name == damaged => {
                Err(column.corrupt(EncodingError::Varint { what: "a length" }))
            }
            _ => Ok(()),
        };
        let looked: Result<(), ScanError> = scan.block(&view, &check, &mut partial);
        (looked.err(), partial)
    };
    let (error, partial) = scan("n");
    assert!(matches!(error, Some(ScanError::Damaged(BlockError::Encoding { .. }))), "{error:?}");
    let PartialBody::Groups(groups) = partial.body else { panic!("groups") };
    assert!(groups.is_empty());
}

#[test]
fn columns_that_are_all_shown_are_drawn_as_rows() {
    let values = vec![column("text", Kind::String), column("n", Kind::Number)];
    let query = query(QueryKind::Rows { values }, None);
    let small = MemoryPool::new(ROWS * LENGTH / 2);
    let partial = scanned_with(&small, &block(), &query);
    assert_eq!(partial.errors.iter().next().expect("a fault").code, QueryErrorCode::Memory);
    let enough = MemoryPool::new(2 * ROWS * LENGTH + SCAN_FREE_BYTES);
    let partial = scanned_with(&enough, &block(), &query);
    assert!(partial.errors.is_empty() && enough.reserved() >= ROWS * LENGTH);
}
