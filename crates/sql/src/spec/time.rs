//! The times of a query in JSON: its range, its time bucket, and the earlier range of a comparison.
//!
//! A comparison is one query over both ranges. It has a plain time bucket; the columns `side` and
//! `time` are computed from it, and the time of the earlier side is moved forward. Series are thus
//! ranked over both sides together, and the engine does not know comparisons. The buckets of both
//! sides must coincide: the shift is a multiple of the bucket, and the range begins at the start of
//! a bucket. In a time zone, a shift of whole days leads to the same time on the wall clock, even
//! if the clock was changed in between.

use hadal_query::TimeZone;
use hadal_types::time::parse_timestamp;
use hadal_types::{Micros, Number, TableSchema};

use crate::bind::literal::time_of_number;
use crate::bind::time_function::{bucket_start, is_of_wall_clock};
use crate::error::{LocatedError, NOWHERE, Read, SqlError};
use crate::spec::to_sql::quoted;
use crate::syntax::duration::{NotADuration, parse_duration, parse_span};
use crate::{Compare, QuerySpec};

/// The times of a spec, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    from: Option<Moment>,
    to: Option<Moment>,
    bucket: Option<Width>,
    compared: Option<Compared>,
    zone: TimeZone,
}

/// The width of a time bucket.
#[derive(Clone, Copy, Debug)]
enum Width {
    /// Depends on the time range, which may be that of the table.
    Auto,
    Micros(i64),
    /// Of the calendar.
    Months(i64),
}

/// The two time ranges of a comparison.
#[derive(Clone, Debug)]
struct Compared {
    from: Micros,
    to: Micros,
    before_from: Micros,
    before_to: Micros,
    shift: Shift,
    /// Whether the sides are columns, not rows.
    as_columns: bool,
}

/// The distance of the two ranges of a comparison.
#[derive(Clone, Debug)]
struct Shift {
    micros: i64,
    /// The wall clock that shows the same time of day on both sides.
    wall_clock: Option<TimeZone>,
}

/// The times of a spec in SQL. Each text has the name of its field.
pub(crate) struct TimeTexts {
    /// The columns before all others.
    pub(crate) items: Vec<(&'static str, String)>,
    /// The conditions on time.
    pub(crate) conditions: Vec<(&'static str, String)>,
    /// The time bucket to group by.
    pub(crate) bucket: Option<String>,
    /// The condition of the side `now`, if the sides of a comparison are columns.
    pub(crate) now_side: Option<String>,
}

/// A time and its SQL form.
#[derive(Clone, Debug)]
struct Moment {
    at: Micros,
    sql: String,
}

/// The maximum number of buckets for `auto`.
const BUCKETS_AUTO: i64 = 300;
/// Round widths of time buckets, in microseconds.
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

impl Times {
    /// Parses the times of `spec`.
    pub(crate) fn read(spec: &QuerySpec, now: Micros, zone: &TimeZone) -> Result<Self, SqlError> {
        let zone = zone.clone();
        let from = moment("from", spec.from.as_deref(), now)?;
        let to = moment("to", spec.to.as_deref(), now)?;
        if let (Some(from), Some(to)) = (&from, &to)
            && from.at > to.at
        {
            let message = format!("it is before from, {}", from.at);
            return Err(SqlError::of_field("to", LocatedError::new(message, NOWHERE)));
        }
        if let Some(Compare { shift: Some(shift), columns, .. }) = &spec.compare {
            let to_at = to.as_ref().map_or(now, |to| to.at);
            let from_at = from.as_ref().map(|from| from.at);
            let bucket = spec.bucket.as_deref();
            let (compared, width) = Compared::read(shift, from_at, to_at, bucket, &zone)?;
            let compared = Compared { as_columns: *columns, ..compared };
            let bucket = width.map(Width::Micros);
            return Ok(Self { from, to, bucket, compared: Some(compared), zone });
        }
        let bucket = match spec.bucket.as_deref() {
            Some("auto") => Some(Width::Auto),
            Some(text) => Some(given_bucket(text)?),
            None => None,
        };
        Ok(Self { from, to, bucket, compared: None, zone })
    }

    pub(crate) const fn has_bucket(&self) -> bool {
        self.bucket.is_some()
    }

    /// Whether the sides of a comparison of times are rows.
    pub(crate) fn has_side_rows(&self) -> bool {
        self.compared.as_ref().is_some_and(|compared| !compared.as_columns)
    }

    /// Returns the times as SQL; `time` is the name of the table's time column.
    pub(crate) fn texts(
        &self,
        time: &str,
        table: Option<&TableSchema>,
        now: Micros,
    ) -> Result<TimeTexts, SqlError> {
        let bucket = match self.bucket {
            Some(Width::Auto) => {
                Some(bucket_sql(auto_width(self.length(table, now), None)?, time, &self.zone))
            }
            Some(Width::Micros(width)) => Some(bucket_sql(width, time, &self.zone)),
            Some(Width::Months(months)) => Some(months_sql(months, time, &self.zone)),
            None => None,
        };
        if let Some(compared) = &self.compared {
            return Ok(compared.texts(time, bucket));
        }
        let items = bucket.iter().map(|sql| ("bucket", format!("{sql} AS time"))).collect();
        let condition = |field, sign, moment: &Option<Moment>| {
            let text = |moment: &Moment| (field, format!("{time} {sign} {}", moment.sql));
            moment.as_ref().map(text)
        };
        let from = condition("from", ">=", &self.from).into_iter();
        let conditions = from.chain(condition("to", "<", &self.to)).collect();
        Ok(TimeTexts { items, conditions, bucket, now_side: None })
    }

    /// The length of the time range in microseconds; open ends are those of the table's rows.
    fn length(&self, table: Option<&TableSchema>, now: Micros) -> i64 {
        let held = table.and_then(|table| table.time_range);
        let from = self.from.as_ref().map(|from| from.at).or(held.map(|(first, _)| first));
        let to = self.to.as_ref().map(|to| to.at).or(held.map(|(_, last)| last));
        to.unwrap_or(now).0.saturating_sub(from.unwrap_or(now).0).max(MINUTE)
    }
}

impl Compared {
    /// Parses a comparison; also returns the width of its time buckets.
    fn read(
        shift: &str,
        from: Option<Micros>,
        to: Micros,
        bucket: Option<&str>,
        zone: &TimeZone,
    ) -> Result<(Self, Option<i64>), SqlError> {
        let error = |located: LocatedError| SqlError::of_field("compare", located);
        let shift = duration(shift).map_err(error)?;
        let Some(from) = from.filter(|from| *from < to) else {
            let message = "a comparison needs a time range; from is missing";
            return Err(error(LocatedError::new(message, NOWHERE)));
        };
        let width = match bucket {
            Some("auto") => Some(auto_width(to.0 - from.0, Some(shift))?),
            Some(text) => Some(given_width(text)?),
            None => None,
        };
        let from = width.map_or(from, |width| bucket_start(width, from, zone));
        let wall_clock = (!zone.is_utc() && shift % (24 * HOUR) == 0).then(|| zone.clone());
        let shift = Shift { micros: shift, wall_clock };
        let leads_out = || error(LocatedError::new("the shift leads out of all time", NOWHERE));
        let earlier = |at: Micros| shift.earlier(at).ok_or_else(leads_out);
        let (before_from, before_to) = (earlier(from)?, earlier(to)?);
        // Where the clock was set forward, the same time of day is an hour less before.
        let is_long_enough = to.0.saturating_sub(shift.micros) <= from.0;
        let before_to = if is_long_enough { before_to.min(from) } else { before_to };
        if before_to > from {
            let located = LocatedError::new("the shift is shorter than the time range", NOWHERE);
            let hint = "a day can be compared with the day before, or any earlier";
            return Err(error(located.hint(hint)));
        }
        if width.is_some_and(|width| shift.micros % width != 0) {
            let located = LocatedError::new("the shift is not a multiple of the bucket", NOWHERE);
            return Err(error(located.hint("\"bucket\": \"auto\" takes one that fits")));
        }
        Ok((Self { from, to, before_from, before_to, shift, as_columns: false }, width))
    }

    fn texts(&self, time: &str, bucket: Option<String>) -> TimeTexts {
        let Self { from, to, before_from, before_to, shift, as_columns } = self;
        let condition = format!(
            "({time} >= '{from}' AND {time} < '{to}' \
             OR {time} >= '{before_from}' AND {time} < '{before_to}')"
        );
        let when = bucket.as_deref().unwrap_or(time);
        let is_now = format!("{when} >= '{from}'");
        let side = format!("CASE WHEN {is_now} THEN 'now' ELSE 'before' END AS side");
        let side = (!as_columns).then_some(("compare", side));
        let moved = bucket.iter().map(|sql| {
            let later = shift.later_sql(sql);
            let moved = format!("CASE WHEN {sql} >= '{from}' THEN {sql} ELSE {later} END AS time");
            ("bucket", moved)
        });
        TimeTexts {
            items: side.into_iter().chain(moved).collect(),
            conditions: vec![("compare", condition)],
            bucket,
            now_side: as_columns.then_some(is_now),
        }
    }
}

impl Shift {
    /// The time before `at`; `None` outside the years 1 to 9999.
    fn earlier(&self, at: Micros) -> Option<Micros> {
        match &self.wall_clock {
            Some(zone) => zone.later_on_wall_clock(at, self.micros.checked_neg()?),
            None => at.0.checked_sub(self.micros).and_then(|at| Micros(at).in_range()),
        }
    }

    /// The time `sql`, moved forward.
    fn later_sql(&self, sql: &str) -> String {
        let seconds = seconds_sql(self.micros);
        match self.wall_clock.as_ref().map(|zone| quoted(zone.name(), '\'')) {
            Some(zone) => {
                format!("({sql} AT TIME ZONE {zone} + {seconds}) AT TIME ZONE {zone}")
            }
            None => format!("{sql} + {seconds}"),
        }
    }
}

/// Parses a time: `now`, `-3h`, `now-3h`, Unix seconds or RFC 3339.
fn moment(field: &str, text: Option<&str>, now: Micros) -> Result<Option<Moment>, SqlError> {
    text.map(|text| read_moment(text.trim(), now))
        .transpose()
        .map_err(|error| SqlError::of_field(field, error))
}

fn read_moment(text: &str, now: Micros) -> Read<Moment> {
    let relative = text.strip_prefix("now").unwrap_or(text).trim();
    if relative.is_empty() && !text.is_empty() {
        return Ok(Moment { at: now, sql: "now()".to_owned() });
    }
    let refuse = || {
        LocatedError::new(format!("{text:?} is not a time"), NOWHERE)
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

fn refuse_duration(NotADuration { message, hint }: NotADuration) -> LocatedError {
    LocatedError::new(message, NOWHERE).hint(hint)
}

/// Parses a duration above zero, in microseconds.
fn duration(text: &str) -> Read<i64> {
    match parse_duration(text).map_err(refuse_duration)? {
        micros if micros > 0 => Ok(micros),
        _ => Err(LocatedError::new(format!("{text:?} is not longer than zero"), NOWHERE)),
    }
}

fn given_width(text: &str) -> Result<i64, SqlError> {
    duration(text).map_err(|error| SqlError::of_field("bucket", error))
}

/// Parses the width of a bucket, which may be months or years.
fn given_bucket(text: &str) -> Result<Width, SqlError> {
    let of_field = |error| SqlError::of_field("bucket", error);
    let span = parse_span(text).map_err(|error| of_field(refuse_duration(error)))?;
    match (span.months, span.micros) {
        (0, _) => given_width(text).map(Width::Micros),
        (months, 0) if months > 0 => Ok(Width::Months(months)),
        _ => {
            let message = format!("{text:?} is neither a length of time nor whole months");
            Err(of_field(LocatedError::new(message, NOWHERE).hint("write '1 month' or '1 year'")))
        }
    }
}

/// The smallest round width with few enough buckets that divides `multiple`.
fn auto_width(length: i64, multiple: Option<i64>) -> Result<i64, SqlError> {
    let divides = |width: i64| multiple.is_none_or(|multiple| multiple % width == 0);
    let fits = |width: i64| length / width < BUCKETS_AUTO && divides(width);
    let days = (1..=16).map(|doubled: u32| (24 * HOUR) << doubled);
    let width = WIDTHS.into_iter().chain(days).find(|width| fits(*width));
    width.or(multiple.filter(|shift| length / shift < BUCKETS_AUTO)).ok_or_else(|| {
        SqlError::of_field(
            "bucket",
            LocatedError::new("no bucket is long enough for the time range", NOWHERE),
        )
    })
}

fn bucket_sql(width: i64, time: &str, zone: &TimeZone) -> String {
    let units = [("day", 24 * HOUR), ("hour", HOUR), ("minute", MINUTE), ("second", SECOND)];
    let (unit, micros) =
        units.into_iter().find(|(_, micros)| width % micros == 0).unwrap_or(("us", 1));
    let count = width / micros;
    let plural = if count == 1 || unit == "us" { "" } else { "s" };
    let zone = match zone.is_utc() || !is_of_wall_clock(width) {
        true => String::new(),
        false => format!(", {}", quoted(zone.name(), '\'')),
    };
    format!("time_bucket('{count} {unit}{plural}', {time}{zone})")
}

fn months_sql(months: i64, time: &str, zone: &TimeZone) -> String {
    let (count, unit) = if months % 12 == 0 { (months / 12, "year") } else { (months, "month") };
    let plural = if count == 1 { "" } else { "s" };
    let zone = match zone.is_utc() {
        true => String::new(),
        false => format!(", {}", quoted(zone.name(), '\'')),
    };
    format!("time_bucket('{count} {unit}{plural}', {time}{zone})")
}

/// Converts microseconds to a number of seconds in SQL.
fn seconds_sql(micros: i64) -> String {
    match micros % SECOND {
        0 => (micros / SECOND).to_string(),
        rest => format!("{}.{rest:06}", micros / SECOND),
    }
}
