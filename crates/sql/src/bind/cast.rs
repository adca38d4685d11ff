//! Casts. Casting a column to a kind selects the column's part of that kind, without conversion.
//! Casting anything else converts values.

use hadal_query::{Function, TimeZone, Type};
use hadal_types::{ColumnSchema, Kind, Logical, Value};
use sqlparser::ast::{DataType, Expr, TypedString};

use crate::bind::Binder;
use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::literal;
use crate::bind::scope::{Column, a};
use crate::bind::time_function;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::duration::{CalendarSpan, DAY};
use crate::syntax::source_position::place;

/// The target type of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Kind(Kind),
    Bool,
    Time,
    Day,
}

/// Binds `expr::data_type`.
pub(crate) fn cast(binder: &mut Binder<'_>, expr: &Expr, data_type: &DataType) -> Read<TypedExpr> {
    let target = target(data_type)?;
    if let (Target::Kind(kind), Some(Column::Known(column))) = (target, binder.as_column(expr)?) {
        let main = column.main_part();
        let truths = |logical| matches!(logical, Logical::Bool | Logical::Time);
        let shown = main.is_some_and(|part| truths(part.logical));
        match column.part(kind) {
            None if kind == Kind::String && shown => {}
            part => {
                // As a string, a column also shows its numbers.
                let shows_numbers = kind == Kind::String && column.part(Kind::Number).is_some();
                if part.is_none() && !shows_numbers {
                    binder.note("no_such_part", no_such_part(column, kind));
                }
                return Ok(TypedExpr::part(column, kind));
            }
        }
    }
    let bound = binder.bind(expr)?;
    let converted =
        convert(target, bound, binder.scope.zone()).map_err(|error| error.or_at(place(expr)))?;
    // A cast names the type of number explicitly, so `/` keeps the fractions of its values.
    Ok(TypedExpr { whole: false, ..converted })
}

fn no_such_part(column: &ColumnSchema, kind: Kind) -> String {
    let name = &column.name;
    let mut message = format!("no row of {name} is a {kind}, so {name}::{kind} is null");
    if kind == Kind::Number && column.part(Kind::String).is_some() {
        message.push_str(&format!("; to_number({name}) reads numbers in text"));
    }
    message
}

/// Binds `TIMESTAMP '2026-11-21'`.
pub(crate) fn typed_string(binder: &Binder<'_>, typed: &TypedString) -> Read<TypedExpr> {
    let text = literal::value(&typed.value.value)?;
    convert(target(&typed.data_type)?, text, binder.scope.zone())
}

fn convert(target: Target, bound: TypedExpr, zone: &TimeZone) -> Read<TypedExpr> {
    match (target, bound.value_type) {
        (_, Type::Null) => Ok(bound),
        (Target::Kind(Kind::String), _) => Ok(bound.into_text()),
        (Target::Kind(Kind::Number), Type::Number | Type::Bool | Type::Time | Type::String) => {
            Ok(bound.into_number())
        }
        (Target::Bool, _) => truth(bound),
        (Target::Time, Type::Number) => {
            let epoch = TypedExpr::literal(literal::EPOCH);
            Ok(TypedExpr::call(Function::AddSeconds, [epoch, bound], Type::Time))
        }
        (Target::Time, _) => arithmetic::time(bound),
        (Target::Day, _) => {
            let time = arithmetic::time(bound)?;
            time_function::bucket_of(CalendarSpan { months: 0, micros: DAY }, time, zone)
        }
        (Target::Kind(kind), other) if Some(kind) == list_kind(other) => Ok(bound),
        (Target::Kind(kind), other) => {
            Err(LocatedError::new(format!("{} cannot become a {kind}", a(other)), NOWHERE))
        }
    }
}

fn list_kind(value_type: Type) -> Option<Kind> {
    match value_type {
        Type::Set => Some(Kind::Set),
        Type::Vector => Some(Kind::Vector),
        _ => None,
    }
}

fn truth(bound: TypedExpr) -> Read<TypedExpr> {
    match (bound.value_type, bound.as_string().and_then(truth_of_text)) {
        (Type::Bool, _) => Ok(bound),
        (Type::Number, _) => {
            let zero = TypedExpr::whole(0);
            Ok(TypedExpr::call(Function::NotEqual, [bound, zero], Type::Bool))
        }
        (_, Some(truth)) => Ok(TypedExpr::literal(Value::Bool(truth))),
        (other, None) => {
            Err(LocatedError::new(format!("{} cannot become a bool", a(other)), NOWHERE))
        }
    }
}

/// Parses a text as a truth value.
pub(crate) fn truth_of_text(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "on" | "1" => Some(true),
        "false" | "f" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn target(data_type: &DataType) -> Read<Target> {
    let spelled = data_type.to_string().to_ascii_lowercase();
    // Parentheses as in `varchar(20)` and `numeric(10, 2)` have no effect.
    let (name, zone) = spelled.split_once('(').unwrap_or((&spelled, ""));
    let name = name.trim();
    Ok(match name {
        "string" | "text" | "varchar" | "character varying" | "char varying" | "char"
        | "character" => Target::Kind(Kind::String),
        "number" | "int" | "integer" | "bigint" | "smallint" | "tinyint" | "int2" | "int4"
        | "int8" | "int64" | "float" | "float4" | "float8" | "float64" | "double"
        | "double precision" | "real" | "numeric" | "decimal" | "dec" => Target::Kind(Kind::Number),
        "set" => Target::Kind(Kind::Set),
        "vector" => Target::Kind(Kind::Vector),
        "bool" | "boolean" => Target::Bool,
        "date" => Target::Day,
        _ if name.starts_with("timestamp") || name.starts_with("datetime") => Target::Time,
        _ => {
            return Err(LocatedError::new(format!("there is no type {name}{zone}"), NOWHERE)
                .hint("kinds are number, string, set and vector; also bool, timestamp and date"));
        }
    })
}
