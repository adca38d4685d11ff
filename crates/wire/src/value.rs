//! Codec of values, numbers and names.

use std::sync::Arc;

use hadal_types::limits::{HISTOGRAM_BUCKETS_MAX, LIST_ELEMENTS_MAX, NAME_BYTES_MAX};
use hadal_types::value::HistogramBucket;
use hadal_types::{
    BatchId, ColumnName, Decimal, LeafName, Micros, Number, NumberRepr, TableName, TableSettings,
    Value,
};

use crate::error::{At, DecodeError, at_most, each, required, unfit};
use crate::proto::{self, number, value};

/// The low and the high half of an integer.
fn halves(integer: i128) -> (u64, i64) {
    let low = u64::try_from(integer & i128::from(u64::MAX)).unwrap_or_default();
    (low, i64::try_from(integer >> 64).unwrap_or_default())
}

fn of_halves(low: u64, high: i64) -> i128 {
    (i128::from(high) << 64) | i128::from(low)
}

pub(crate) fn encode_integer(integer: i128) -> proto::Int128 {
    let (low, high) = halves(integer);
    proto::Int128 { low, high }
}

pub(crate) fn decode_integer(integer: Option<proto::Int128>) -> Result<i128, DecodeError> {
    required(integer).map(|integer| of_halves(integer.low, integer.high))
}

pub(crate) fn encode_number(number: Number) -> proto::Number {
    let number = match number.form() {
        NumberRepr::Decimal(decimal) => {
            let (low, high) = halves(decimal.mantissa());
            let scale = u32::from(decimal.scale());
            number::Number::Decimal(proto::Decimal { low, high, scale })
        }
        NumberRepr::Double(double) => number::Number::Double(double),
    };
    proto::Number { number: Some(number) }
}

/// Decodes a number, which must be canonical: otherwise it would not group with equal numbers.
pub(crate) fn decode_number(number: Option<proto::Number>) -> Result<Number, DecodeError> {
    match required(required(number)?.number)? {
        number::Number::Decimal(wire) => {
            let mantissa = of_halves(wire.low, wire.high);
            u8::try_from(wire.scale)
                .ok()
                .and_then(|scale| Decimal::new(mantissa, scale))
                .filter(|decimal| u32::from(decimal.scale()) == wire.scale)
                .map(Number::from)
                .filter(|number| matches!(number.form(), NumberRepr::Decimal(_)))
                .ok_or_else(|| {
                    let decimal = format!("{mantissa} of scale {}", wire.scale);
                    unfit(decimal, "a decimal in lowest terms of scale 0 to 36 that is no double")
                })
        }
        number::Number::Double(double) => {
            let number = Number::from_f64(double)
                .ok_or_else(|| unfit(format!("double {double}"), "a finite double"))?;
            match number.form() {
                NumberRepr::Double(_) => Ok(number),
                NumberRepr::Decimal(_) => Err(unfit(format!("double {double:e}"), "a decimal")),
            }
        }
    }
}

pub(crate) fn encode_value(value: &Value) -> proto::Value {
    let value = match value {
        Value::Null => value::Value::Null(proto::Empty {}),
        Value::Bool(truth) => value::Value::Bool(*truth),
        Value::Number(number) => value::Value::Number(encode_number(*number)),
        Value::Time(time) => value::Value::TimeMicros(time.0),
        Value::String(text) => value::Value::String(text.to_string()),
        Value::Set(elements) => value::Value::Set(encode_strings(elements)),
        Value::Vector(elements) => value::Value::Vector(encode_strings(elements)),
        Value::Histogram(buckets) => {
            let buckets = buckets.iter().map(encode_bucket).collect();
            value::Value::Histogram(proto::Histogram { buckets })
        }
    };
    proto::Value { value: Some(value) }
}

pub(crate) fn decode_value(value: proto::Value) -> Result<Value, DecodeError> {
    Ok(match required(value.value)? {
        value::Value::Null(proto::Empty {}) => Value::Null,
        value::Value::Bool(truth) => Value::Bool(truth),
        value::Value::Number(number) => Value::Number(decode_number(Some(number))?),
        value::Value::TimeMicros(micros) => Value::Time(Micros(micros)),
        value::Value::String(text) => Value::String(text.into()),
        value::Value::Set(set) => {
            let elements = decode_strings(set)?;
            if !elements.is_sorted_by(|left, right| left < right) {
                return Err(unfit("a set out of order", "ascending elements, each once"));
            }
            Value::Set(elements)
        }
        value::Value::Vector(vector) => Value::Vector(decode_strings(vector)?),
        value::Value::Histogram(histogram) => {
            let (buckets, most) = (histogram.buckets.len(), usize::from(HISTOGRAM_BUCKETS_MAX));
            at_most("buckets", buckets, most)?;
            Value::Histogram(each("buckets", histogram.buckets, decode_bucket)?.into())
        }
    })
}

fn encode_strings(elements: &[Arc<str>]) -> proto::Strings {
    proto::Strings { elements: elements.iter().map(ToString::to_string).collect() }
}

fn decode_strings(strings: proto::Strings) -> Result<Arc<[Arc<str>]>, DecodeError> {
    at_most("elements", strings.elements.len(), LIST_ELEMENTS_MAX)?;
    Ok(strings.elements.into_iter().map(Arc::from).collect())
}

fn encode_bucket(bucket: &HistogramBucket) -> proto::HistogramBucket {
    proto::HistogramBucket {
        from: Some(encode_number(bucket.from)),
        to: Some(encode_number(bucket.to)),
        count: Some(encode_number(bucket.count)),
    }
}

fn decode_bucket(bucket: proto::HistogramBucket) -> Result<HistogramBucket, DecodeError> {
    Ok(HistogramBucket {
        from: decode_number(bucket.from).at("from")?,
        to: decode_number(bucket.to).at("to")?,
        count: decode_number(bucket.count).at("count")?,
    })
}

pub(crate) fn decode_table(name: &str) -> Result<TableName, DecodeError> {
    TableName::new(name).map_err(|error| unfit(error, "a table name"))
}

pub(crate) fn decode_settings(text: &str) -> Result<TableSettings, DecodeError> {
    TableSettings::from_json(text).map_err(|error| unfit(error, "settings of a table"))
}

pub(crate) fn decode_column(name: &str) -> Result<ColumnName, DecodeError> {
    ColumnName::new(name).map_err(|error| unfit(error, "a column name"))
}

pub(crate) fn decode_batch_id(id: &str) -> Result<BatchId, DecodeError> {
    BatchId::new(id).ok_or_else(|| {
        unfit(format!("{id:?}"), format_args!("1 to {NAME_BYTES_MAX} visible ASCII characters"))
    })
}

/// Decodes a leaf's name, which may be any text but the empty one.
pub(crate) fn decode_leaf_name(name: String) -> Result<LeafName, DecodeError> {
    at_most("bytes", name.len(), NAME_BYTES_MAX)?;
    if name.is_empty() { Err(unfit("no text", "a leaf's name")) } else { Ok(LeafName(name.into())) }
}

#[cfg(test)]
mod tests;
