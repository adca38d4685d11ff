//! Random queries over the columns of a schema.

use std::sync::Arc;
use std::time::Duration;

use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Output,
    OutputExpr, Query, QueryKind, RowExpr, RowInput, SentGroups, SeriesLimit, StateKind, Type,
    Weighting,
};
use hadal_types::value::HistogramBucket;
use hadal_types::{
    ColumnName, Kind, Logical, Micros, Number, TableSchema, TimeRange, Value, limits,
};

use super::expressions::Expressions;
use super::facts::{Facts, Pool};
use super::pool;
use super::random::{Random, derive};
use super::schema::table;

/// The maximum number of time buckets of one query; the engine allows a few more.
const BUCKETS_MAX: i64 = 1_000;
const QUANTILES: [u32; 7] = [0, 10_000, 333_333, 500_000, 950_000, 999_000, 1_000_000];
const HISTOGRAM_BUCKETS: [u16; 5] = [1, 2, 5, 20, 100];
const HISTOGRAM_BASES: [u16; 4] = [2, 3, 10, 1_000];

/// All inputs that a query can take from a row of this schema, with their types: every part of
/// every column, numbers as text, a missing column, and searches for words.
#[must_use]
pub fn inputs(random: &mut Random, schema: &TableSchema) -> Vec<(Type, RowExpr)> {
    let mut inputs = vec![(Type::Time, Expr::Leaf(RowInput::Time))];
    let mut add = |name: &ColumnName, kind: Kind, logical: Logical| {
        let column = ColumnRef { name: name.clone(), kind, logical };
        inputs.push((column.value_type(), Expr::Leaf(RowInput::Column(column))));
    };
    for column in &schema.columns {
        for part in &column.parts {
            add(&column.name, part.kind, part.logical);
        }
        if column.part(Kind::String).is_none() {
            add(&column.name, Kind::String, Logical::Plain);
        }
    }
    if let (true, Ok(absent)) = (random.percent(10), ColumnName::new("absent")) {
        add(&absent, *random.pick(&Kind::ALL), Logical::Plain);
    }
    for _ in 0..2 {
        let text = pool::word(random).to_owned();
        inputs.push((Type::Bool, Expr::Leaf(RowInput::AnyText(text))));
    }
    inputs
}

/// The known values of each of these inputs.
#[must_use]
pub fn pools(inputs: &[(Type, RowExpr)], facts: &Facts) -> Vec<Pool> {
    let pool = |(_, input): &(Type, RowExpr)| match input {
        Expr::Leaf(input) => facts.pool(input),
        _ => Pool::default(),
    };
    inputs.iter().map(pool).collect()
}

/// Generates the query of `seed` over a table, with values of the table.
#[must_use]
pub fn query(seed: u64, facts: &Facts) -> Query {
    let (random, schema) = (&mut Random::new(seed), &facts.schema);
    let inputs = inputs(random, schema);
    let range = range(random, facts);
    let bucket_micros_min = bucket_micros_min(schema);
    let pools = pools(&inputs, facts);
    let mut rows =
        Expressions { random: &mut *random, leaves: &inputs, pools: &pools, bucket_micros_min };
    let filter = rows.random.percent(60).then(|| rows.expr(Type::Bool, 3));
    let grouped = rows.random.percent(75);
    let (kind, finished) = if grouped { groups(&mut rows) } else { raw_rows(&mut rows) };
    let exact: Vec<(Type, OutputExpr)> =
        finished.iter().filter(|slot| is_exact(&slot.1, schema.rows)).cloned().collect();
    let mut outputs = Expressions { random, leaves: &exact, pools: &[], bucket_micros_min };
    let having = (grouped && outputs.random.percent(25)).then(|| outputs.expr(Type::Bool, 2));
    let order = order(&mut outputs);
    let keyed = matches!(&kind, QueryKind::Groups { keys, .. } if !keys.is_empty());
    let in_several = Query::new(table(), kind.clone()).unnested().is_some();
    let series = (keyed && outputs.random.percent(25)).then(|| SeriesLimit {
        count: 1 + outputs.random.below(4),
        rank: outputs.leaf(Type::Number),
    });
    let has_totals = keyed && series.is_none() && !in_several && outputs.random.percent(10);
    Query {
        table: table(),
        range,
        intervals: Vec::new(),
        filter,
        kind,
        outputs: columns(&mut outputs, &finished),
        having,
        order,
        series,
        limit: *outputs.random.pick(&[0, 1, 3, 10, 100, LIMIT, LIMIT, LIMIT, LIMIT]),
        offset: *outputs.random.pick(&[0, 0, 0, 0, 0, 1, 7]),
        now: pool::NOW,
        deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
        require_complete: false,
        functions: Arc::default(),
        confidence: None,
        totals: has_totals,
        sent: SentGroups::All,
    }
}

/// Generates the query for raw rows of `seed`: mostly ordered by time, and mostly with a limit.
#[must_use]
pub fn rows_query(seed: u64, facts: &Facts) -> Query {
    let mut query = Query { having: None, series: None, totals: false, ..query(seed, facts) };
    let random = &mut Random::new(derive(seed, 1));
    let inputs = inputs(random, &facts.schema);
    let pools = pools(&inputs, facts);
    let mut rows = Expressions { random, leaves: &inputs, pools: &pools, bucket_micros_min: 1 };
    query.filter = rows.random.percent(30).then(|| rows.expr(Type::Bool, 2));
    let (kind, mut slots) = raw_rows(&mut rows);
    let QueryKind::Rows { mut values } = kind else { return query };
    let time = Expr::Leaf(GroupInput::Key(values.len()));
    values.push(Expr::Leaf(RowInput::Time));
    slots.push((Type::Time, time.clone()));
    let mut outputs = Expressions { random, leaves: &slots, pools: &[], bucket_micros_min: 1 };
    query.order = order(&mut outputs);
    if outputs.random.percent(75) {
        let descending = outputs.random.percent(60);
        query.order.insert(0, OrderKey { expr: time, descending, nulls_first: descending });
    }
    query.outputs = columns(&mut outputs, &slots);
    query.kind = QueryKind::Rows { values };
    query.limit = *random.pick(&[0, 1, 2, 5, 20, 20, 50, 100, 500, LIMIT]);
    query.offset = *random.pick(&[0, 0, 0, 1, 7, 60, 400]);
    query
}

const LIMIT: u64 = limits::LIMIT_DEFAULT;

/// All time, or a range with ends within or beyond the table's times, mostly at the edge of a
/// block.
fn range(random: &mut Random, facts: &Facts) -> TimeRange {
    let Some((first, last)) = facts.schema.time_range.filter(|_| random.percent(50)) else {
        return TimeRange::ALL;
    };
    let mut end = || match facts.edge_time(random).filter(|_| random.percent(60)) {
        Some(edge) => edge,
        None => Micros(random.between(first.0 - 1, last.0 + 1)),
    };
    let (left, right) = (end(), end());
    TimeRange {
        from: random.percent(80).then_some(left.min(right)),
        to: random.percent(80).then_some(left.max(right)),
    }
}

fn bucket_micros_min(schema: &TableSchema) -> i64 {
    let span = schema.time_range.map_or(0, |(first, last)| last.0 - first.0);
    1 + span / BUCKETS_MAX
}

type Expressed = (QueryKind, Vec<(Type, OutputExpr)>);

fn raw_rows(rows: &mut Expressions<'_, RowInput>) -> Expressed {
    let count = 1 + rows.random.below(5);
    let (mut values, mut slots) = (Vec::new(), Vec::new());
    for index in 0..count {
        let (of, value) = a_value(rows);
        values.push(value);
        slots.push((of, Expr::Leaf(GroupInput::Key(index))));
    }
    (QueryKind::Rows { values }, slots)
}

/// Mostly a column, at times a computed expression.
fn a_value(rows: &mut Expressions<'_, RowInput>) -> (Type, RowExpr) {
    if rows.random.percent(75) {
        return rows.random.pick(rows.leaves).clone();
    }
    let of = rows.any_type();
    (of, rows.expr(of, 2))
}

fn groups(rows: &mut Expressions<'_, RowInput>) -> Expressed {
    let (mut keys, mut slots) = (Vec::new(), Vec::new());
    for index in 0..*rows.random.pick(&[0, 1, 1, 1, 2, 2, 3]) {
        let (of, key) = match rows.random.percent(35) {
            true => (Type::Time, rows.bucket(Expr::Leaf(RowInput::Time))),
            false => a_value(rows),
        };
        keys.push(key);
        slots.push((of, Expr::Leaf(GroupInput::Key(index))));
    }
    if let Some((of, key)) = unnested(rows) {
        slots.push((of, Expr::Leaf(GroupInput::Key(keys.len()))));
        keys.push(key);
    }
    for slot in [GroupInput::RawCount, GroupInput::Count, GroupInput::Seconds] {
        slots.push((Type::Number, Expr::Leaf(slot)));
    }
    let mut measures = Vec::new();
    for index in 0..rows.random.below(5) {
        let (of, argument) = an_argument(rows);
        let kind = kind_of(rows.random, of);
        let second = kind.is_of_pairs().then(|| second_argument(rows, kind));
        let weighting = match kind.takes_sampling_variances() && rows.random.percent(20) {
            true => Weighting::SamplingVariance,
            false => Weighting::Events,
        };
        measures.push(Measure { kind, argument, second, weighting });
        for finish in finishes(rows.random, kind, of) {
            slots.push((type_of(finish, of), Expr::Leaf(GroupInput::Measure(index, finish))));
        }
    }
    (QueryKind::Groups { keys, measures }, slots)
}

/// At times a list whose elements or prefixes are a key.
fn unnested(rows: &mut Expressions<'_, RowInput>) -> Option<(Type, RowExpr)> {
    let is_list = |of: &&(Type, RowExpr)| matches!(of.0, Type::Set | Type::Vector);
    let lists: Vec<(Type, RowExpr)> = rows.leaves.iter().filter(is_list).cloned().collect();
    if lists.is_empty() || !rows.random.percent(15) {
        return None;
    }
    let (of, list) = rows.random.pick(&lists).clone();
    Some(match of == Type::Vector && rows.random.percent(40) {
        true => (Type::Vector, Expr::call(Function::Prefixes, [list])),
        false => (Type::String, Expr::call(Function::Unnest, [list])),
    })
}

/// Mostly a number.
fn an_argument(rows: &mut Expressions<'_, RowInput>) -> (Type, RowExpr) {
    match rows.random.below(10) {
        0..4 => (Type::Number, rows.leaf(Type::Number)),
        4..6 => (Type::Number, rows.expr(Type::Number, 2)),
        _ => a_value(rows),
    }
}

/// The other expression of a pair.
fn second_argument(rows: &mut Expressions<'_, RowInput>, kind: StateKind) -> RowExpr {
    match kind {
        StateKind::Covariance if rows.random.percent(30) => rows.expr(Type::Number, 2),
        StateKind::Covariance => rows.leaf(Type::Number),
        StateKind::EdgeHistogram => edges(rows),
        _ => a_value(rows).1,
    }
}

/// The edges of a histogram, some of them near the table's values.
fn edges(rows: &mut Expressions<'_, RowInput>) -> RowExpr {
    let mut edges = vec![Number::integer(-1), Number::integer(100)];
    for _ in 0..rows.random.below(6) {
        if let Value::Number(number) = rows.literal(Type::Number) {
            edges.push(number);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let bucket =
        |edges: &[Number]| HistogramBucket { from: edges[0], to: edges[1], count: Number::ZERO };
    Expr::Literal(Value::Histogram(edges.windows(2).map(bucket).collect()))
}

/// A state for values of this type.
fn kind_of(random: &mut Random, of: Type) -> StateKind {
    let mut kinds =
        vec![StateKind::Moments, StateKind::Distinct, StateKind::ArgMinMax, StateKind::TopValues];
    if matches!(of, Type::Number | Type::Bool | Type::Time | Type::String) {
        kinds.push(StateKind::MinMax);
    }
    if of == Type::Number {
        let histogram = StateKind::Histogram(*random.pick(&HISTOGRAM_BUCKETS));
        kinds.extend([StateKind::Quantiles, histogram]);
        kinds.extend([StateKind::Variance, StateKind::Covariance]);
        let base = *random.pick(&HISTOGRAM_BASES);
        kinds.extend([StateKind::LogHistogram(base), StateKind::EdgeHistogram]);
    }
    *random.pick(&kinds)
}

/// Some of the aggregates that can be computed from this state.
fn finishes(random: &mut Random, kind: StateKind, of: Type) -> Vec<AggregateFunction> {
    match kind {
        StateKind::Moments if matches!(of, Type::Number | Type::Bool) => {
            vec![
                AggregateFunction::Count,
                AggregateFunction::RawCount,
                AggregateFunction::Sum,
                AggregateFunction::Avg,
            ]
        }
        StateKind::Moments => vec![AggregateFunction::Count, AggregateFunction::RawCount],
        StateKind::MinMax => vec![AggregateFunction::Min, AggregateFunction::Max],
        StateKind::Quantiles => vec![
            AggregateFunction::Quantile(*random.pick(&QUANTILES)),
            AggregateFunction::QuantileCont(*random.pick(&QUANTILES)),
        ],
        StateKind::Distinct => vec![AggregateFunction::Distinct],
        StateKind::Histogram(buckets) => vec![AggregateFunction::Histogram(buckets)],
        StateKind::Variance => vec![
            AggregateFunction::VarPop,
            AggregateFunction::VarSamp,
            AggregateFunction::StddevPop,
            AggregateFunction::StddevSamp,
        ],
        StateKind::Covariance => vec![
            AggregateFunction::CovarPop,
            AggregateFunction::CovarSamp,
            AggregateFunction::Corr,
            AggregateFunction::RegrSlope,
            AggregateFunction::RegrIntercept,
        ],
        StateKind::ArgMinMax => vec![AggregateFunction::ArgMin, AggregateFunction::ArgMax],
        StateKind::TopValues => {
            vec![AggregateFunction::TopValues(*random.pick(&[1, 2, 10, 1_000]))]
        }
        StateKind::LogHistogram(base) => vec![AggregateFunction::LogHistogram(base)],
        StateKind::EdgeHistogram => vec![AggregateFunction::EdgeHistogram],
        StateKind::User(id) => vec![AggregateFunction::User(id)],
        StateKind::RandomGroups => Vec::new(),
    }
}

fn type_of(finish: AggregateFunction, argument: Type) -> Type {
    match finish {
        AggregateFunction::Min
        | AggregateFunction::Max
        | AggregateFunction::ArgMin
        | AggregateFunction::ArgMax => argument,
        AggregateFunction::Histogram(_)
        | AggregateFunction::LogHistogram(_)
        | AggregateFunction::EdgeHistogram => Type::Histogram,
        AggregateFunction::TopValues(_) => Type::Vector,
        _ => Type::Number,
    }
}

/// Whether the engine must be exact for this in any group of `rows` rows.
fn is_exact(slot: &OutputExpr, rows: u64) -> bool {
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    match slot {
        Expr::Leaf(GroupInput::Measure(
            _,
            AggregateFunction::Quantile(_) | AggregateFunction::QuantileCont(_),
        )) => rows <= limits::QUANTILE_EXACT_ROWS,
        Expr::Leaf(GroupInput::Measure(
            _,
            AggregateFunction::StddevPop | AggregateFunction::StddevSamp | AggregateFunction::Corr,
        )) => false,
        Expr::Leaf(GroupInput::Measure(_, AggregateFunction::Distinct)) => {
            rows <= limits::DISTINCT_EXACT_VALUES
        }
        _ => true,
    }
}

fn order(outputs: &mut Expressions<'_, GroupInput>) -> Vec<OrderKey> {
    let count = *outputs.random.pick(&[0, 0, 1, 1, 2]);
    (0..count)
        .map(|_| OrderKey {
            expr: match outputs.random.percent(80) {
                true => outputs.random.pick(outputs.leaves).1.clone(),
                false => outputs.expr(Type::Number, 2),
            },
            descending: outputs.random.percent(50),
            nulls_first: outputs.random.percent(50),
        })
        .collect()
}

/// Nearly all slots, and computed expressions of the exact ones.
fn columns(outputs: &mut Expressions<'_, GroupInput>, slots: &[(Type, OutputExpr)]) -> Vec<Output> {
    let mut columns: Vec<(Type, OutputExpr)> =
        slots.iter().filter(|_| outputs.random.percent(90)).cloned().collect();
    for _ in 0..outputs.random.below(3) {
        let of = outputs.any_type();
        columns.push((of, outputs.expr(of, 2)));
    }
    if columns.is_empty() {
        columns.push(outputs.random.pick(slots).clone());
    }
    let named =
        |(index, (value_type, expr))| Output { name: format!("c{index}"), value_type, expr };
    columns.into_iter().enumerate().map(named).collect()
}
