use std::collections::BTreeMap;
use std::time::Duration;

use hadal_query::{
    AggregateFunction, ColumnRef, GroupInput, Measure, Output, OutputExpr, SeriesLimit, Type,
};
use hadal_types::{Kind, Logical, Micros, Number, TableName, TimeRange};

use super::finish::Tolerance;
use super::*;
use crate::generate;

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect(text)
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect(text))
}

/// A row `second` seconds after the epoch.
fn row<const N: usize>(second: i64, cells: [(&str, Value); N]) -> Row {
    let cells: BTreeMap<_, _> =
        cells.into_iter().map(|(column, value)| (name(column), value)).collect();
    Row { time: Micros(second * Micros::SECOND), cells }
}

fn column(text: &str, kind: Kind) -> RowExpr {
    Expr::Leaf(RowInput::Column(ColumnRef { name: name(text), kind, logical: Logical::Plain }))
}

fn slot(slot: GroupInput) -> OutputExpr {
    Expr::Leaf(slot)
}

fn moments(argument: RowExpr) -> Measure {
    Measure::new(StateKind::Moments, argument)
}

fn query(shape: QueryKind, outputs: Vec<OutputExpr>) -> Query {
    let output = |expr| Output { name: String::new(), value_type: Type::Null, expr };
    Query {
        outputs: outputs.into_iter().map(output).collect(),
        limit: 100,
        deadline: Duration::from_secs(1),
        ..Query::new(TableName::new("t").expect("a name"), shape)
    }
}

fn asked(rows: &[Row], query: &Query) -> OracleAnswer {
    answer(rows, &name("time"), query).expect("an answer")
}

fn values(answer: &OracleAnswer) -> Vec<Vec<Value>> {
    let of = |row: &OracleRow| row.cells.iter().map(|cell| cell.value.clone()).collect();
    answer.rows.iter().map(of).collect()
}

fn bucket(seconds: i64) -> RowExpr {
    let width = Expr::Literal(Value::integer(seconds * Micros::SECOND));
    Expr::call(Function::TimeBucket, [Expr::Leaf(RowInput::Time), width])
}

const NULL: Value = Value::Null;

#[test]
fn one_group_stands_even_over_no_rows() {
    let shape =
        QueryKind::Groups { keys: vec![], measures: vec![moments(column("n", Kind::Number))] };
    let outputs = [
        GroupInput::Count,
        GroupInput::Measure(0, AggregateFunction::Sum),
        GroupInput::Measure(0, AggregateFunction::Avg),
    ];
    let query = query(shape, outputs.map(slot).to_vec());
    let answer = asked(&[], &query);
    assert_eq!(values(&answer), [[number("0"), NULL, NULL]]);
    assert_eq!(answer.rows[0].raw_count, 0);
    let keyed = QueryKind::Groups { keys: vec![column("n", Kind::Number)], measures: vec![] };
    assert!(asked(&[], &Query { kind: keyed, outputs: vec![], ..query }).rows.is_empty());
}

#[test]
fn rows_weigh_what_they_stand_for() {
    let rows = [
        row(1, [("n", number("0.1")), ("sample_rate", number("10"))]),
        row(2, [("n", number("0.2"))]),
        row(3, [("sample_rate", number("2.5"))]),
        row(4, [("n", Value::string("0.4")), ("sample_rate", Value::string("7"))]),
    ];
    let shape =
        QueryKind::Groups { keys: vec![], measures: vec![moments(column("n", Kind::Number))] };
    let finishes = [
        AggregateFunction::Count,
        AggregateFunction::RawCount,
        AggregateFunction::Sum,
        AggregateFunction::Avg,
    ];
    let mut outputs = vec![slot(GroupInput::RawCount), slot(GroupInput::Count)];
    outputs.extend(finishes.map(|finish| slot(GroupInput::Measure(0, finish))));
    let answer = asked(&rows, &query(shape, outputs));
    let average = Value::Number(Number::from_f64(1.2 / 11.0).expect("finite"));
    assert_eq!(
        values(&answer),
        [[number("4"), number("14.5"), number("11"), number("2"), number("1.2"), average]]
    );
    let bad = [row(1, [("sample_rate", number("0"))])];
    let shape = QueryKind::Groups { keys: vec![], measures: vec![] };
    let fault = super::answer(&bad, &name("time"), &query(shape, vec![]));
    assert_eq!(fault.err(), Some(OracleFault::SampleRate("0".to_owned())));
}

#[test]
fn a_name_of_two_kinds_loses_nothing() {
    let rows = [
        row(1, [("n", number("1.50"))]),
        row(2, [("n", Value::string("x"))]),
        row(3, [("n", Value::Bool(true))]),
        row(4, [("n", Value::set(["s"]))]),
        row(5, []),
    ];
    let values_of = |kind| {
        let shape = QueryKind::Rows { values: vec![Expr::Leaf(RowInput::Time), column("n", kind)] };
        let answer = asked(&rows, &query(shape, vec![slot(GroupInput::Key(1))]));
        values(&answer).concat()
    };
    assert_eq!(values_of(Kind::Number), [number("1.5"), NULL, number("1"), NULL, NULL]);
    let text = Value::string;
    assert_eq!(values_of(Kind::String), [text("1.5"), text("x"), text("1"), NULL, NULL]);
    assert_eq!(values_of(Kind::Set), [NULL, NULL, NULL, Value::set(["s"]), NULL]);
    assert_eq!(values_of(Kind::Vector), [NULL, NULL, NULL, NULL, NULL]);
}

#[test]
fn searches_look_into_every_string() {
    let rows = [
        row(1, [("a", Value::string("Straße"))]),
        row(2, [("b", Value::set(["x", "STRASSE"]))]),
        row(3, [("c", Value::vector(["eine straße"]))]),
        row(4, [("d", number("1"))]),
    ];
    let count_of = |text: &str| {
        let shape = QueryKind::Groups { keys: vec![], measures: vec![] };
        let filter = Some(Expr::Leaf(RowInput::AnyText(text.to_owned())));
        let query = Query { filter, ..query(shape, vec![slot(GroupInput::RawCount)]) };
        values(&asked(&rows, &query)).concat()
    };
    assert_eq!(count_of("STRAßE"), [number("2")]);
    assert_eq!(count_of("strasse"), [number("1")]);
    assert_eq!(count_of("1"), [number("0")]);
}

#[test]
fn null_is_a_key_and_sorts_last() {
    let rows = ["b", "", "a"]
        .map(|key| row(1, [("k", if key.is_empty() { NULL } else { Value::string(key) })]));
    let shape = QueryKind::Groups { keys: vec![column("k", Kind::String)], measures: vec![] };
    let mut query = query(shape, vec![slot(GroupInput::Key(0))]);
    let (a, b) = (Value::string("a"), Value::string("b"));
    assert_eq!(values(&asked(&rows, &query)).concat(), [a.clone(), b.clone(), NULL]);
    let by = |descending, nulls_first| {
        vec![OrderKey { expr: slot(GroupInput::Key(0)), descending, nulls_first }]
    };
    query.order = by(true, false);
    assert_eq!(values(&asked(&rows, &query)).concat(), [b.clone(), a.clone(), NULL]);
    query.order = by(false, true);
    assert_eq!(values(&asked(&rows, &query)).concat(), [NULL, a.clone(), b.clone()]);
    query.order = by(true, true);
    (query.offset, query.limit) = (1, 1);
    assert_eq!(values(&asked(&rows, &query)).concat(), [b]);
}

#[test]
fn quantiles_are_the_nearest_rank_by_weight() {
    let rows = [
        row(1, [("n", number("1")), ("sample_rate", number("98"))]),
        row(2, [("n", number("2"))]),
        row(3, [("n", number("3"))]),
    ];
    let measure = Measure::new(StateKind::Quantiles, column("n", Kind::Number));
    let shape = QueryKind::Groups { keys: vec![], measures: vec![measure] };
    let at = |millionths| slot(GroupInput::Measure(0, AggregateFunction::Quantile(millionths)));
    let outputs = [0, 980_000, 980_001, 990_000, 990_001, 1_000_000].map(at).to_vec();
    assert_eq!(
        values(&asked(&rows, &query(shape, outputs))).concat(),
        ["1", "1", "2", "2", "3", "3"].map(number)
    );
}

#[test]
fn buckets_at_the_ends_of_the_range_have_fewer_seconds() {
    let rows = [5, 65, 66, 125].map(|second| row(second, []));
    let shape = QueryKind::Groups { keys: vec![bucket(60)], measures: vec![] };
    let mut query = query(shape, vec![slot(GroupInput::RawCount), slot(GroupInput::Seconds)]);
    assert_eq!(values(&asked(&rows, &query))[0], [number("1"), number("60")]);
    let at = |micros| Some(Micros(micros));
    query.range = TimeRange { from: at(4_500_000), to: at(125_000_001) };
    let counted = [["1", "55.5"], ["2", "60"], ["1", "5.000001"]].map(|row| row.map(number));
    assert_eq!(values(&asked(&rows, &query)), counted);
}

#[test]
fn the_rest_of_the_series_is_one_more() {
    let series = |second, key: &str| row(second, [("k", Value::string(key))]);
    let rows = [
        series(1, "a"),
        series(2, "a"),
        series(61, "a"),
        series(62, "b"),
        series(63, "c"),
        series(64, "b"),
        series(3, "c"),
        row(65, []),
    ];
    let shape =
        QueryKind::Groups { keys: vec![column("k", Kind::String), bucket(60)], measures: vec![] };
    let rank = slot(GroupInput::Count);
    let mut query = query(
        shape,
        [GroupInput::Key(0), GroupInput::Key(1), GroupInput::Count].map(slot).to_vec(),
    );
    query.series = Some(SeriesLimit { count: 2, rank });
    let at = |minute: i64| Value::Time(Micros(60 * minute * Micros::SECOND));
    let line = |key: &str, minute, count| {
        let key = if key.is_empty() { NULL } else { Value::string(key) };
        vec![key, at(minute), number(count)]
    };
    // b and c have two rows each; of equal ones the first by key is kept.
    assert_eq!(
        values(&asked(&rows, &query)),
        [
            line("a", 0, "2"),
            line("a", 1, "1"),
            line("b", 1, "2"),
            line("", 0, "1"),
            line("", 1, "2"),
        ]
    );
}

#[test]
fn having_sees_finished_groups() {
    let rows = [1, 1, 2].map(|key| row(1, [("k", Value::integer(key))]));
    let shape = QueryKind::Groups { keys: vec![column("k", Kind::Number)], measures: vec![] };
    let two = Expr::Literal(number("2"));
    let having = Some(Expr::call(Function::Equal, [slot(GroupInput::Count), two]));
    let query = Query { having, ..query(shape, vec![slot(GroupInput::Key(0))]) };
    assert_eq!(values(&asked(&rows, &query)), [[number("1")]]);
}

#[test]
fn sums_stay_exact_until_a_block_has_doubles() {
    let shape =
        || QueryKind::Groups { keys: vec![], measures: vec![moments(column("n", Kind::Number))] };
    let query = query(shape(), vec![slot(GroupInput::Measure(0, AggregateFunction::Sum))]);
    let sum = |texts: &[&str]| {
        let rows: Vec<Row> = texts.iter().map(|text| row(1, [("n", number(text))])).collect();
        asked(&rows, &query).rows[0].cells[0].clone()
    };
    let cell = sum(&["9223372036854775807", "9223372036854775807"]);
    assert_eq!((cell.value.to_string(), cell.is_exact()), ("18446744073709551614".into(), true));
    let cell = sum(&["0.1", "0.2"]);
    assert_eq!((&cell.value, cell.is_exact()), (&number("0.3"), true));
    let cell = sum(&["1e300", "1", "-1e300"]);
    assert_eq!((&cell.value, cell.is_exact()), (&number("1"), false));
    // No scale holds both in 64 bits, so a block with both has doubles.
    assert!(!sum(&["9223372036854775807", "0.5"]).is_exact());
}

/// An answer of one row and one column.
fn single(tolerance: Tolerance, value: Value) -> OracleAnswer {
    let row = OracleRow { cells: vec![Cell { value, tolerance }], raw_count: 1 };
    let standing = Standing::Certain;
    OracleAnswer { rows: vec![row], candidates: vec![], standing, may_overflow: false }
}

#[test]
fn comparing_knows_how_near_is_near_enough() {
    let meets = |tolerance, exact: &str, actual: &str| {
        compare(&[vec![number(actual)]], &[1], &single(tolerance, number(exact))).is_ok()
    };
    assert!(meets(Tolerance::Exact, "0.30", "0.3"));
    assert!(!meets(Tolerance::Exact, "0.3", "0.30000000000000004"));
    assert!(meets(Tolerance::Relative(0.01), "100", "101"));
    assert!(!meets(Tolerance::Relative(0.01), "100", "101.1"));
    assert!(!meets(Tolerance::Relative(0.01), "0", "0.1"));
    assert!(meets(Tolerance::RelativeInteger(0.01), "100", "101"));
    assert!(!meets(Tolerance::RelativeInteger(0.01), "100", "100.5"));
    assert!(!meets(Tolerance::RelativeInteger(0.01), "100", "102"));
    assert!(meets(Tolerance::Absolute(0.5), "0", "-0.5"));
    assert!(!meets(Tolerance::Absolute(0.5), "0", "0.6"));
    let expected = single(Tolerance::Relative(0.1), number("1"));
    assert!(compare(&[vec![NULL]], &[1], &expected).is_err());
    assert!(compare(&[vec![number("1")]], &[2], &expected).is_err());
    assert!(compare(&[vec![number("1")]], &[], &expected).is_err());
    assert!(compare(&[], &[], &expected).is_err());
    assert!(compare(&[vec![]], &[1], &expected).is_err());
}

#[test]
fn histograms_count_what_is_between_round_edges() {
    let shown = |buckets, numbers: &[&str]| {
        let kind = StateKind::Histogram(buckets);
        let measure = Measure::new(kind, column("n", Kind::Number));
        let shape = QueryKind::Groups { keys: vec![], measures: vec![measure] };
        let query =
            query(shape, vec![slot(GroupInput::Measure(0, AggregateFunction::Histogram(buckets)))]);
        let rows: Vec<Row> = numbers.iter().map(|text| row(1, [("n", number(text))])).collect();
        values(&asked(&rows, &query)).concat()[0].to_string()
    };
    assert_eq!(shown(2, &[]), "null");
    assert_eq!(shown(2, &["3", "3"]), "[3–3: 2]");
    assert_eq!(shown(2, &["0", "4", "5", "10"]), "[0–5: 2, 5–10: 2]");
    assert_eq!(shown(3, &["1", "2", "3", "4", "10"]), "[0–5: 4, 5–10: 1]");
    assert_eq!(shown(1, &["-1", "1"]), "[-1–1: 2]");
    assert_eq!(shown(1, &["1", "9"]), "[1–9: 2]");
    assert_eq!(shown(4, &["-7", "-0.1", "12"]), "[-10–0: 2, 0–10: 0, 10–20: 1]");
    assert_eq!(shown(2, &["0", "1e300"]), "[0–5e299: 1, 5e299–1e300: 1]");
    assert_eq!(shown(9, &["1e300", "1.0000000000000002e300"]), "[1e300–1.00000000000001e300: 2]");
}

/// The oracle as an engine: it must agree with itself.
fn itself(rows: &[Row], query: &Query) -> Result<Produced, EngineFault> {
    let answer = answer(rows, &name(generate::TIME_COLUMN), query)
        .map_err(|fault| EngineFault { kind: fault.kind(), text: fault.to_string() })?;
    let raw_counts = answer.rows.iter().map(|row| row.raw_count).collect();
    Ok(Produced { rows: values(&answer), raw_counts })
}

#[test]
fn the_oracle_agrees_with_itself_on_every_seed() {
    for seed in 0..60 {
        let rows = generate::rows(seed, &generate::RowSpec::of_seed(seed));
        let facts = generate::facts(&rows);
        for index in 0..4 {
            let query = generate::query(generate::derive(seed, index), &facts);
            let checked = check_query(&rows, &facts.schema, &query, itself);
            assert_eq!(checked.map(drop), Ok(()), "seed {seed}, query {index}");
        }
    }
}

#[test]
fn a_failing_seed_is_named() {
    let text = check_seed(7, |_, _| Err("no engine".to_owned().into())).expect_err("it fails");
    assert!(text.starts_with("seed 7, query 0: expected an answer, found the fault"), "{text}");
    assert!(text.contains("Other: no engine"), "{text}");
    assert!(text.contains("Query {"), "{text}");
}

#[test]
fn a_wrong_engine_is_found_and_shrunk_to_the_row_that_matters() {
    // An engine that loses rows with a number above 15.
    let forgets = |rows: &[Row], query: &Query| {
        let large = |row: &Row| row.cells.get("n").is_some_and(|value| *value > number("15"));
        let left: Vec<Row> = rows.iter().filter(|row| !large(row)).cloned().collect();
        itself(&left, query)
    };
    let rows: Vec<Row> = (0..500).map(|n| row(n, [("n", Value::integer(n % 17))])).collect();
    let shape = QueryKind::Groups { keys: vec![], measures: vec![] };
    let query = query(shape, vec![slot(GroupInput::RawCount)]);
    let schema = generate::schema(&rows);
    let text = check_query(&rows, &schema, &query, forgets).expect_err("it is wrong");
    assert!(text.starts_with("row 0 column 0: expected"), "{text}");
    assert!(text.contains("of 500 rows; 1 of them show"), "{text}");
    assert!(text.contains("mantissa: 16"), "{text}");
    let one = Expected::Rows(1);
    assert_eq!(check_query(&rows[..16], &schema, &query, forgets), Ok(one));
}

#[test]
fn another_kind_of_fault_is_a_difference() {
    let rows = [row(1, [("n", number("1"))])];
    let schema = generate::schema(&rows);
    let text = column("n", Kind::String);
    let pattern = Expr::Literal(Value::string("("));
    let filter = Expr::call(Function::Matches(hadal_query::PatternSyntax::Regex), [text, pattern]);
    let shape = QueryKind::Groups { keys: vec![], measures: vec![] };
    let query = Query { filter: Some(filter), ..query(shape, vec![slot(GroupInput::RawCount)]) };
    let check = |kind| {
        let fails = |_: &[Row], _: &Query| Err(EngineFault { kind, text: "fails".to_owned() });
        check_query(&rows, &schema, &query, fails)
    };
    assert_eq!(check(FaultKind::Invalid), Ok(Expected::Fault(FaultKind::Invalid)));
    let differs = check(FaultKind::Overflow).expect_err("another one");
    assert!(differs.contains("found the fault Overflow: fails"), "{differs}");
    let plain = Query { filter: None, ..query.clone() };
    let overflows =
        |_: &[Row], _: &Query| Err(EngineFault { kind: FaultKind::Overflow, text: String::new() });
    check_query(&rows, &schema, &plain, overflows).expect_err("nothing can overflow");
}
