//! The best groups of many: the root examines only those that can be among the first. The answer is
//! the same as if it had examined all of them.
//!
//! Each query runs as it is, and without its LIMIT and OFFSET; these are then applied to that
//! answer.

use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Output,
    OutputExpr, Query, QueryKind, RowExpr, RowInput, StateKind, Type,
};
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{Random, TABLE, TIME_COLUMN, derive};
use hadal_tests::oracle::Row;
use hadal_tests::session::Hops;
use hadal_types::{ColumnName, Decimal, Kind, Logical, Micros, Number, TableName, Value, limits};

/// The number of tables of one run, and of queries per table.
const TABLES: u64 = 24;
const QUERIES: u64 = 25;
const GROUPS_MIN: usize = 50;
const GROUPS_MAX: usize = 5_000;

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

fn column(text: &str, kind: Kind) -> RowExpr {
    Expr::Leaf(RowInput::Column(ColumnRef { name: name(text), kind, logical: Logical::Plain }))
}

/// A table of `count` groups by `text` and `n`, in which many groups tie by each of the measures.
struct Groups {
    rows: Vec<Row>,
    count: usize,
}

impl Groups {
    fn new(seed: u64) -> Self {
        let random = &mut Random::new(derive(seed, 6_000));
        let count = *random.pick(&[GROUPS_MIN, 200, 1_000, GROUPS_MAX]);
        let (has_rates, has_doubles) = (random.percent(40), random.percent(30));
        // If a group has no value at all, sums do not determine the ranking.
        let has_nulls = random.percent(40);
        let mut rows = Vec::new();
        for group in 0..count {
            for _ in 0..1 + random.below(3) {
                let row = Self::row(random, group, (has_rates, has_doubles, has_nulls));
                rows.push(Row { time: Micros(1_700_000_000_000_000 + row.0), cells: row.1 });
            }
        }
        // Groups come in no order.
        for last in (1..rows.len()).rev() {
            rows.swap(last, random.below(last + 1));
        }
        Self { rows, count }
    }

    fn row(
        random: &mut Random,
        group: usize,
        (has_rates, has_doubles, has_nulls): (bool, bool, bool),
    ) -> (i64, std::collections::BTreeMap<ColumnName, Value>) {
        let whole = i64::try_from(group).expect("small");
        let mut cells = std::collections::BTreeMap::new();
        // One group has no text; a text has two numbers.
        if group > 1 {
            cells.insert(
                name("text"),
                Value::string(&format!("t{:x}", (group / 2) * 7_919 % 65_521)),
            );
        }
        cells.insert(name("n"), Value::integer(whole % 2 * 1_000 - whole));
        if !has_nulls || random.percent(80) {
            cells.insert(name("few"), Value::integer(random.between(-2, 3)));
        }
        if !has_nulls || random.percent(90) {
            let value = match has_doubles {
                true => Number::from_f64(1.0 / (1.0 + random.between(1, 9) as f64)),
                false => Decimal::new(random.between(-500, 500).into(), 2).map(Number::from),
            };
            cells.insert(name("value"), Value::Number(value.expect("a number")));
        }
        if has_rates && random.percent(50) {
            cells.insert(name("sample_rate"), Value::integer(random.between(1, 4)));
        }
        (random.between(0, 3_600_000_000), cells)
    }
}

/// The values that a query may be ordered by, and that it shows.
fn slots() -> Vec<GroupInput> {
    let few = [
        AggregateFunction::Sum,
        AggregateFunction::Avg,
        AggregateFunction::Count,
        AggregateFunction::RawCount,
    ];
    let mut slots =
        vec![GroupInput::Key(0), GroupInput::Key(1), GroupInput::Count, GroupInput::RawCount];
    slots.extend(few.map(|finish| GroupInput::Measure(0, finish)));
    slots.extend(
        [AggregateFunction::Sum, AggregateFunction::Avg]
            .map(|finish| GroupInput::Measure(1, finish)),
    );
    slots.extend(
        [AggregateFunction::Min, AggregateFunction::Max]
            .map(|finish| GroupInput::Measure(2, finish)),
    );
    slots
}

/// The first order key: mostly one for which the root has a shortcut, or could have.
fn first_of_order(random: &mut Random, slots: &[GroupInput]) -> OutputExpr {
    let often = [
        GroupInput::Count,
        GroupInput::RawCount,
        GroupInput::Measure(0, AggregateFunction::Sum),
        GroupInput::Measure(0, AggregateFunction::Avg),
        GroupInput::Measure(1, AggregateFunction::Sum),
        GroupInput::Measure(1, AggregateFunction::Avg),
    ];
    match random.percent(80) {
        true => Expr::Leaf(random.pick(&often).clone()),
        false => Expr::Leaf(random.pick(slots).clone()),
    }
}

/// A condition that some groups meet and some do not.
fn having(random: &mut Random) -> OutputExpr {
    let (slot, than) = match random.below(5) {
        0 => (GroupInput::RawCount, 1),
        1 => (GroupInput::Count, random.between(1, 3)),
        2 => (GroupInput::Measure(0, AggregateFunction::Sum), random.between(-1, 2)),
        3 => (GroupInput::Measure(0, AggregateFunction::Avg), random.between(-1, 1)),
        _ => (GroupInput::Key(1), -random.between(10, 40)),
    };
    let function = *random.pick(&[Function::Greater, Function::LessOrEqual, Function::NotEqual]);
    Expr::call(function, [Expr::Leaf(slot), Expr::Literal(Value::integer(than))])
}

fn query(seed: u64, groups: usize) -> Query {
    let random = &mut Random::new(seed);
    let slots = slots();
    let measure = |kind, argument| Measure::new(kind, argument);
    let shape = QueryKind::Groups {
        keys: vec![column("text", Kind::String), column("n", Kind::Number)],
        measures: vec![
            measure(StateKind::Moments, column("few", Kind::Number)),
            measure(StateKind::Moments, column("value", Kind::Number)),
            measure(StateKind::MinMax, column("value", Kind::Number)),
        ],
    };
    let mut order = vec![first_of_order(random, &slots)];
    for _ in 0..random.below(3) {
        let more = match random.percent(60) {
            true => GroupInput::Key(random.below(2)),
            false => random.pick(&slots).clone(),
        };
        order.push(Expr::Leaf(more));
    }
    let direction =
        |expr| OrderKey { expr, descending: random.percent(50), nulls_first: random.percent(50) };
    let order = order.into_iter().map(direction).collect();
    let limit = *random.pick(&[1, 2, 5, 10, 30, 100]);
    let offset = *random.pick(&[0, 0, 1, 3, 40, 200]);
    let output = |slot: &GroupInput| Output {
        name: format!("{slot:?}"),
        value_type: Type::Number,
        expr: Expr::Leaf(slot.clone()),
    };
    Query {
        outputs: slots.iter().map(output).collect(),
        having: random.percent(50).then(|| having(random)),
        order,
        limit: limit.min(groups as u64),
        offset: offset.min(groups as u64 - 1),
        ..Query::new(TableName::new(TABLE).expect("a name"), shape)
    }
}

#[test]
fn the_first_groups_are_those_of_the_whole_answer() {
    let (mut cut, mut kept_by_having) = (0, 0);
    for seed in 0..TABLES {
        let Groups { rows, count } = Groups::new(seed);
        let random = &mut Random::new(derive(seed, 7_000));
        let cuts = Cuts::Rows(*random.pick(&[97, 1_000, 65_536]));
        let blocks = engine::blocks(&rows, &name(TIME_COLUMN), cuts).expect("blocks");
        let partials = 1 + random.below(3);
        // Groups that never passed a wire have numbers in accumulators, by which they are ranked
        // sooner.
        let hops = *random.pick(&[Hops::InProcess, Hops::InProcess, Hops::Loopback]);
        for index in 0..QUERIES {
            let query = query(derive(seed, index), count);
            let whole = Query { limit: limits::LIMIT_DEFAULT, offset: 0, ..query.clone() };
            let ask = |query: &Query| {
                engine::ask_over(&blocks, query, partials, hops).expect("an answer")
            };
            let (limited, whole) = (ask(&query), ask(&whole));
            let from = usize::try_from(query.offset).expect("small").min(whole.rows.len());
            let to = (from + usize::try_from(query.limit).expect("small")).min(whole.rows.len());
            assert_eq!(
                (&limited.rows[..], &limited.raw_counts[..]),
                (&whole.rows[from..to], &whole.raw_counts[from..to]),
                "table {seed}, query {index} of {count} groups: {query:#?}"
            );
            cut += usize::from(to - from == usize::try_from(query.limit).expect("small"));
            let is_part = (1..count).contains(&whole.rows.len());
            kept_by_having += usize::from(query.having.is_some() && is_part);
        }
    }
    let all = usize::try_from(TABLES * QUERIES).expect("small");
    assert!(cut * 100 > all * 70, "{cut} of {all} answers are as long as their limit");
    assert!(kept_by_having * 100 > all * 35, "{kept_by_having} of {all} lose some by HAVING");
}
