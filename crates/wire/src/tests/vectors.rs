//! Frozen bytes: every later release must decode what any release wrote as the same value.
//!
//! Files are never changed, only added. To add one, write its value here and an empty file; the
//! failing test prints the bytes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hadal_aggregate::{
    Coverage, LeafCoverage, LeafOutcome, Partial, PartialBody, QueryError, QueryErrorCode,
    ScanStats, WarningCode,
};
use hadal_peer::{ForeignBatch, LeafStatus, MemberState, PeerStatus, SinkError, TableStatus};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Output,
    PatternSyntax, Query, QueryKind, RowInput, SentGroups, SeriesLimit, StateKind, Type,
};
use hadal_types::{
    BatchId, ColumnName, ColumnPart, ColumnSchema, Kind, LeafName, LeafState, Logical, Micros,
    TableName, TableSchema, TimeRange, Value, Weight,
};

use super::decode_query;
use crate::batch::{decode_accepted, decode_batch, encode_accepted, encode_foreign};
use crate::partial::{decode_partial, encode_partial};
use crate::query::QueryRequest;
use crate::status::{decode_status, encode_status};

const QUERY_GROUPS: &str = include_str!("../../../../spec/proto/vectors/query-groups.hex");
const QUERY_ROWS: &str = include_str!("../../../../spec/proto/vectors/query-rows.hex");
const PARTIAL_GROUPS: &str = include_str!("../../../../spec/proto/vectors/partial-groups.hex");
const PARTIAL_INTEGERS: &str = include_str!("../../../../spec/proto/vectors/partial-integers.hex");
const PARTIAL_COLUMNS: &str = include_str!("../../../../spec/proto/vectors/partial-columns.hex");
const PARTIAL_ROWS: &str = include_str!("../../../../spec/proto/vectors/partial-rows.hex");
const STATUS: &str = include_str!("../../../../spec/proto/vectors/status.hex");
const BATCH: &str = include_str!("../../../../spec/proto/vectors/batch.hex");
const REFUSED: &str = include_str!("../../../../spec/proto/vectors/refused.hex");

/// Parses the hexadecimal digits of a file.
pub(crate) fn bytes_of(hex: &str) -> Bytes {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    });
    pairs.collect()
}

/// Bytes in the format of a file: 32 per line.
fn hex_of(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(32).map(line).collect::<Vec<_>>().join("\n")
}

fn table() -> TableName {
    TableName::new("requests").expect("a name")
}

fn column(name: &str, kind: Kind) -> Expr<RowInput> {
    let name = ColumnName::new(name).expect("a name");
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind, logical: Logical::Plain }))
}

fn output(name: &str, value_type: Type, slot: GroupInput) -> Output {
    Output { name: name.to_owned(), value_type, expr: Expr::Leaf(slot) }
}

pub(crate) fn rows_query() -> Query {
    Query {
        table: table(),
        range: TimeRange { from: None, to: Some(Micros(-1)) },
        intervals: Vec::new(),
        filter: None,
        kind: QueryKind::Rows {
            values: vec![Expr::Leaf(RowInput::Time), column("tags", Kind::Set)],
        },
        outputs: vec![output("tags", Type::Set, GroupInput::Key(1))],
        having: None,
        order: Vec::new(),
        series: None,
        limit: 100,
        offset: 5,
        now: Micros(1_700_000_000_000_000),
        deadline: Duration::from_secs(10),
        require_complete: false,
        functions: Arc::default(),
        confidence: None,
        totals: false,
        sent: SentGroups::All,
    }
}

pub(crate) fn groups_query() -> Query {
    let path = || column("path", Kind::String);
    let latency = || column("latency", Kind::Number);
    let bucket = [
        Expr::Leaf(RowInput::Time),
        Expr::Literal(Value::integer(60_000_000)),
        Expr::Literal(Value::Number("-0.25".parse().expect("a number"))),
    ];
    let like = [path(), Expr::Literal(Value::string("/api/%"))];
    let filter = [
        Expr::call(Function::Matches(PatternSyntax::Like), like),
        Expr::Leaf(RowInput::AnyText("error".to_owned())),
    ];
    let measure = |kind| Measure::new(kind, latency());
    Query {
        range: TimeRange { from: Some(Micros(1_699_999_000_000_000)), to: None },
        filter: Some(Expr::call(Function::And, filter)),
        kind: QueryKind::Groups {
            keys: vec![Expr::call(Function::TimeBucket, bucket), path()],
            measures: vec![
                measure(StateKind::Moments),
                measure(StateKind::MinMax),
                measure(StateKind::Quantiles),
                measure(StateKind::Distinct),
                measure(StateKind::Histogram(20)),
            ],
        },
        outputs: vec![
            output("time", Type::Time, GroupInput::Key(0)),
            output("avg", Type::Number, GroupInput::Measure(0, AggregateFunction::Avg)),
            output(
                "p95",
                Type::Number,
                GroupInput::Measure(2, AggregateFunction::Quantile(950_000)),
            ),
            output(
                "histogram",
                Type::Histogram,
                GroupInput::Measure(4, AggregateFunction::Histogram(20)),
            ),
            output("seconds", Type::Number, GroupInput::Seconds),
        ],
        having: Some(Expr::call(
            Function::Greater,
            [Expr::Leaf(GroupInput::Count), Expr::Literal(Value::integer(2))],
        )),
        order: vec![OrderKey {
            expr: Expr::Leaf(GroupInput::RawCount),
            descending: true,
            nulls_first: false,
        }],
        series: Some(SeriesLimit {
            count: 10,
            rank: Expr::Leaf(GroupInput::Measure(3, AggregateFunction::Distinct)),
        }),
        require_complete: true,
        functions: Arc::default(),
        confidence: None,
        ..rows_query()
    }
}

fn annotated(mut partial: Partial) -> Partial {
    for (name, outcome) in [("leaf-0", LeafOutcome::Answered), ("leaf-1", LeafOutcome::Late)] {
        let leaf = LeafCoverage {
            name: LeafName(name.into()),
            outcome,
            rows_expected: 1_000,
            rows_scanned: 900,
            micros: 12_345,
            as_of: (0, 0),
        };
        partial.coverage.merge(Coverage::of_leaf(leaf, outcome == LeafOutcome::Answered));
    }
    partial.stats = ScanStats {
        rows_read: 900,
        rows_matched: 3,
        blocks: 2,
        blocks_skipped: 1,
        bytes_read: 4_096,
        scan_micros: 77,
    };
    partial.warn(WarningCode::ColumnAbsent, "latency", 1);
    partial.errors.add(QueryError::new(QueryErrorCode::Overflow, "a sum is too large"));
    partial
}

pub(crate) fn groups_partial() -> Partial {
    let mut partial = annotated(Partial::empty(&groups_query()));
    let PartialBody::Groups(groups) = &mut partial.body else { panic!("no groups") };
    let weight = Weight::from_millionths(2_500_000).expect("in range");
    let minute = Value::Time(Micros(1_699_999_020_000_000));
    for (path, values) in [("/api/a", ["1", "-2.5", "1e300"]), ("/api/b", ["0", "7", "7"])] {
        for text in values {
            let value = Value::Number(text.parse().expect("a number"));
            let values = vec![value; groups_query().measures().len()];
            groups.add_row(&[minute.clone(), Value::string(path)], &values, weight);
        }
    }
    for number in 0..300 {
        let values = vec![Value::integer(number % 10 - 5); groups_query().measures().len()];
        groups.add_row(&[minute.clone(), Value::Null], &values, Weight::ONE);
    }
    groups.drop_rows(11);
    partial
}

/// A partial whose sums and extremes are in their compact columns.
fn columns_partial() -> Partial {
    let mut partial = annotated(Partial::empty(&groups_query()));
    let PartialBody::Groups(groups) = &mut partial.body else { panic!("no groups") };
    for (minute, path, text) in [(0, "/api/a", "2.5"), (0, "/api/b", "-7"), (60, "/api/a", "12")] {
        let time = Value::Time(Micros(1_699_999_020_000_000 + minute * Micros::SECOND));
        let value = Value::Number(text.parse().expect("a number"));
        let values = vec![value; groups_query().measures().len()];
        let weight = Weight::from_millionths(10_000_000).expect("in range");
        groups.add_row(&[time, Value::string(path)], &values, weight);
    }
    let nulls = vec![Value::Null; groups_query().measures().len()];
    groups.add_row(&[Value::integer(-5), Value::Null], &nulls, Weight::ONE);
    partial
}

pub(crate) fn rows_partial() -> Partial {
    let mut partial = annotated(Partial::empty(&rows_query()));
    let PartialBody::Rows(rows) = &mut partial.body else { panic!("no rows") };
    rows.add([Value::Time(Micros(-5)), Value::set(["b", "a"])].into()).expect("short strings");
    rows.add([Value::Time(Micros(-4)), Value::Null].into()).expect("short strings");
    partial
}

fn status() -> PeerStatus {
    let name = |name| ColumnName::new(name).expect("a name");
    let part = |kind, logical, rows| ColumnPart { kind, logical, rows };
    let columns = vec![
        ColumnSchema {
            name: name("latency"),
            parts: vec![
                part(Kind::Number, Logical::Plain, 990),
                part(Kind::String, Logical::Plain, 10),
            ],
        },
        ColumnSchema { name: name("t"), parts: vec![part(Kind::Number, Logical::Time, 1_000)] },
    ];
    let schema = TableSchema {
        name: table(),
        time_column: name("t"),
        columns,
        rows: 1_000,
        time_range: Some((Micros(-7), Micros(1_700_000_000_000_000))),
    };
    let status = TableStatus {
        schema: Arc::new(schema),
        blocks: 2,
        block_bytes: 8_192,
        raw_bytes: 64_000,
        dropped_rows: 3,
        dropped_bytes: 0,
        dropped_until: None,
        expired_rows: 0,
        expired_until: None,
        lost_rows: 0,
        waiting_rows: 0,
        state: LeafState::Alive,
        settings: None,
        expiry: None,
        archive_error: None,
    };
    let leaf = |name: &str, state, tables| LeafStatus {
        name: LeafName(name.into()),
        state: MemberState::Announced(state),
        block_bytes: 8_192,
        tables: Arc::new(tables),
        losses: Vec::new(),
    };
    let leaves = vec![
        leaf("leaf-0", LeafState::Alive, [(table(), Arc::new(status))].into()),
        leaf("leaf-1", LeafState::MemoryRecovery, [].into()),
    ];
    PeerStatus { leaves }
}

fn batch() -> ForeignBatch {
    ForeignBatch {
        table: table(),
        id: BatchId::new("0f8fad5b-d9cb#1").expect("an id"),
        content_hash: 0x0123_4567_89ab_cdef,
        first_try: false,
        rows: 42,
        block: b"HADAL block".to_vec(),
    }
}

#[test]
fn queries_of_every_release_are_read() {
    for (hex, query) in [(QUERY_GROUPS, groups_query()), (QUERY_ROWS, rows_query())] {
        let remaining = Duration::from_millis(9_876);
        let request = QueryRequest { query: Arc::new(query), remaining, attempt: 1, plan: None };
        let read = decode_query(bytes_of(hex));
        assert_eq!(read.as_ref(), Ok(&request), "\n{}\n", hex_of(&request.encode()));
    }
}

#[test]
fn partial_answers_of_every_release_are_read() {
    for (hex, query, partial) in [
        (PARTIAL_INTEGERS, groups_query(), groups_partial()),
        (PARTIAL_COLUMNS, groups_query(), columns_partial()),
        (PARTIAL_ROWS, rows_query(), rows_partial()),
    ] {
        let read = decode_partial(bytes_of(hex), &query);
        assert_eq!(read.as_ref(), Ok(&partial), "\n{}\n", hex_of(&encode_partial(partial.clone())));
    }
}

/// Its percentiles do not say that all their values are integers.
#[test]
fn partial_answers_without_the_mark_of_integers_are_read() {
    let read = decode_partial(bytes_of(PARTIAL_GROUPS), &groups_query()).expect("a partial");
    assert_ne!(read, groups_partial());
    assert_eq!(encode_partial(read), bytes_of(PARTIAL_GROUPS));
}

#[test]
fn states_of_leaves_of_every_release_are_read() {
    let read = decode_status(bytes_of(STATUS));
    assert_eq!(read, Ok(status()), "\n{}\n", hex_of(&encode_status(&status())));
}

#[test]
fn batches_of_every_release_are_read() {
    let read = decode_batch(bytes_of(BATCH));
    assert_eq!(read, Ok(batch()), "\n{}\n", hex_of(&encode_foreign(batch())));
    let refused =
        Err(SinkError::Corrupt { id: batch().id, table: table(), reason: "no magic".to_owned() });
    let read = decode_accepted(bytes_of(REFUSED));
    assert_eq!(read, Ok(refused.clone()), "\n{}\n", hex_of(&encode_accepted(&refused)));
}
