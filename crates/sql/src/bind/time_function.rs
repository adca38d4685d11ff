//! Functions of times: buckets and calendar fields, all in UTC.

use hadal_query::{Function, TimeField, Type};
use hadal_types::{Micros, Value};
use sqlparser::tokenizer::Location;

use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::literal;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::duration::{DAY, WEEK, unit_micros};

/// The offset of Mondays, on which weeks begin: the Unix epoch is a Thursday.
const MONDAY: i64 = 4 * DAY;

/// Binds `time_bucket('1 minute', time)`; the width may also be a number of seconds.
pub(crate) fn time_bucket(width: &TypedExpr, time: TypedExpr, at: Location) -> Read<TypedExpr> {
    let micros = match (width.as_string(), width.as_number()) {
        (Some(text), _) => literal::duration(text, at)?,
        (_, Some(seconds)) => seconds
            .to_scaled(6)
            .and_then(|micros| i64::try_from(micros).ok())
            .ok_or_else(|| LocatedError::new(format!("a time bucket of {seconds} seconds"), at))?,
        _ => {
            return Err(LocatedError::new("the width of a time bucket must be a constant", at)
                .hint("time_bucket('1 minute', time)"));
        }
    };
    if micros <= 0 {
        return Err(LocatedError::new("the width of a time bucket must be more than zero", at));
    }
    bucket_of(micros, time)
}

/// Buckets of `micros` microseconds. They are counted from the Unix epoch, or from a Monday if the
/// width is whole weeks.
fn bucket_of(micros: i64, time: TypedExpr) -> Read<TypedExpr> {
    let time = arithmetic::time(time)?;
    let width = TypedExpr::literal(Value::integer(micros));
    Ok(match micros % WEEK {
        0 => {
            let origin = TypedExpr::literal(Value::integer(MONDAY));
            TypedExpr::call(Function::TimeBucket, [time, width, origin], Type::Time)
        }
        _ => TypedExpr::call(Function::TimeBucket, [time, width], Type::Time),
    })
}

/// Binds `date_trunc('hour', time)`.
pub(crate) fn date_trunc(unit: &str, time: TypedExpr, at: Location) -> Read<TypedExpr> {
    let calendar =
        |hint| LocatedError::new(format!("date_trunc cannot cut to {unit:?}"), at).hint(hint);
    match unit_micros(unit) {
        Ok(micros) if !unit.is_empty() => bucket_of(micros, time),
        Err(_) if matches!(unit.to_ascii_lowercase().as_str(), "month" | "quarter" | "year") => {
            Err(calendar("group by extract(year FROM time), extract(month FROM time)"))
        }
        _ => Err(calendar("units are second, minute, hour, day and week")),
    }
}

/// Binds `extract(hour FROM time)`.
pub(crate) fn extract(field: &str, time: TypedExpr) -> Read<TypedExpr> {
    let name = field.trim_matches('\'').to_ascii_lowercase();
    let field = match name.as_str() {
        "year" | "years" => TimeField::Year,
        "month" | "months" => TimeField::Month,
        "day" | "days" => TimeField::Day,
        "hour" | "hours" => TimeField::Hour,
        "minute" | "minutes" => TimeField::Minute,
        "second" | "seconds" => TimeField::Second,
        "dow" | "dayofweek" => TimeField::DayOfWeek,
        "epoch" => TimeField::Epoch,
        _ => {
            return Err(LocatedError::new(format!("a time has no field {name:?}"), NOWHERE)
                .hint("fields are year, month, day, hour, minute, second, dow and epoch"));
        }
    };
    let whole = !matches!(field, TimeField::Second | TimeField::Epoch);
    let time = arithmetic::time(time)?;
    Ok(TypedExpr { whole, ..TypedExpr::call(Function::Extract(field), [time], Type::Number) })
}

/// The start of the bucket that contains `time`; `width` is in microseconds, above zero.
pub(crate) fn bucket_start(width: i64, time: Micros) -> Micros {
    let origin = if width % WEEK == 0 { MONDAY } else { 0 };
    Micros((time.0 - origin).div_euclid(width) * width + origin)
}
