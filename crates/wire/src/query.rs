//! Codec of the query that is sent to a peer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hadal_peer::Plan;
use hadal_query::{
    AggregateId, FunctionHost, FunctionRegistry, GroupInput, LeafTotal, Measure, OrderKey, Output,
    OutputExpr, Query, QueryKind, SentGroups, SeriesLimit, StateKind, Total, Weighting,
};
use hadal_types::limits::{
    GROUP_KEYS_MAX, HISTOGRAM_BUCKETS_MAX, OUTPUTS_MAX, QUERY_BYTES_MAX, QUERY_DEADLINE_MS_MAX,
};
use hadal_types::{FunctionDefinition, Micros, TimeRange};
use prost::Message;

use crate::codes::Code;
use crate::error::{At, DecodeError, DecodeErrorKind, at_most, each, required, unfit};
use crate::expr::{decode_base, decode_expr, decode_index, encode_expr, encode_index};
use crate::plan::{decode_plan, encode_plan};
use crate::proto::{self, query};
use crate::sent_groups::{decode_sent, encode_only_keys};
use crate::size_guard;
use crate::value::decode_table;

/// A query as it is sent to a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRequest {
    /// The query.
    pub query: Arc<Query>,
    /// The time left from arrival until the answer is due: in whole milliseconds, and at most
    /// [`QUERY_DEADLINE_MS_MAX`] of them.
    pub remaining: Duration,
    /// 0 for the first request to this peer.
    pub attempt: u32,
    /// The machines that the receiver asks; `None` for a peer that knows by itself.
    pub plan: Option<Arc<Plan>>,
}

impl QueryRequest {
    /// Encodes the request.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        // Rounded down: a deadline that is rounded up would be missed.
        let millis = u64::try_from(self.remaining.as_millis()).unwrap_or(u64::MAX);
        let request = proto::QueryRequest {
            query: Some(encode_query(&self.query)),
            deadline_ms: millis.min(QUERY_DEADLINE_MS_MAX),
            attempt: self.attempt,
            plan: self.plan.as_deref().map(encode_plan),
        };
        request.encode_to_vec().into()
    }

    /// Decodes the output of [`Self::encode`]; the query's user functions are among `functions`.
    ///
    /// # Errors
    /// [`DecodeError`] for anything else, and for a query that names other user functions.
    pub fn decode(bytes: Bytes, functions: &FunctionRegistry) -> Result<Self, DecodeError> {
        size_guard::decode(bytes, QUERY_BYTES_MAX, |request| decode_request(request, functions))
    }
}

fn decode_request(
    request: proto::QueryRequest,
    functions: &FunctionRegistry,
) -> Result<QueryRequest, DecodeError> {
    if request.deadline_ms > QUERY_DEADLINE_MS_MAX {
        let expected = format_args!("0 to {QUERY_DEADLINE_MS_MAX}");
        return Err(unfit(request.deadline_ms, expected)).at("deadline_ms");
    }
    let query = required(request.query);
    let query = query.and_then(|query| decode_query(query, functions)).at("query")?;
    let remaining = Duration::from_millis(request.deadline_ms);
    let plan = request.plan.map(decode_plan).transpose().at("plan")?.map(Arc::new);
    Ok(QueryRequest { query: Arc::new(query), remaining, attempt: request.attempt, plan })
}

fn encode_query(query: &Query) -> proto::Query {
    let shape = match &query.kind {
        QueryKind::Rows { values } => {
            let values = values.iter().map(encode_expr).collect();
            query::Shape::Rows(proto::RowsShape { values })
        }
        QueryKind::Groups { keys, measures } => query::Shape::Groups(proto::GroupsShape {
            keys: keys.iter().map(encode_expr).collect(),
            measures: measures.iter().map(encode_measure).collect(),
        }),
    };
    proto::Query {
        table: query.table.to_string(),
        from_micros: query.range.from.map(|time| time.0),
        to_micros: query.range.to.map(|time| time.0),
        filter: query.filter.as_ref().map(encode_expr),
        shape: Some(shape),
        outputs: query.outputs.iter().map(encode_output).collect(),
        having: query.having.as_ref().map(encode_expr),
        order: query.order.iter().map(encode_order).collect(),
        series: query.series.as_ref().map(|series| proto::SeriesLimit {
            count: encode_index(series.count),
            rank: Some(encode_expr(&series.rank)),
        }),
        limit: query.limit,
        offset: query.offset,
        now_micros: query.now.0,
        deadline_seconds: query.deadline.as_secs(),
        deadline_nanos: query.deadline.subsec_nanos(),
        require_complete: query.require_complete,
        intervals: query.intervals.iter().map(encode_interval).collect(),
        scalar_functions: query.functions.scalars().map(|udf| udf.name().to_owned()).collect(),
        aggregate_functions: query
            .functions
            .aggregates()
            .map(|udf| udf.name().to_owned())
            .collect(),
        function_definitions: query
            .functions
            .definitions()
            .map(|definition| definition.to_json())
            .collect(),
        largest_groups: query.sent == SentGroups::Largest,
        only_keys: encode_only_keys(&query.sent),
    }
}

fn encode_interval(interval: &TimeRange) -> proto::TimeInterval {
    let [from_micros, to_micros] = [interval.from, interval.to].map(|time| time.map(|time| time.0));
    proto::TimeInterval { from_micros, to_micros }
}

fn decode_interval(wire: proto::TimeInterval) -> Result<TimeRange, DecodeError> {
    Ok(TimeRange { from: wire.from_micros.map(Micros), to: wire.to_micros.map(Micros) })
}

fn decode_query(wire: proto::Query, functions: &FunctionRegistry) -> Result<Query, DecodeError> {
    at_most("columns", wire.outputs.len(), OUTPUTS_MAX).at("outputs")?;
    let filter = wire.filter.map(|filter| decode_expr(Some(filter))).transpose().at("filter")?;
    let having = wire.having.map(|having| decode_expr(Some(having))).transpose().at("having")?;
    let kind = required(wire.shape).and_then(decode_shape).at("shape")?;
    let sent = decode_sent(wire.largest_groups, wire.only_keys, &kind)?;
    let query = Query {
        table: decode_table(&wire.table).at("table")?,
        range: TimeRange { from: wire.from_micros.map(Micros), to: wire.to_micros.map(Micros) },
        intervals: each("intervals", wire.intervals, decode_interval)?,
        filter,
        kind,
        outputs: each("outputs", wire.outputs, decode_output)?,
        having,
        order: each("order", wire.order, decode_order)?,
        series: wire.series.map(decode_series).transpose().at("series")?,
        totals: false,
        limit: wire.limit,
        offset: wire.offset,
        now: Micros(wire.now_micros),
        deadline: decode_deadline(wire.deadline_seconds, wire.deadline_nanos).at("deadline")?,
        require_complete: wire.require_complete,
        confidence: None,
        functions: Arc::new(decode_functions(
            (&wire.scalar_functions, &wire.function_definitions),
            &wire.aggregate_functions,
            functions,
        )?),
        sent,
    };
    check_slots(&query)?;
    Ok(query)
}

/// The functions with these names, under the same indexes.
fn decode_functions(
    (scalars, definitions): (&[String], &[String]),
    aggregates: &[String],
    functions: &FunctionRegistry,
) -> Result<FunctionRegistry, DecodeError> {
    let definitions = decode_definitions(definitions)?;
    let unknown = |name: &String| unfit(format!("function {name}"), "one that is registered here");
    let mut named = FunctionRegistry::with_host(functions.host().cloned());
    for (index, name) in scalars.iter().enumerate() {
        let function = functions.scalars().find(|function| function.name() == name);
        let function = match definitions.iter().find(|definition| definition.name == *name) {
            // In one process, a query keeps the functions that it has.
            Some(definition) if function.is_none() => {
                let made = host_of(definition, functions)?.scalar(Arc::clone(definition));
                made.map_err(|error| unfit(error.to_string(), "another one"))
            }
            _ => function.cloned().ok_or_else(|| unknown(name)),
        };
        let id = named.add_scalar(function.at_index("scalar_functions", index)?);
        if id.0 as usize != index {
            return Err(unfit(format!("{name} twice"), "each once"))
                .at_index("scalar_functions", index);
        }
    }
    for (index, name) in aggregates.iter().enumerate() {
        let aggregate = functions.aggregates().find(|aggregate| aggregate.name() == name);
        let aggregate = match definitions.iter().find(|definition| definition.name == *name) {
            Some(definition) if aggregate.is_none() => {
                let made = host_of(definition, functions)?.aggregate(Arc::clone(definition));
                made.map_err(|error| unfit(error.to_string(), "another one"))
            }
            _ => aggregate.cloned().ok_or_else(|| unknown(name)),
        };
        let id = named.add_aggregate(aggregate.at_index("aggregate_functions", index)?);
        if id.0 as usize != index {
            return Err(unfit(format!("{name} twice"), "each once"))
                .at_index("aggregate_functions", index);
        }
    }
    Ok(named)
}

/// At most as many definitions as a query has outputs: it calls no more functions.
fn decode_definitions(texts: &[String]) -> Result<Vec<Arc<FunctionDefinition>>, DecodeError> {
    at_most("definitions", texts.len(), OUTPUTS_MAX).at("function_definitions")?;
    let mut definitions = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let definition = FunctionDefinition::from_json(text)
            .map_err(|error| unfit(error.to_string(), "a definition"));
        definitions.push(Arc::new(definition.at_index("function_definitions", index)?));
    }
    Ok(definitions)
}

/// What makes a function of its definition.
fn host_of<'f>(
    definition: &FunctionDefinition,
    functions: &'f FunctionRegistry,
) -> Result<&'f Arc<dyn FunctionHost>, DecodeError> {
    functions.host().ok_or_else(|| {
        let actual = format!("function {}", definition.name);
        unfit(actual, "none: this process was started without --allow-functions")
    })
}

fn decode_shape(shape: query::Shape) -> Result<QueryKind, DecodeError> {
    match shape {
        query::Shape::Rows(rows) => {
            let values = each("values", rows.values, |value| decode_expr(Some(value)))?;
            Ok(QueryKind::Rows { values })
        }
        query::Shape::Groups(groups) => {
            at_most("keys", groups.keys.len(), GROUP_KEYS_MAX)?;
            Ok(QueryKind::Groups {
                keys: each("keys", groups.keys, |key| decode_expr(Some(key)))?,
                measures: each("measures", groups.measures, decode_measure)?,
            })
        }
    }
}

fn encode_measure(measure: &Measure) -> proto::Measure {
    let (kind, parameter) = encode_kind(measure.kind);
    let argument = Some(encode_expr(&measure.argument));
    let second = measure.second.as_ref().map(encode_expr);
    let weighting = match measure.weighting {
        Weighting::Events => proto::Weighting::Unspecified,
        Weighting::SamplingVariance => proto::Weighting::SamplingVariance,
        Weighting::Leaves(_) => proto::Weighting::Leaves,
    };
    let leaf_totals = match measure.weighting {
        Weighting::Leaves(pair) => pair.map(encode_leaf_total).to_vec(),
        Weighting::Events | Weighting::SamplingVariance => Vec::new(),
    };
    let (kind, weighting) = (kind.into(), weighting.into());
    proto::Measure { kind, argument, parameter, second, weighting, leaf_totals }
}

fn encode_leaf_total(total: LeafTotal) -> proto::LeafTotal {
    let (kind, measure) = match total {
        LeafTotal::TableRows => (proto::LeafTotalKind::TableRows, 0),
        LeafTotal::Of(Total::Rows) => (proto::LeafTotalKind::Rows, 0),
        LeafTotal::Of(Total::Count(measure)) => (proto::LeafTotalKind::Count, measure),
        LeafTotal::Of(Total::Sum(measure)) => (proto::LeafTotalKind::Sum, measure),
    };
    let measure = u32::try_from(measure).unwrap_or(u32::MAX);
    proto::LeafTotal { kind: kind.into(), measure }
}

fn decode_leaf_total(total: &proto::LeafTotal) -> Result<LeafTotal, DecodeError> {
    let measure = total.measure as usize;
    Ok(match proto::LeafTotalKind::try_from(total.kind) {
        Ok(proto::LeafTotalKind::TableRows) => LeafTotal::TableRows,
        Ok(proto::LeafTotalKind::Rows) => LeafTotal::Of(Total::Rows),
        Ok(proto::LeafTotalKind::Count) => LeafTotal::Of(Total::Count(measure)),
        Ok(proto::LeafTotalKind::Sum) => LeafTotal::Of(Total::Sum(measure)),
        Ok(proto::LeafTotalKind::Unspecified) | Err(_) => {
            return Err(DecodeErrorKind::UnknownCode(total.kind).into());
        }
    })
}

/// The weighting of measures whose pairs leaves add: two totals.
fn decode_leaf_weighting(
    kind: StateKind,
    totals: Vec<proto::LeafTotal>,
) -> Result<Weighting, DecodeError> {
    if kind != StateKind::Covariance {
        return Err(unfit(format!("{kind:?}"), "a covariance"));
    }
    let totals = each("leaf_totals", totals, |total| decode_leaf_total(&total))?;
    match <[LeafTotal; 2]>::try_from(totals) {
        Ok(pair) => Ok(Weighting::Leaves(pair)),
        Err(totals) => Err(unfit(format!("{} totals", totals.len()), "two totals")),
    }
}

fn decode_measure(measure: proto::Measure) -> Result<Measure, DecodeError> {
    let kind = decode_kind(measure.kind, measure.parameter).at("kind")?;
    let argument = decode_expr(measure.argument).at("argument")?;
    let second = measure.second.map(|second| decode_expr(Some(second))).transpose().at("second")?;
    let has_either = matches!(kind, StateKind::User(_));
    if !has_either && kind.is_of_pairs() != second.is_some() {
        let expected = if kind.is_of_pairs() { "two expressions" } else { "one expression" };
        return Err(unfit(format!("{kind:?}"), expected));
    }
    let weighting = match proto::Weighting::try_from(measure.weighting) {
        Ok(proto::Weighting::Unspecified) => Weighting::Events,
        Ok(proto::Weighting::SamplingVariance) if kind.takes_sampling_variances() => {
            Weighting::SamplingVariance
        }
        Ok(proto::Weighting::Leaves) => decode_leaf_weighting(kind, measure.leaf_totals)?,
        Ok(proto::Weighting::SamplingVariance) => {
            return Err(unfit(format!("{kind:?}"), "a variance, a covariance or quantiles"));
        }
        Err(_) => return Err(DecodeErrorKind::UnknownCode(measure.weighting).into()),
    };
    Ok(Measure { kind, argument, second, weighting })
}

fn encode_kind(kind: StateKind) -> (proto::StateKind, u32) {
    match kind {
        StateKind::Moments => (proto::StateKind::Moments, 0),
        StateKind::MinMax => (proto::StateKind::Extremes, 0),
        StateKind::Quantiles => (proto::StateKind::Quantiles, 0),
        StateKind::Distinct => (proto::StateKind::Distinct, 0),
        StateKind::Histogram(buckets) => (proto::StateKind::Histogram, u32::from(buckets)),
        StateKind::Variance => (proto::StateKind::Variance, 0),
        StateKind::Covariance => (proto::StateKind::Covariance, 0),
        StateKind::ArgMinMax => (proto::StateKind::ArgMinMax, 0),
        StateKind::TopValues => (proto::StateKind::TopValues, 0),
        StateKind::LogHistogram(base) => (proto::StateKind::LogHistogram, u32::from(base)),
        StateKind::EdgeHistogram => (proto::StateKind::EdgeHistogram, 0),
        StateKind::RandomGroups => (proto::StateKind::RandomGroups, 0),
        StateKind::User(AggregateId(index)) => (proto::StateKind::User, index),
    }
}

fn decode_kind(code: i32, parameter: u32) -> Result<StateKind, DecodeError> {
    let kind = match proto::StateKind::try_from(code) {
        Ok(proto::StateKind::Moments) => StateKind::Moments,
        Ok(proto::StateKind::Extremes) => StateKind::MinMax,
        Ok(proto::StateKind::Quantiles) => StateKind::Quantiles,
        Ok(proto::StateKind::Distinct) => StateKind::Distinct,
        Ok(proto::StateKind::Variance) => StateKind::Variance,
        Ok(proto::StateKind::Covariance) => StateKind::Covariance,
        Ok(proto::StateKind::ArgMinMax) => StateKind::ArgMinMax,
        Ok(proto::StateKind::TopValues) => StateKind::TopValues,
        Ok(proto::StateKind::EdgeHistogram) => StateKind::EdgeHistogram,
        Ok(proto::StateKind::RandomGroups) => StateKind::RandomGroups,
        Ok(proto::StateKind::LogHistogram) => {
            return decode_base(parameter).map(StateKind::LogHistogram);
        }
        Ok(proto::StateKind::Histogram) => {
            let buckets = u16::try_from(parameter).unwrap_or(u16::MAX);
            at_most("buckets", usize::from(buckets), usize::from(HISTOGRAM_BUCKETS_MAX))?;
            return match buckets {
                0 => Err(unfit("no buckets", "one or more")),
                _ => Ok(StateKind::Histogram(buckets)),
            };
        }
        Ok(proto::StateKind::User) => return Ok(StateKind::User(AggregateId(parameter))),
        Ok(proto::StateKind::Unspecified) => return Err(DecodeErrorKind::Missing.into()),
        Err(_) => return Err(DecodeErrorKind::UnknownCode(code).into()),
    };
    if parameter == 0 { Ok(kind) } else { Err(unfit(format!("parameter {parameter}"), "none")) }
}

fn encode_output(output: &Output) -> proto::Output {
    proto::Output {
        name: output.name.clone(),
        r#type: output.value_type.code(),
        expr: Some(encode_expr(&output.expr)),
    }
}

fn decode_output(output: proto::Output) -> Result<Output, DecodeError> {
    let value_type = Code::of_code(output.r#type).at("type")?;
    Ok(Output { name: output.name, value_type, expr: decode_expr(output.expr).at("expr")? })
}

fn encode_order(key: &OrderKey) -> proto::OrderKey {
    proto::OrderKey {
        expr: Some(encode_expr(&key.expr)),
        descending: key.descending,
        nulls_first: key.nulls_first,
    }
}

fn decode_order(key: proto::OrderKey) -> Result<OrderKey, DecodeError> {
    let expr = decode_expr(key.expr).at("expr")?;
    Ok(OrderKey { expr, descending: key.descending, nulls_first: key.nulls_first })
}

fn decode_series(series: proto::SeriesLimit) -> Result<SeriesLimit, DecodeError> {
    let count = decode_index(series.count).at("count")?;
    Ok(SeriesLimit { count, rank: decode_expr(series.rank).at("rank")? })
}

fn decode_deadline(seconds: u64, nanos: u32) -> Result<Duration, DecodeError> {
    if nanos < 1_000_000_000 {
        Ok(Duration::new(seconds, nanos))
    } else {
        Err(unfit(format!("{nanos} nanoseconds"), "less than a second"))
    }
}

/// Fails for a slot that names a key or a measure which the query does not have.
fn check_slots(query: &Query) -> Result<(), DecodeError> {
    check_expr(query, query.having.as_ref()).at("having")?;
    check_expr(query, query.series.as_ref().map(|series| &series.rank)).at("series")?;
    for (index, output) in query.outputs.iter().enumerate() {
        check_expr(query, Some(&output.expr)).at_index("outputs", index)?;
    }
    for (index, key) in query.order.iter().enumerate() {
        check_expr(query, Some(&key.expr)).at_index("order", index)?;
    }
    Ok(())
}

fn check_expr(query: &Query, expr: Option<&OutputExpr>) -> Result<(), DecodeError> {
    let mut checked = Ok(());
    if let Some(expr) = expr {
        expr.for_each_leaf(&mut |slot| {
            if checked.is_ok() {
                checked = check_slot(query, slot);
            }
        });
    }
    checked
}

fn check_slot(query: &Query, slot: &GroupInput) -> Result<(), DecodeError> {
    let keys = match &query.kind {
        QueryKind::Rows { values } => values.len(),
        QueryKind::Groups { keys, .. } => keys.len(),
    };
    match slot {
        GroupInput::Key(index) if *index >= keys => {
            Err(unfit(format!("key {index}"), format_args!("one of {keys}")))
        }
        GroupInput::Measure(index, finish) => match query.measures().get(*index) {
            Some(measure) if measure.kind == finish.state() => Ok(()),
            Some(measure) => {
                Err(unfit(format!("{finish:?}"), format_args!("something of {:?}", measure.kind)))
            }
            None => {
                let measures = query.measures().len();
                Err(unfit(format!("measure {index}"), format_args!("one of {measures}")))
            }
        },
        GroupInput::Key(_) | GroupInput::RawCount | GroupInput::Count | GroupInput::Seconds => {
            Ok(())
        }
    }
}
