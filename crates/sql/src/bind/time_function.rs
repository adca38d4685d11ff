//! Functions of times: buckets, calendar fields, time zones and formats.
//!
//! The calendar of a query is that of its time zone, UTC unless it has one. A time that AT TIME
//! ZONE returns is what a wall clock shows; no time zone applies to it again.

use hadal_query::{CalendarFunction, Function, TimeField, TimeZone, Type, is_time_format};
use hadal_types::{Micros, Number, Value};
use sqlparser::ast::{BinaryOperator, DataType, Expr, TimezoneInfo};
use sqlparser::tokenizer::Location;

use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::call::Call;
use crate::bind::literal;
use crate::bind::time_format::strftime_of;
use crate::bind::{Binder, strip};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::suggest::did_you_mean;
use crate::syntax::duration::{
    CalendarSpan, DAY, NotADuration, WEEK, parse_span, unit_micros, unit_months,
};
use crate::syntax::source_position::place;

/// The names of the functions of this file.
pub(crate) const NAMES: [&str; 8] = [
    "date_part",
    "date_trunc",
    "epoch",
    "extract",
    "strftime",
    "time_bucket",
    "to_char",
    "to_timestamp",
];

/// The offset of Mondays, on which weeks begin: the Unix epoch is a Thursday.
const MONDAY: i64 = 4 * DAY;
const HOUR: i64 = DAY / 24;

/// Binds a call of one of [`NAMES`]; `zone` is the query's time zone.
pub(crate) fn bind(call: &Call<'_>, bound: Vec<TypedExpr>, zone: &TimeZone) -> Read<TypedExpr> {
    match call.name {
        "time_bucket" => {
            let ([width, time], given) = call.and_one_more(bound)?;
            time_bucket(call, &width, time, given.as_ref(), zone)
        }
        "date_trunc" => {
            let ([unit, time], given) = call.and_one_more(bound)?;
            let zone = given_zone(call, given.as_ref(), zone)?;
            date_trunc(call.constant(&unit, 0)?, time, &zone, call.place(0))
        }
        "date_part" | "extract" => {
            let ([field, time], given) = call.and_one_more(bound)?;
            let zone = given_zone(call, given.as_ref(), zone)?;
            extract(call.constant(&field, 0)?, time, &zone)
        }
        "epoch" => {
            let [time] = call.exactly(bound)?;
            extract("epoch", time, zone)
        }
        "strftime" => {
            let ([time, format], given) = call.and_one_more(bound)?;
            let zone = given_zone(call, given.as_ref(), zone)?;
            let format = call.constant(&format, 1)?.to_owned();
            formatted(call, time, &format, &zone)
        }
        "to_char" => {
            let ([time, pattern], given) = call.and_one_more(bound)?;
            let zone = given_zone(call, given.as_ref(), zone)?;
            let format = strftime_of(call.constant(&pattern, 1)?, call.place(1))?;
            formatted(call, time, &format, &zone)
        }
        _ => to_timestamp(call, bound),
    }
}

/// The time zone of the last argument, or else that of the query.
fn given_zone(call: &Call<'_>, given: Option<&TypedExpr>, zone: &TimeZone) -> Read<TimeZone> {
    match given {
        Some(given) => zone_named(call.constant(given, 2)?, call.place(2)),
        None => Ok(zone.clone()),
    }
}

/// The time zone of this name.
pub(crate) fn zone_named(name: &str, at: Location) -> Read<TimeZone> {
    TimeZone::named(name).ok_or_else(|| {
        let error = LocatedError::new(format!("there is no time zone {name:?}"), at);
        let names = TimeZone::names();
        match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(hint) => error.hint(hint),
            None => error.hint("names are those of the IANA, such as 'Europe/Berlin' or 'UTC'"),
        }
    })
}

/// Binds `time_bucket('1 minute', time)`; the width may also be a number of seconds.
fn time_bucket(
    call: &Call<'_>,
    width: &TypedExpr,
    time: TypedExpr,
    given: Option<&TypedExpr>,
    zone: &TimeZone,
) -> Read<TypedExpr> {
    let at = call.place(0);
    let span = match (width.as_string(), width.as_number()) {
        (Some(text), _) => parse_span(text)
            .map_err(|NotADuration { message, hint }| LocatedError::new(message, at).hint(hint))?,
        (_, Some(seconds)) => {
            let micros = seconds.to_scaled(6).and_then(|micros| i64::try_from(micros).ok());
            let micros = micros.ok_or_else(|| {
                LocatedError::new(format!("a time bucket of {seconds} seconds"), at)
            })?;
            CalendarSpan { months: 0, micros }
        }
        _ => {
            return Err(LocatedError::new("the width of a time bucket must be a constant", at)
                .hint("time_bucket('1 minute', time)"));
        }
    };
    match (span.months, span.micros) {
        (0, 1..) | (1.., 0) => {}
        (0, _) | (_, 0) => {
            let message = "the width of a time bucket must be more than zero";
            return Err(LocatedError::new(message, at));
        }
        _ => {
            let message = "a time bucket has whole months or a fixed length, not both";
            return Err(LocatedError::new(message, at));
        }
    }
    if given.is_some() && span.months == 0 && span.micros > HOUR && !is_of_wall_clock(span.micros) {
        return Err(LocatedError::new("buckets of this width do not divide a day", at)
            .hint("in a time zone, buckets have 1, 2, 3, 4, 6, 8 or 12 hours, or whole days"));
    }
    bucket_of(span, time, &given_zone(call, given, zone)?)
}

/// Whether buckets of this width begin when a wall clock shows a certain time.
pub(crate) const fn is_of_wall_clock(micros: i64) -> bool {
    micros % DAY == 0 || (micros % HOUR == 0 && DAY % micros == 0)
}

/// Buckets of a width above zero. Fixed ones are counted from the Unix epoch, or from a Monday if
/// the width is whole weeks.
pub(crate) fn bucket_of(width: CalendarSpan, time: TypedExpr, zone: &TimeZone) -> Read<TypedExpr> {
    let time = arithmetic::time(time)?;
    let local = time.local;
    let zone = if local { TimeZone::UTC } else { zone.clone() };
    let CalendarSpan { months, micros } = width;
    let bucket = if months > 0 || (!zone.is_utc() && is_of_wall_clock(micros)) {
        let [months, micros] = [months, micros].map(|n| TypedExpr::literal(Value::integer(n)));
        let function = Function::Calendar(CalendarFunction::Bucket);
        TypedExpr::call(function, [time, months, micros, zone_literal(&zone)], Type::Time)
    } else {
        let width = TypedExpr::literal(Value::integer(micros));
        match micros % WEEK {
            0 => {
                let origin = TypedExpr::literal(Value::integer(MONDAY));
                TypedExpr::call(Function::TimeBucket, [time, width, origin], Type::Time)
            }
            _ => TypedExpr::call(Function::TimeBucket, [time, width], Type::Time),
        }
    };
    Ok(TypedExpr { local, ..bucket })
}

fn zone_literal(zone: &TimeZone) -> TypedExpr {
    TypedExpr::literal(Value::string(zone.name()))
}

/// Binds `date_trunc('hour', time)`.
fn date_trunc(unit: &str, time: TypedExpr, zone: &TimeZone, at: Location) -> Read<TypedExpr> {
    let span = match (unit_months(unit), unit_micros(unit)) {
        (Some(months), _) => CalendarSpan { months, micros: 0 },
        (None, Ok(micros)) if !unit.is_empty() => CalendarSpan { months: 0, micros },
        _ => {
            return Err(LocatedError::new(format!("date_trunc cannot cut to {unit:?}"), at)
                .hint("units are second, minute, hour, day, week, month, quarter and year"));
        }
    };
    bucket_of(span, time, zone)
}

/// Binds `extract(hour FROM time)`.
pub(crate) fn extract(field: &str, time: TypedExpr, zone: &TimeZone) -> Read<TypedExpr> {
    let name = field.trim_matches('\'').to_ascii_lowercase();
    let field = match name.as_str() {
        "year" | "years" => TimeField::Year,
        "quarter" => TimeField::Quarter,
        "month" | "months" => TimeField::Month,
        "week" | "weeks" => TimeField::Week,
        "isoyear" => TimeField::IsoYear,
        "day" | "days" => TimeField::Day,
        "doy" | "dayofyear" => TimeField::DayOfYear,
        "hour" | "hours" => TimeField::Hour,
        "minute" | "minutes" => TimeField::Minute,
        "second" | "seconds" => TimeField::Second,
        "millisecond" | "milliseconds" => TimeField::Millisecond,
        "dow" | "dayofweek" => TimeField::DayOfWeek,
        "isodow" => TimeField::IsoDayOfWeek,
        "epoch" => TimeField::Epoch,
        _ => {
            return Err(LocatedError::new(format!("a time has no field {name:?}"), NOWHERE).hint(
                "fields are year, isoyear, quarter, month, week, day, doy, dow, isodow, hour, \
                 minute, second, millisecond and epoch",
            ));
        }
    };
    let has_fractions =
        matches!(field, TimeField::Second | TimeField::Millisecond | TimeField::Epoch);
    let time = arithmetic::time(time)?;
    let time = if has_fractions { time } else { wall_clock(time, zone) };
    let extracted = TypedExpr::call(Function::Extract(field), [time], Type::Number);
    Ok(TypedExpr { whole: !has_fractions, ..extracted })
}

/// What a wall clock of the time zone shows.
fn wall_clock(time: TypedExpr, zone: &TimeZone) -> TypedExpr {
    if time.local || zone.is_utc() {
        return time;
    }
    let function = Function::Calendar(CalendarFunction::WallClock);
    let wall = TypedExpr::call(function, [time, zone_literal(zone)], Type::Time);
    TypedExpr { local: true, ..wall }
}

/// The time at which a wall clock of the time zone shows `wall`.
fn from_wall_clock(wall: TypedExpr, zone: &TimeZone) -> TypedExpr {
    let function = Function::Calendar(CalendarFunction::FromWallClock);
    TypedExpr::call(function, [wall, zone_literal(zone)], Type::Time)
}

/// Binds `time AT TIME ZONE 'Europe/Berlin'`: what a wall clock there shows. Of a time that a wall
/// clock shows, the time itself. A text cast to `timestamp` is such a time.
pub(crate) fn at_time_zone(binder: &mut Binder<'_>, time: &Expr, zone: &Expr) -> Read<TypedExpr> {
    let given = binder.bind(zone)?;
    let Some(name) = given.as_string() else {
        return Err(LocatedError::new("AT TIME ZONE takes a constant name", place(zone))
            .hint("time AT TIME ZONE 'Europe/Berlin'"));
    };
    let zone = zone_named(name, place(zone))?;
    let bound = arithmetic::time(binder.bind(time)?).map_err(|error| error.or_at(place(time)))?;
    if bound.local || is_wall_clock_text(binder, time)? {
        return Ok(from_wall_clock(bound, &zone));
    }
    Ok(TypedExpr { local: true, ..wall_clock(bound, &zone) })
}

/// Whether the expression is a text that is cast to a time without time zone.
fn is_wall_clock_text(binder: &mut Binder<'_>, expr: &Expr) -> Read<bool> {
    let is_plain = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
                | DataType::Datetime(_)
        )
    };
    Ok(match strip(expr) {
        Expr::TypedString(typed) => is_plain(&typed.data_type),
        Expr::Cast { expr, data_type, .. } if is_plain(data_type) => {
            binder.bind(expr)?.value_type == Type::String
        }
        _ => false,
    })
}

/// Binds `time + INTERVAL '1 month'`, and `-`; `None` if neither side is an INTERVAL with months.
/// Months are counted on the calendar of the query's time zone.
pub(crate) fn moved(
    binder: &mut Binder<'_>,
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
) -> Read<Option<TypedExpr>> {
    let sign = match op {
        BinaryOperator::Plus => 1,
        BinaryOperator::Minus => -1,
        _ => return Ok(None),
    };
    let (time, span) = match (months_of(left)?, months_of(right)?) {
        (_, Some(span)) => (left, span),
        (Some(span), None) if sign > 0 => (right, span),
        _ => return Ok(None),
    };
    let time = arithmetic::time(binder.bind(time)?).map_err(|error| error.or_at(place(time)))?;
    let (is_constant, is_local) = (time.as_literal().is_some(), time.local);
    let zone = binder.scope.zone();
    let wall = wall_clock(time, zone);
    let is_moved_back = wall.local && !is_local;
    let months = TypedExpr::literal(Value::integer(sign * span.months));
    let function = Function::Calendar(CalendarFunction::AddMonths);
    let later = TypedExpr::call(function, [wall, months], Type::Time);
    let later = if is_moved_back { from_wall_clock(later, zone) } else { later };
    let later = TypedExpr { local: is_local, ..later };
    let later = match literal::seconds(sign * span.micros) {
        Some(seconds) if span.micros != 0 => arithmetic::later(later, seconds)?,
        _ => later,
    };
    match later.as_literal() {
        Some(Value::Null) if is_constant => Err(literal::outside()),
        _ => Ok(Some(later)),
    }
}

/// The length of an INTERVAL that has months; `None` for other expressions.
fn months_of(expr: &Expr) -> Read<Option<CalendarSpan>> {
    match strip(expr) {
        Expr::Interval(interval) => {
            literal::span(interval).map(|span| Some(span).filter(|span| span.months != 0))
        }
        _ => Ok(None),
    }
}

fn formatted(call: &Call<'_>, time: TypedExpr, format: &str, zone: &TimeZone) -> Read<TypedExpr> {
    if !is_time_format(format) {
        let message = format!("{format:?} is no format of a time");
        return Err(LocatedError::new(message, call.place(1))
            .hint("such as '%Y-%m-%d %H:%M:%S', '%a', '%j', '%3f'; to_char takes 'YYYY-MM-DD'"));
    }
    let time = wall_clock(arithmetic::time(time)?, zone);
    let format = TypedExpr::literal(Value::string(format));
    Ok(TypedExpr::call(Function::Calendar(CalendarFunction::Format), [time, format], Type::String))
}

/// Binds `to_timestamp(seconds)`; a text is read as a time.
fn to_timestamp(call: &Call<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
    let [value] = call.exactly(bound).map_err(|error| {
        error.hint("a text in ISO 8601 is a time: to_timestamp(text), or text::timestamp")
    })?;
    if value.value_type == Type::String {
        return arithmetic::time(value);
    }
    let seconds = arithmetic::number(value, call.place(0))?;
    if let Some(number) = seconds.as_number() {
        let divisors =
            [(100_000_000_000_000_i64, "micro", "1000000"), (100_000_000_000, "milli", "1000")];
        let fits = |(least, ..): &(i64, _, _)| number >= Number::integer(*least);
        if let Some((_, unit, divisor)) = divisors.into_iter().find(fits) {
            let message = format!("to_timestamp takes seconds; is {number} in {unit}seconds?");
            return Err(LocatedError::new(message, call.place(0))
                .hint(format!("to_timestamp({number} / {divisor}.0)")));
        }
    }
    let epoch = TypedExpr::literal(literal::EPOCH);
    Ok(TypedExpr::call(Function::AddSeconds, [epoch, seconds], Type::Time))
}

/// The start of the bucket that contains `time`; `width` is in microseconds, above zero.
pub(crate) fn bucket_start(width: i64, time: Micros, zone: &TimeZone) -> Micros {
    let span = CalendarSpan { months: 0, micros: width };
    let bucket = bucket_of(span, TypedExpr::literal(Value::Time(time)), zone);
    match bucket.as_ref().map(TypedExpr::as_literal) {
        Ok(Some(Value::Time(start))) => *start,
        _ => time,
    }
}
