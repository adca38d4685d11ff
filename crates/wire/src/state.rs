//! Codec of aggregation states. Numbers are exact; `from_parts` of each state checks that its parts
//! fit together.

use bytes::Bytes;
use hadal_aggregate::{
    ArgMinMax, Comoments, ComomentsParts, DISTINCT_VERSION, Distinct, DistinctParts, KeyGroup,
    QUANTILE_BUCKET_MAX, QUANTILES_VERSION, Quantiles, QuantilesParts, RandomGroups, State, Sum,
    SumParts, TopValues, TopValuesParts, UserState, WeightedCount,
};
use hadal_query::{FunctionRegistry, StateKind};
use hadal_types::limits::{
    CONFIDENCE_KEY_GROUPS, DISTINCT_EXACT_VALUES, QUANTILE_EXACT_ROWS, TOP_VALUES_EXACT,
};
use hadal_types::{Number, Weight};

use crate::error::{At, DecodeError, at_most, each, required, unfit};
use crate::histograms::{
    decode_edge_histogram, decode_histogram, decode_log_histogram, encode_edge_histogram,
    encode_histogram, encode_log_histogram,
};
use crate::numbers;
use crate::proto::{self, distinct, quantiles, state};
use crate::size_guard::MemoryLimit;
use crate::value::{
    decode_integer, decode_number, decode_value, encode_integer, encode_number, encode_value,
};

/// Encodes a state of a kind that has no column.
pub(crate) fn encode_state(state: &State) -> proto::State {
    let state = match state {
        State::Moments(_) | State::MinMax(_) => return proto::State::default(),
        State::Quantiles(quantiles) => state::State::Quantiles(encode_quantiles(quantiles)),
        State::Distinct(distinct) => state::State::Distinct(encode_distinct(distinct)),
        State::Histogram(histogram) => state::State::Histogram(encode_histogram(histogram)),
        State::Comoments(comoments) => state::State::Comoments(encode_comoments(comoments)),
        State::ArgMinMax(ends) => state::State::ArgMinMax(encode_arg_min_max(ends)),
        State::TopValues(top) => state::State::TopValues(encode_top_values(top)),
        State::LogHistogram(histogram) => {
            state::State::LogHistogram(encode_log_histogram(histogram))
        }
        State::EdgeHistogram(histogram) => {
            state::State::EdgeHistogram(encode_edge_histogram(histogram))
        }
        State::RandomGroups(groups) => state::State::RandomGroups(encode_random_groups(groups)),
        State::User(user) => {
            state::State::User(proto::UserState { state: user.encode().map(Into::into) })
        }
    };
    proto::State { state: Some(state) }
}

/// Decodes a state, which must be of this kind.
pub(crate) fn decode_state(
    state: proto::State,
    (kind, functions): (StateKind, &FunctionRegistry),
    memory: &mut MemoryLimit,
) -> Result<State, DecodeError> {
    let state = match required(state.state)? {
        state::State::Quantiles(quantiles) => {
            State::Quantiles(decode_quantiles(quantiles, memory)?)
        }
        state::State::Distinct(distinct) => State::Distinct(decode_distinct(distinct)?),
        state::State::Histogram(cells) => match kind {
            StateKind::Histogram(buckets) => State::Histogram(decode_histogram(cells, buckets)?),
            _ => return Err(unfit("Histogram", format_args!("{kind:?}"))),
        },
        state::State::Comoments(comoments) => State::Comoments(decode_comoments(comoments)?),
        state::State::ArgMinMax(ends) => State::ArgMinMax(decode_arg_min_max(ends)?),
        state::State::TopValues(top) => State::TopValues(decode_top_values(top)?),
        state::State::LogHistogram(cells) => match kind {
            StateKind::LogHistogram(base) => {
                State::LogHistogram(decode_log_histogram(cells, base)?)
            }
            _ => return Err(unfit("LogHistogram", format_args!("{kind:?}"))),
        },
        state::State::EdgeHistogram(cells) => State::EdgeHistogram(decode_edge_histogram(cells)?),
        state::State::RandomGroups(groups) => State::RandomGroups(decode_random_groups(groups)?),
        state::State::User(user) => State::User(decode_user(&user, kind, functions)?),
    };
    if state.kind() == kind {
        Ok(state)
    } else {
        Err(unfit(format!("{:?}", state.kind()), format_args!("{kind:?}")))
    }
}

/// Decodes the state of a user aggregate by its definition.
fn decode_user(
    user: &proto::UserState,
    kind: StateKind,
    functions: &FunctionRegistry,
) -> Result<UserState, DecodeError> {
    let StateKind::User(id) = kind else {
        return Err(unfit("User", format_args!("{kind:?}")));
    };
    let definition = functions.aggregate(id);
    let definition = definition
        .ok_or_else(|| unfit(format!("aggregate {}", id.0), "one that the query names"))?;
    let state = user.state.as_ref().map(|bytes| definition.decode_state(bytes));
    let state =
        state.transpose().map_err(|error| unfit(error, "a state that the aggregate wrote"))?;
    Ok(UserState::from_parts(id, state))
}

pub(crate) fn encode_sum(sum: &Sum) -> proto::Sum {
    let SumParts { decimals, doubles, overflow } = sum.to_parts();
    proto::Sum { decimals: Bytes::copy_from_slice(&decimals), doubles, overflow }
}

pub(crate) fn decode_sum(sum: proto::Sum) -> Result<Sum, DecodeError> {
    let decimals = (&*sum.decimals)
        .try_into()
        .map_err(|_| unfit(format!("{} bytes of decimals", sum.decimals.len()), "32"))?;
    let parts = SumParts { decimals, doubles: sum.doubles, overflow: sum.overflow };
    Sum::from_parts(&parts).ok_or_else(|| unfit("digits out of range", "an exact sum"))
}

fn encode_quantiles(quantiles: &Quantiles) -> proto::Quantiles {
    let quantiles = match quantiles.to_parts() {
        QuantilesParts::Exact(values) => {
            let values = values.into_iter().map(|(number, weight)| proto::WeightedNumber {
                number: Some(encode_number(number)),
                weight: weight.millionths().unsigned_abs(),
            });
            let values = values.collect();
            quantiles::Quantiles::Exact(proto::WeightedNumbers { values })
        }
        QuantilesParts::Sketch { rows, min, max, buckets, are_integers } => {
            let mut before = -QUANTILE_BUCKET_MAX;
            let steps = buckets.iter().map(|(bucket, _)| {
                let step = i128::from(bucket - std::mem::replace(&mut before, *bucket));
                step.unsigned_abs()
            });
            quantiles::Quantiles::Sketch(proto::QuantileSketch {
                rows,
                min: Some(encode_number(min)),
                max: Some(encode_number(max)),
                buckets: numbers::encode(steps),
                weights: numbers::encode(buckets.iter().map(|(_, weight)| weight.unsigned_abs())),
                version: QUANTILES_VERSION,
                are_integers,
            })
        }
    };
    proto::Quantiles { quantiles: Some(quantiles) }
}

fn decode_quantiles(
    quantiles: proto::Quantiles,
    memory: &mut MemoryLimit,
) -> Result<Quantiles, DecodeError> {
    let parts = match required(quantiles.quantiles)? {
        quantiles::Quantiles::Exact(exact) => {
            at_most("values", exact.values.len(), QUANTILE_EXACT_ROWS)?;
            QuantilesParts::Exact(each("values", exact.values, decode_weighted)?)
        }
        quantiles::Quantiles::Sketch(sketch) => {
            of_version("quantile sketch", sketch.version, QUANTILES_VERSION)?;
            QuantilesParts::Sketch {
                rows: sketch.rows,
                min: decode_number(sketch.min).at("min")?,
                max: decode_number(sketch.max).at("max")?,
                buckets: decode_buckets(&sketch.buckets, &sketch.weights, memory)?,
                are_integers: sketch.are_integers,
            }
        }
    };
    Quantiles::from_parts(parts)
        .ok_or_else(|| unfit("buckets out of order or range", "a distribution"))
}

/// Decodes the numbers of a sketch's buckets and their weights.
fn decode_buckets(
    buckets: &[u8],
    weights: &[u8],
    memory: &mut MemoryLimit,
) -> Result<Vec<(i32, i128)>, DecodeError> {
    let mut bucket = -QUANTILE_BUCKET_MAX;
    let next = |step: u128| {
        bucket = bucket.checked_add(i32::try_from(step).ok()?)?;
        (bucket <= QUANTILE_BUCKET_MAX).then_some(bucket)
    };
    let count = numbers::count(buckets);
    let buckets = numbers::decode(buckets, count, memory, next).at("buckets")?;
    let mut buckets = buckets.into_iter();
    let weighted = |weight| Some((buckets.next()?, i128::try_from(weight).ok()?));
    numbers::decode(weights, count, memory, weighted).at("weights")
}

fn decode_weighted(value: proto::WeightedNumber) -> Result<(Number, Weight), DecodeError> {
    let number = decode_number(value.number).at("number")?;
    let weight = i64::try_from(value.weight).ok().and_then(Weight::from_millionths);
    let weight = weight.ok_or_else(|| {
        let expected = format_args!("1 to {}", Weight::MILLIONTHS_MAX);
        unfit(format!("a weight of {} millionths", value.weight), expected)
    })?;
    Ok((number, weight))
}

fn encode_distinct(distinct: &Distinct) -> proto::Distinct {
    let distinct = match distinct.to_parts() {
        DistinctParts::Exact(hashes) => distinct::Distinct::Exact(proto::Hashes { hashes }),
        DistinctParts::Registers(registers) => distinct::Distinct::Registers(registers.into()),
    };
    proto::Distinct { distinct: Some(distinct), version: DISTINCT_VERSION }
}

/// Fails if a sketch has a version that this release does not know.
fn of_version(what: &str, version: u32, supported: u32) -> Result<(), DecodeError> {
    let unknown = || unfit(format_args!("{what} version {version}"), format_args!("{supported}"));
    if version == supported { Ok(()) } else { Err(unknown()).at("version") }
}

fn decode_distinct(distinct: proto::Distinct) -> Result<Distinct, DecodeError> {
    of_version("distinct set", distinct.version, DISTINCT_VERSION)?;
    let parts = match required(distinct.distinct)? {
        distinct::Distinct::Exact(proto::Hashes { hashes }) => {
            at_most("hashes", hashes.len(), DISTINCT_EXACT_VALUES)?;
            if !hashes.is_sorted_by(|left, right| left < right) {
                return Err(unfit("hashes out of order", "ascending hashes, each once"));
            }
            DistinctParts::Exact(hashes)
        }
        distinct::Distinct::Registers(registers) => DistinctParts::Registers(registers.into()),
    };
    Distinct::from_parts(parts)
        .ok_or_else(|| unfit("registers of another number or size", "a set of hashes"))
}

fn encode_comoments(comoments: &Comoments) -> proto::Comoments {
    let ComomentsParts { count, sums } = comoments.to_parts();
    let sums = sums.into_iter().map(|[decimals, doubles]| proto::ExactSum {
        decimals: decimals.into(),
        doubles: doubles.into(),
    });
    proto::Comoments {
        rows: count.rows(),
        weight: Some(encode_integer(count.weight())),
        weight_squares: Some(encode_integer(count.weight_squares())),
        sums: sums.collect(),
    }
}

fn decode_count(
    rows: u64,
    weight: Option<proto::Int128>,
    squares: Option<proto::Int128>,
) -> Result<WeightedCount, DecodeError> {
    let weight = decode_integer(weight).at("weight")?;
    let squares = decode_integer(squares).at("weight_squares")?;
    WeightedCount::from_parts(rows, weight, squares)
        .ok_or_else(|| unfit("a negative sum, or weights without rows", "a count of rows"))
}

fn encode_random_groups(groups: &RandomGroups) -> proto::RandomGroups {
    let group = |(index, KeyGroup { count, sum }): (u8, &KeyGroup)| proto::RandomGroup {
        index: index.into(),
        rows: count.rows(),
        weight: Some(encode_integer(count.weight())),
        weight_squares: Some(encode_integer(count.weight_squares())),
        sum: Some(encode_sum(sum)),
    };
    proto::RandomGroups { groups: groups.groups().map(group).collect() }
}

fn decode_random_groups(message: proto::RandomGroups) -> Result<RandomGroups, DecodeError> {
    at_most("groups", message.groups.len(), CONFIDENCE_KEY_GROUPS)?;
    let groups = each("groups", message.groups, |group| {
        let index = u8::try_from(group.index).unwrap_or(u8::MAX);
        let count = decode_count(group.rows, group.weight, group.weight_squares)?;
        Ok((index, KeyGroup { count, sum: decode_sum(required(group.sum)?).at("sum")? }))
    })?;
    RandomGroups::from_groups(groups)
        .ok_or_else(|| unfit("groups out of order or without rows", "ascending groups with rows"))
}

fn decode_comoments(message: proto::Comoments) -> Result<Comoments, DecodeError> {
    let count = decode_count(message.rows, message.weight, message.weight_squares)?;
    let sums = message.sums.into_iter().map(|sum| [sum.decimals.into(), sum.doubles.into()]);
    Comoments::from_parts(&ComomentsParts { count, sums: sums.collect() })
        .ok_or_else(|| unfit("sums of another number or size", "two or five exact sums"))
}

fn encode_arg_min_max(ends: &ArgMinMax) -> proto::ArgMinMax {
    let Some((first, last)) = ends.ends() else { return proto::ArgMinMax::default() };
    proto::ArgMinMax {
        min_key: Some(encode_value(&first.0)),
        at_min: Some(encode_value(&first.1)),
        max_key: Some(encode_value(&last.0)),
        at_max: Some(encode_value(&last.1)),
    }
}

fn decode_arg_min_max(message: proto::ArgMinMax) -> Result<ArgMinMax, DecodeError> {
    let value = |value: Option<proto::Value>| required(value).and_then(decode_value);
    let ends = match message == proto::ArgMinMax::default() {
        true => None,
        false => Some((
            (value(message.min_key).at("min_key")?, value(message.at_min).at("at_min")?),
            (value(message.max_key).at("max_key")?, value(message.at_max).at("at_max")?),
        )),
    };
    ArgMinMax::from_parts(ends).ok_or_else(|| {
        unfit("ends upside down or of null", "values at the smallest and largest key")
    })
}

fn encode_top_values(top: &TopValues) -> proto::TopValues {
    let TopValuesParts { weights, error } = top.to_parts();
    let values = weights.iter().map(|(value, weight)| proto::WeightedValue {
        value: Some(encode_value(value)),
        weight: Some(encode_integer(*weight)),
    });
    proto::TopValues { values: values.collect(), error: Some(encode_integer(error)) }
}

fn decode_top_values(message: proto::TopValues) -> Result<TopValues, DecodeError> {
    at_most("values", message.values.len(), TOP_VALUES_EXACT)?;
    let weights = each("values", message.values, |entry| {
        let value = required(entry.value).and_then(decode_value).at("value")?;
        Ok((value, decode_integer(entry.weight).at("weight")?))
    })?;
    let error = decode_integer(message.error).at("error")?;
    TopValues::from_parts(TopValuesParts { weights, error })
        .ok_or_else(|| unfit("values out of order or without weight", "ascending values"))
}

#[cfg(test)]
mod tests;
