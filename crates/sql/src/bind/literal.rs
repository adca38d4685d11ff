//! Constants: numbers, texts, times and durations.

use hadal_types::time::{TimeUnit, parse_timestamp};
use hadal_types::{Micros, Number, Value};
use sqlparser::ast::{self, Expr};

use crate::bind::bound_expr::TypedExpr;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::duration::{CalendarSpan, NotADuration, parse_span, unit_micros, unit_months};
use crate::syntax::source_position::place;

/// Binds a constant.
pub(crate) fn value(value: &ast::Value) -> Read<TypedExpr> {
    Ok(match value {
        ast::Value::Number(digits, _) => number(digits)?,
        ast::Value::SingleQuotedString(text)
        | ast::Value::EscapedStringLiteral(text)
        | ast::Value::UnicodeStringLiteral(text) => TypedExpr::literal(Value::string(text)),
        ast::Value::DollarQuotedString(text) => TypedExpr::literal(Value::string(&text.value)),
        ast::Value::Boolean(truth) => TypedExpr::literal(Value::Bool(*truth)),
        ast::Value::Null => TypedExpr::literal(Value::Null),
        ast::Value::Placeholder(name) => {
            return Err(LocatedError::new(format!("parameter {name} has no value"), NOWHERE));
        }
        _ => {
            return Err(LocatedError::new("a constant of this form is not supported", NOWHERE)
                .hint("text is written in 'single quotes'"));
        }
    })
}

fn number(digits: &str) -> Read<TypedExpr> {
    let plain = digits.replace('_', "");
    // SQL allows `.5` and `5.` as numbers.
    let spelled = match plain.strip_suffix('.') {
        Some(whole) => whole.to_owned(),
        None if plain.starts_with('.') => format!("0{plain}"),
        None => plain,
    };
    let number: Number = spelled.parse().map_err(|error: hadal_types::number::NumberError| {
        LocatedError::new(error.to_string(), NOWHERE)
    })?;
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    Ok(TypedExpr { whole, ..TypedExpr::literal(Value::Number(number)) })
}

/// `INTERVAL '3 hours'`, as a number of seconds.
pub(crate) fn interval(interval: &ast::Interval) -> Read<TypedExpr> {
    let at = place(&interval.value);
    let CalendarSpan { months, micros } = span(interval)?;
    if months != 0 {
        return Err(LocatedError::new("an INTERVAL of months or years has no fixed length", at)
            .hint("add it to a time or subtract it: time - INTERVAL '1 month'; or write days"));
    }
    seconds(micros).ok_or_else(|| LocatedError::new("an INTERVAL that is too long", at))
}

/// The length of an INTERVAL.
pub(crate) fn span(interval: &ast::Interval) -> Read<CalendarSpan> {
    let at = place(&interval.value);
    let no_text = || LocatedError::new("an INTERVAL takes a text", at).hint("INTERVAL '3 hours'");
    let Expr::Value(value) = &*interval.value else { return Err(no_text()) };
    let (ast::Value::SingleQuotedString(text) | ast::Value::Number(text, _)) = &value.value else {
        return Err(no_text());
    };
    let unit = interval.leading_field.as_ref().map_or_else(String::new, ToString::to_string);
    if unit_months(&unit).is_none()
        && let Err(hint) = unit_micros(&unit)
    {
        return Err(LocatedError::new(format!("an INTERVAL in {unit}"), at).hint(hint));
    }
    parse_span(&format!("{text} {unit}"))
        .map_err(|NotADuration { message, hint }| LocatedError::new(message, at).hint(hint))
}

/// Converts microseconds to a number of seconds; `None` if it is out of range.
pub(crate) fn seconds(micros: i64) -> Option<TypedExpr> {
    let seconds = hadal_types::Decimal::new(i128::from(micros), 6)?;
    let whole = seconds.is_integer();
    Some(TypedExpr { whole, ..TypedExpr::literal(Value::Number(seconds.into())) })
}

/// Parses a text as a time.
pub(crate) fn time_of_text(text: &str) -> Read<Value> {
    parse_timestamp(text).map(Value::Time).ok_or_else(|| {
        LocatedError::new(format!("{text:?} is not a time"), NOWHERE)
            .hint("write it like '2026-11-21 03:51:42' (UTC), or now() - INTERVAL '3 hours'")
    })
}

/// Converts Unix seconds to a time.
pub(crate) fn time_of_number(number: Number) -> Read<Value> {
    const MILLISECONDS: i64 = 100_000_000_000;
    if number >= Number::integer(MILLISECONDS) {
        return Err(LocatedError::new(
            format!("{number} is compared with a time as Unix seconds; is it in milliseconds?"),
            NOWHERE,
        )
        .hint("divide it by 1000"));
    }
    TimeUnit::Seconds.read(number).map(Value::Time).ok_or_else(outside)
}

/// The error for a time outside the calendar's range.
pub(crate) fn outside() -> LocatedError {
    LocatedError::new("a time outside the years 1 to 9999", NOWHERE)
}

/// The Unix epoch.
pub(crate) const EPOCH: Value = Value::Time(Micros(0));
