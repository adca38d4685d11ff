//! Functions of times that need a calendar or a time zone.

use hadal_types::{Micros, Value};
use jiff::Span;

use crate::calendar_buckets::CalendarBuckets;
use crate::string_limit::{self, StringTooLong};
use crate::time_zone::{self, Fold};

/// A function of a time that needs a calendar. Null for times outside the years 1 to 9999, and for
/// unknown time zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CalendarFunction {
    /// What a wall clock shows at a time, as if that were UTC. The second argument names its time
    /// zone.
    WallClock,
    /// The time at which a wall clock shows the first argument. The second argument names its time
    /// zone. Of a time that is skipped, what it would be without the change; of a time that comes
    /// twice, the second.
    FromWallClock,
    /// A time plus a number of months in UTC. A day that the month does not have becomes its last
    /// day.
    AddMonths,
    /// The start of the [`CalendarBuckets`] bucket that contains a time. Further arguments: months,
    /// microseconds, name of the time zone.
    Bucket,
    /// A time in the format of the second argument, with the specifiers of `strftime`; null for
    /// unknown ones.
    Format,
}

/// Computes `function` of `arguments`; a wrong number or wrong types of arguments give null.
///
/// # Errors
/// [`StringTooLong`], only from `Format`.
pub(crate) fn eval(
    function: CalendarFunction,
    arguments: &[Value],
) -> Result<Value, StringTooLong> {
    let Some((Value::Time(time), rest)) = arguments.split_first() else { return Ok(Value::Null) };
    let time = match (function, rest) {
        (CalendarFunction::WallClock, [zone]) => {
            time_zone::of_value(zone).and_then(|zone| zone.wall_clock(*time))
        }
        (CalendarFunction::FromWallClock, [zone]) => {
            time_zone::of_value(zone).and_then(|zone| zone.time_of(*time, Fold::Second))
        }
        (CalendarFunction::AddMonths, [Value::Number(months)]) => {
            months.to_i64().and_then(|months| add_months(*time, months))
        }
        (CalendarFunction::Bucket, rest) => {
            CalendarBuckets::of_arguments(rest).and_then(|buckets| buckets.start(*time))
        }
        (CalendarFunction::Format, [Value::String(format)]) => {
            return formatted(*time, format).map_or(Ok(Value::Null), string_limit::checked);
        }
        _ => None,
    };
    Ok(time.map_or(Value::Null, Value::Time))
}

fn add_months(time: Micros, months: i64) -> Option<Micros> {
    let span = Span::new().try_months(months).ok()?;
    time_zone::of_civil(time_zone::civil(time)?.checked_add(span).ok()?)
}

fn formatted(time: Micros, format: &str) -> Option<String> {
    jiff::fmt::strtime::format(format, time_zone::civil(time)?).ok()
}

/// Whether `format` has only specifiers that a time without zone can fill.
#[must_use]
pub fn is_time_format(format: &str) -> bool {
    formatted(Micros(0), format).is_some()
}

/// The time that a text spells; see [`hadal_types::time::parse_timestamp`].
pub(crate) fn to_time(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => hadal_types::time::parse_timestamp(text).map(Value::Time),
        Value::Time(_) => Some(value.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Function, eval_scalar};

    fn call(function: CalendarFunction, time: &str, rest: &[Value]) -> String {
        let time = to_time(&Value::string(time)).expect(time);
        let arguments: Vec<Value> = std::iter::once(time).chain(rest.iter().cloned()).collect();
        eval_scalar(Function::Calendar(function), &arguments).expect("short").to_string()
    }

    #[test]
    fn months_end_where_the_calendar_ends_them() {
        let add = |time, months| call(CalendarFunction::AddMonths, time, &[Value::integer(months)]);
        assert_eq!(add("2024-01-31 10:00", 1), "2024-02-29T10:00:00Z");
        assert_eq!(add("2024-02-29", 12), "2025-02-28T00:00:00Z");
        assert_eq!(add("2024-03-31", -1), "2024-02-29T00:00:00Z");
        assert_eq!(add("9999-12-31", 1), "null");
        assert_eq!(add("0001-01-01", -1), "null");
        assert_eq!(add("2024-01-31", i64::MAX), "null");
    }

    #[test]
    fn times_are_formatted() {
        let format = |format| {
            call(CalendarFunction::Format, "2026-03-09 05:06:07.5", &[Value::string(format)])
        };
        assert_eq!(format("%d.%m.%Y %H:%M:%S %a %j %%"), "09.03.2026 05:06:07 Mon 068 %");
        assert_eq!(format("%3f"), "500");
        assert_eq!(format("%Z"), "null");
        assert!(is_time_format("%Y") && !is_time_format("%z") && !is_time_format("%"));
    }

    #[test]
    fn an_unknown_zone_is_null() {
        let atlantis = [Value::string("Europe/Atlantis")];
        assert_eq!(call(CalendarFunction::WallClock, "2026-01-01", &atlantis), "null");
        assert_eq!(call(CalendarFunction::WallClock, "2026-01-01", &[Value::Null]), "null");
    }
}
