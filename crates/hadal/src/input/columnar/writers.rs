//! Writers of all Arrow types as JSON. The writer of an array is chosen once per batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::cell_writer::{CellWriter, Setting, Write, always};
use super::losses::{Loss, Losses};
use super::{nested, numbers, times};

/// The writer of an array. Cells that are null in `outer` are null too.
pub(super) fn cell_writer(
    array: &ArrayRef,
    outer: Option<&NullBuffer>,
    setting: Setting,
) -> CellWriter {
    let nulls = NullBuffer::union(array.logical_nulls().as_ref(), outer);
    CellWriter::new(nulls, writer(array, setting))
}

/// The writer of an array within another one.
fn inner_cell_writer(array: &ArrayRef, setting: Setting) -> CellWriter {
    cell_writer(array, None, setting)
}

fn writer(array: &ArrayRef, setting: Setting) -> Write {
    match array.data_type() {
        DataType::Null => Box::new(|_, _, _| false),
        DataType::Boolean => {
            let truths = array.as_boolean().values().clone();
            always(move |row, out, _| numbers::push_json(&truths.value(row), out))
        }
        DataType::Int8 => signed::<Int8Type>(array),
        DataType::Int16 => signed::<Int16Type>(array),
        DataType::Int32 => signed::<Int32Type>(array),
        DataType::Int64 => signed::<Int64Type>(array),
        DataType::UInt8 => unsigned::<UInt8Type>(array),
        DataType::UInt16 => unsigned::<UInt16Type>(array),
        DataType::UInt32 => unsigned::<UInt32Type>(array),
        DataType::UInt64 => unsigned::<UInt64Type>(array),
        DataType::Float16 => primitive::<Float16Type>(array, move |value, out, losses| {
            numbers::double(value.to_f32(), setting, out, losses)
        }),
        DataType::Float32 => primitive::<Float32Type>(array, move |value, out, losses| {
            numbers::double(value, setting, out, losses)
        }),
        DataType::Float64 => primitive::<Float64Type>(array, move |value, out, losses| {
            numbers::double(value, setting, out, losses)
        }),
        &DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, scale, setting),
        &DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, scale, setting),
        &DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, scale, setting),
        &DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(array, scale, setting),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => texts(array, setting),
        DataType::Timestamp(..)
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Duration(_)
        | DataType::Interval(_) => moments(array, setting),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => nested::lists(array, setting, inner_cell_writer),
        DataType::Struct(_) => nested::objects(array, setting, inner_cell_writer),
        DataType::Map(..) => nested::maps(array, setting, inner_cell_writer),
        DataType::Union(..) => nested::unions(array, setting, inner_cell_writer),
        DataType::Dictionary(..) => nested::dictionary(array, setting, inner_cell_writer),
        DataType::RunEndEncoded(..) => nested::runs(array, setting, inner_cell_writer),
    }
}

fn primitive<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    write: impl Fn(T::Native, &mut Vec<u8>, &mut Losses) -> bool + Send + 'static,
) -> Write {
    let values = array.as_primitive::<T>().values().clone();
    Box::new(move |row, out, losses| write(values[row], out, losses))
}

fn signed<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef) -> Write {
    primitive::<T>(array, |value, out, _| {
        let value: i64 = value.into();
        numbers::push_json(&value, out);
        true
    })
}

fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(array: &ArrayRef) -> Write {
    primitive::<T>(array, |value, out, _| {
        let value: u64 = value.into();
        numbers::push_json(&value, out);
        true
    })
}

fn decimal<T: DecimalType<Native: ToString>>(
    array: &ArrayRef,
    scale: i8,
    setting: Setting,
) -> Write {
    primitive::<T>(array, move |value, out, losses| {
        numbers::decimal(&value.to_string(), scale, setting, out, losses);
        true
    })
}

fn texts(array: &ArrayRef, setting: Setting) -> Write {
    macro_rules! each {
        ($typed:expr, $write:expr) => {{
            let (typed, write) = ($typed.clone(), $write);
            always(move |row, out, losses| write(typed.value(row), out, losses))
        }};
    }
    let text = |text: &str, out: &mut Vec<u8>, _: &mut Losses| numbers::push_json(text, out);
    match array.data_type() {
        DataType::Utf8 => each!(array.as_string::<i32>(), text),
        DataType::LargeUtf8 => each!(array.as_string::<i64>(), text),
        DataType::Utf8View => each!(array.as_string_view(), text),
        DataType::LargeBinary => each!(array.as_binary::<i64>(), bytes),
        DataType::BinaryView => each!(array.as_binary_view(), bytes),
        DataType::FixedSizeBinary(16) if setting.is_uuid => {
            each!(array.as_fixed_size_binary(), uuid)
        }
        DataType::FixedSizeBinary(_) => each!(array.as_fixed_size_binary(), hexadecimal),
        _ => each!(array.as_binary::<i32>(), bytes),
    }
}

/// Writes bytes as text if they are UTF-8, otherwise as hexadecimal digits.
fn bytes(bytes: &[u8], out: &mut Vec<u8>, losses: &mut Losses) {
    match std::str::from_utf8(bytes) {
        Ok(text) => numbers::push_json(text, out),
        Err(_) => {
            losses.add(Loss::Bytes);
            hexadecimal(bytes, out, losses);
        }
    }
}

/// Writes `"\\x00ff"`, PostgreSQL's spelling of bytes.
fn hexadecimal(bytes: &[u8], out: &mut Vec<u8>, _: &mut Losses) {
    out.extend_from_slice(b"\"\\\\x");
    push_hexadecimal(bytes, out);
    out.push(b'"');
}

fn uuid(bytes: &[u8], out: &mut Vec<u8>, _: &mut Losses) {
    out.push(b'"');
    let mut rest = bytes;
    for length in [4, 2, 2, 2, 6] {
        let part;
        (part, rest) = rest.split_at(length);
        push_hexadecimal(part, out);
        out.push(if rest.is_empty() { b'"' } else { b'-' });
    }
}

fn push_hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn moments(array: &ArrayRef, setting: Setting) -> Write {
    match array.data_type() {
        DataType::Timestamp(unit, zone) => timestamps(array, *unit, zone.is_some(), setting),
        DataType::Date32 => primitive::<Date32Type>(array, |day, out, losses| {
            times::date(day.into(), out, losses);
            true
        }),
        DataType::Date64 => primitive::<Date64Type>(array, move |value, out, losses| {
            match (value.div_euclid(86_400_000), value.rem_euclid(86_400_000)) {
                (day, 0) => times::date(day, out, losses),
                _ => {
                    times::timestamp(value, TimeUnit::Millisecond, false, setting, out, losses);
                }
            }
            true
        }),
        DataType::Duration(unit) => durations(array, *unit),
        DataType::Interval(unit) => intervals(array, *unit),
        _ => clocks(array),
    }
}

fn timestamps(array: &ArrayRef, unit: TimeUnit, has_zone: bool, setting: Setting) -> Write {
    let write = move |value, out: &mut Vec<u8>, losses: &mut Losses| {
        times::timestamp(value, unit, has_zone, setting, out, losses);
        true
    };
    match unit {
        TimeUnit::Second => primitive::<TimestampSecondType>(array, write),
        TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(array, write),
        TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, write),
        TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(array, write),
    }
}

fn durations(array: &ArrayRef, unit: TimeUnit) -> Write {
    let write = move |value, out: &mut Vec<u8>, _: &mut Losses| {
        times::duration(value, unit, out);
        true
    };
    match unit {
        TimeUnit::Second => primitive::<DurationSecondType>(array, write),
        TimeUnit::Millisecond => primitive::<DurationMillisecondType>(array, write),
        TimeUnit::Microsecond => primitive::<DurationMicrosecondType>(array, write),
        TimeUnit::Nanosecond => primitive::<DurationNanosecondType>(array, write),
    }
}

/// Times of day.
fn clocks(array: &ArrayRef) -> Write {
    fn of<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef, unit: TimeUnit) -> Write {
        primitive::<T>(array, move |value, out, _| {
            times::clock(value.into(), unit, out);
            true
        })
    }
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => of::<Time32SecondType>(array, TimeUnit::Second),
        DataType::Time32(_) => of::<Time32MillisecondType>(array, TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond) => {
            of::<Time64MicrosecondType>(array, TimeUnit::Microsecond)
        }
        _ => of::<Time64NanosecondType>(array, TimeUnit::Nanosecond),
    }
}

fn intervals(array: &ArrayRef, unit: IntervalUnit) -> Write {
    match unit {
        IntervalUnit::YearMonth => primitive::<IntervalYearMonthType>(array, |months, out, _| {
            times::interval(months, 0, 0, out);
            true
        }),
        IntervalUnit::DayTime => primitive::<IntervalDayTimeType>(array, |interval, out, _| {
            let nanoseconds = i64::from(interval.milliseconds) * 1_000_000;
            times::interval(0, interval.days, nanoseconds, out);
            true
        }),
        IntervalUnit::MonthDayNano => {
            primitive::<IntervalMonthDayNanoType>(array, |interval, out, _| {
                times::interval(interval.months, interval.days, interval.nanoseconds, out);
                true
            })
        }
    }
}
