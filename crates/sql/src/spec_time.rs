//! The times of a query in JSON: its range, its time bucket, and the earlier range that it is
//! compared with.
//!
//! A comparison is one query over both ranges. Its time bucket is the plain one; the columns
//! `side` and `time` are made of it, the time of the earlier side moved forward. So series are
//! ranked over both sides together, and the engine knows nothing of comparisons. For that, the
//! buckets of both sides must fit on each other: the shift is a multiple of the bucket, and the
//! range begins where a bucket does.

use hadal_types::time::parse_timestamp;
use hadal_types::{Micros, Number, TableSchema};

use crate::QuerySpec;
use crate::duration::{NotADuration, parse_duration};
use crate::error::{Fault, NOWHERE, Read, SqlError};
use crate::literal::time_of_number;
use crate::spec::field_error;
use crate::time_function::bucket_start;

/// What the times of a spec are in SQL. Each text comes with the field that it belongs to.
pub(crate) struct Times {
    /// The columns before all others.
    pub(crate) items: Vec<(String, String)>,
    /// The conditions on time.
    pub(crate) conditions: Vec<(String, String)>,
    /// The time bucket to group by.
    pub(crate) bucket: Option<String>,
    pub(crate) is_compared: bool,
}

/// A moment, and how it is spelled in SQL.
struct Moment {
    at: Micros,
    sql: String,
}

/// Buckets that `auto` makes at most.
const BUCKETS_AUTO: i64 = 300;
/// Widths that people can read, in microseconds.
const WIDTHS: [i64; 27] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
];
const SECOND: i64 = Micros::SECOND;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The times of `spec`, of a table whose time column is called `time`.
pub(crate) fn times(
    spec: &QuerySpec,
    time: &str,
    table: Option<&TableSchema>,
    now: Micros,
) -> Result<Times, SqlError> {
    let from = moment("from", spec.from.as_deref(), now)?;
    let to = moment("to", spec.to.as_deref(), now)?;
    if let (Some(from), Some(to)) = (&from, &to)
        && from.at > to.at
    {
        let message = format!("it is before from, {}", from.at);
        return Err(field_error("to", Fault::new(message, NOWHERE)));
    }
    if spec.compare.is_some() {
        return compared(spec, time, from, to, now);
    }
    let width = match spec.bucket.as_deref() {
        Some("auto") => Some(auto_width(length(from.as_ref(), to.as_ref(), table, now), None)?),
        Some(text) => Some(given_width(text)?),
        None => None,
    };
    let bucket = width.map(|width| bucket_sql(width, time));
    let item = bucket.iter().map(|sql| ("bucket".to_owned(), format!("{sql} AS time")));
    let condition = |field: &str, sign: &str, moment: Option<Moment>| {
        moment.map(|moment| (field.to_owned(), format!("{time} {sign} {}", moment.sql)))
    };
    let conditions = condition("from", ">=", from).into_iter().chain(condition("to", "<", to));
    Ok(Times {
        items: item.collect(),
        conditions: conditions.collect(),
        bucket,
        is_compared: false,
    })
}

/// The times of a comparison.
fn compared(
    spec: &QuerySpec,
    time: &str,
    from: Option<Moment>,
    to: Option<Moment>,
    now: Micros,
) -> Result<Times, SqlError> {
    let error = |fault: Fault| field_error("compare", fault);
    let shift = spec.compare.as_ref().map_or("", |compare| compare.shift.as_str());
    let shift = duration(shift).map_err(error)?;
    let to = to.map_or(now, |to| to.at);
    let Some(from) = from.map(|from| from.at).filter(|from| *from < to) else {
        return Err(error(Fault::new("a comparison needs a time range; from is missing", NOWHERE)));
    };
    let width = match spec.bucket.as_deref() {
        Some("auto") => Some(auto_width(to.0 - from.0, Some(shift))?),
        Some(text) => Some(given_width(text)?),
        None => None,
    };
    let from = width.map_or(from, |width| bucket_start(width, from));
    if shift < to.0 - from.0 {
        let fault = Fault::new("the shift is shorter than the time range", NOWHERE);
        return Err(error(fault.hint("a day can be compared with the day before, or any earlier")));
    }
    if width.is_some_and(|width| shift % width != 0) {
        let fault = Fault::new("the shift is not a multiple of the bucket", NOWHERE);
        return Err(error(fault.hint("\"bucket\": \"auto\" takes one that fits")));
    }
    let earlier = |at: Micros| {
        let at = at.0.checked_sub(shift).and_then(|at| Micros(at).in_range());
        at.ok_or_else(|| error(Fault::new("the shift leads out of all time", NOWHERE)))
    };
    let (before_from, before_to) = (earlier(from)?, earlier(to)?);
    let condition = format!(
        "({time} >= '{from}' AND {time} < '{to}' \
         OR {time} >= '{before_from}' AND {time} < '{before_to}')"
    );
    let bucket = width.map(|width| bucket_sql(width, time));
    let when = bucket.as_deref().unwrap_or(time);
    let side = format!("CASE WHEN {when} >= '{from}' THEN 'now' ELSE 'before' END AS side");
    let moved = bucket.iter().map(|sql| {
        let seconds = seconds_sql(shift);
        let moved =
            format!("CASE WHEN {sql} >= '{from}' THEN {sql} ELSE {sql} + {seconds} END AS time");
        ("bucket".to_owned(), moved)
    });
    Ok(Times {
        items: std::iter::once(("compare".to_owned(), side)).chain(moved).collect(),
        conditions: vec![("compare".to_owned(), condition)],
        bucket,
        is_compared: true,
    })
}

/// A moment: `now`, `-3h`, `now-3h`, Unix seconds or RFC 3339.
fn moment(field: &str, text: Option<&str>, now: Micros) -> Result<Option<Moment>, SqlError> {
    text.map(|text| read_moment(text.trim(), now))
        .transpose()
        .map_err(|fault| field_error(field, fault))
}

fn read_moment(text: &str, now: Micros) -> Read<Moment> {
    let relative = text.strip_prefix("now").unwrap_or(text).trim();
    if relative.is_empty() && !text.is_empty() {
        return Ok(Moment { at: now, sql: "now()".to_owned() });
    }
    let refuse = || {
        Fault::new(format!("{text:?} is not a time"), NOWHERE)
            .hint("write 'now', '-3h', Unix seconds, or 2026-11-21T03:00:00Z")
    };
    if let Some(length) = relative.strip_prefix(['-', '+']) {
        let micros = parse_duration(length).map_err(refuse_duration)?;
        let micros = if relative.starts_with('-') { -micros } else { micros };
        let at = now.0.checked_add(micros).and_then(|at| Micros(at).in_range());
        let sign = if micros < 0 { '-' } else { '+' };
        let sql = format!("now() {sign} INTERVAL '{}'", length.trim());
        return at.map(|at| Moment { at, sql }).ok_or_else(refuse);
    }
    let at = match text.parse::<Number>() {
        Ok(seconds) => match time_of_number(seconds)? {
            hadal_types::Value::Time(at) => Some(at),
            _ => None,
        },
        Err(_) => parse_timestamp(text),
    };
    at.map(|at| Moment { at, sql: format!("'{at}'") }).ok_or_else(refuse)
}

fn refuse_duration(NotADuration { message, hint }: NotADuration) -> Fault {
    Fault::new(message, NOWHERE).hint(hint)
}

/// A length of time that is more than zero, in microseconds.
fn duration(text: &str) -> Read<i64> {
    match parse_duration(text).map_err(refuse_duration)? {
        micros if micros > 0 => Ok(micros),
        _ => Err(Fault::new(format!("{text:?} is not longer than zero"), NOWHERE)),
    }
}

fn given_width(text: &str) -> Result<i64, SqlError> {
    duration(text).map_err(|fault| field_error("bucket", fault))
}

/// How long the asked time is, in microseconds; what is open ends with the table.
fn length(
    from: Option<&Moment>,
    to: Option<&Moment>,
    table: Option<&TableSchema>,
    now: Micros,
) -> i64 {
    let held = table.and_then(|table| table.time_range);
    let from = from.map(|from| from.at).or(held.map(|(first, _)| first)).unwrap_or(now);
    let to = to.map(|to| to.at).or(held.map(|(_, last)| last)).unwrap_or(now);
    to.0.saturating_sub(from.0).max(MINUTE)
}

/// The smallest readable width that makes few enough buckets and divides `multiple`.
fn auto_width(length: i64, multiple: Option<i64>) -> Result<i64, SqlError> {
    let divides = |width: i64| multiple.is_none_or(|multiple| multiple % width == 0);
    let fits = |width: i64| length / width < BUCKETS_AUTO && divides(width);
    let days = (1..=16).map(|doubled: u32| (24 * HOUR) << doubled);
    let found = WIDTHS.into_iter().chain(days).find(|width| fits(*width));
    found.or(multiple.filter(|shift| length / shift < BUCKETS_AUTO)).ok_or_else(|| {
        field_error("bucket", Fault::new("no bucket is long enough for the time range", NOWHERE))
    })
}

fn bucket_sql(width: i64, time: &str) -> String {
    let units = [("day", 24 * HOUR), ("hour", HOUR), ("minute", MINUTE), ("second", SECOND)];
    let (unit, micros) =
        units.into_iter().find(|(_, micros)| width % micros == 0).unwrap_or(("us", 1));
    let count = width / micros;
    let plural = if count == 1 || unit == "us" { "" } else { "s" };
    format!("time_bucket('{count} {unit}{plural}', {time})")
}

/// So many microseconds as a number of seconds.
fn seconds_sql(micros: i64) -> String {
    match micros % SECOND {
        0 => (micros / SECOND).to_string(),
        rest => format!("{}.{rest:06}", micros / SECOND),
    }
}
