//! Values as texts of PostgreSQL.

use std::fmt::Write;
use std::sync::Arc;

use hadal_types::value::HistogramBucket;
use hadal_types::{Micros, Value};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::column_type::ColumnType;

/// Appends the value as a text of this type. Null has no text.
pub(crate) fn write_value(
    text: &mut String,
    value: &Value,
    column_type: ColumnType,
    zone: &TimeZone,
) {
    // Writing to a string does not fail.
    let _ = match value {
        Value::Bool(true) => text.write_str("t"),
        Value::Bool(false) => text.write_str("f"),
        Value::Number(number) => match column_type {
            ColumnType::Bool if number.to_i64() == Some(0) => text.write_str("f"),
            ColumnType::Bool => text.write_str("t"),
            _ => write!(text, "{number}"),
        },
        Value::Time(time) => write_time(text, *time, zone),
        Value::Set(elements) | Value::Vector(elements) => write_array(text, elements),
        Value::Histogram(buckets) => write_histogram(text, buckets),
        Value::String(string) => text.write_str(string),
        Value::Null => Ok(()),
    };
}

/// `2026-11-21 03:51:42.5+00`: ISO style, in the zone of the session.
fn write_time(text: &mut String, time: Micros, zone: &TimeZone) -> std::fmt::Result {
    let Ok(timestamp) = Timestamp::from_microsecond(time.0) else {
        return write!(text, "{time}");
    };
    let offset = zone.to_offset(timestamp);
    let local = offset.to_datetime(timestamp);
    let (date, clock) = (local.date(), local.time());
    write!(text, "{date} {:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())?;
    let micros = clock.subsec_nanosecond() / 1_000;
    if micros != 0 {
        let digits = format!("{micros:06}");
        write!(text, ".{}", digits.trim_end_matches('0'))?;
    }
    let seconds = offset.seconds();
    let (hours, rest) = (seconds.abs() / 3_600, seconds.abs() % 3_600);
    write!(text, "{}{hours:02}", if seconds < 0 { '-' } else { '+' })?;
    if rest != 0 {
        write!(text, ":{:02}", rest / 60)?;
    }
    if rest % 60 != 0 {
        write!(text, ":{:02}", rest % 60)?;
    }
    Ok(())
}

/// `{a,"b c",NULL}` with the quotes that PostgreSQL writes.
fn write_array(text: &mut String, elements: &[Arc<str>]) -> std::fmt::Result {
    text.write_char('{')?;
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            text.write_char(',')?;
        }
        let is_special = |c: char| "{},\"\\".contains(c) || c.is_ascii_whitespace();
        let needs_quotes = element.is_empty()
            || element.eq_ignore_ascii_case("null")
            || element.contains(is_special);
        if !needs_quotes {
            text.write_str(element)?;
            continue;
        }
        text.write_char('"')?;
        for character in element.chars() {
            if matches!(character, '"' | '\\') {
                text.write_char('\\')?;
            }
            text.write_char(character)?;
        }
        text.write_char('"')?;
    }
    text.write_char('}')
}

/// `[{"from":0,"to":10,"count":3}]`.
fn write_histogram(text: &mut String, buckets: &[HistogramBucket]) -> std::fmt::Result {
    text.write_char('[')?;
    for (index, HistogramBucket { from, to, count }) in buckets.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(text, "{comma}{{\"from\":{from},\"to\":{to},\"count\":{count}}}")?;
    }
    text.write_char(']')
}

#[cfg(test)]
mod tests {
    use hadal_types::time::parse_timestamp;

    use super::*;

    fn text_in(value: &Value, zone: &TimeZone) -> String {
        let mut text = String::new();
        write_value(&mut text, value, ColumnType::Text, zone);
        text
    }

    fn text(value: &Value) -> String {
        text_in(value, &TimeZone::UTC)
    }

    #[test]
    fn values_are_written_as_postgresql_writes_them() {
        assert_eq!(text(&Value::Bool(true)), "t");
        assert_eq!(text(&Value::integer(-7)), "-7");
        assert_eq!(
            text(&Value::vector(["a", "b c", "", "null", "q\"\\", "é"])),
            r#"{a,"b c","","null","q\"\\",é}"#
        );
        assert_eq!(text(&Value::set::<&str>([])), "{}");
    }

    #[test]
    fn times_are_in_the_zone_of_the_session() {
        let time = |text: &str| Value::Time(parse_timestamp(text).expect("a time"));
        assert_eq!(text(&time("2026-11-21T03:51:42Z")), "2026-11-21 03:51:42+00");
        assert_eq!(text(&time("2026-11-21T03:51:42.5Z")), "2026-11-21 03:51:42.5+00");
        assert_eq!(text(&time("0001-01-01")), "0001-01-01 00:00:00+00");
        let berlin = TimeZone::get("Europe/Berlin").expect("a zone");
        assert_eq!(text_in(&time("2026-07-01T00:00:00Z"), &berlin), "2026-07-01 02:00:00+02");
        let kolkata = TimeZone::get("Asia/Kolkata").expect("a zone");
        assert_eq!(text_in(&time("2026-07-01T00:00:00Z"), &kolkata), "2026-07-01 05:30:00+05:30");
    }
}
