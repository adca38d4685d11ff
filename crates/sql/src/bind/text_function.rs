//! Functions of strings and numbers that a table of signatures describes.

use hadal_query::{Function, MathFunction, TextFunction, Type};
use sqlparser::ast::{self, Expr, TrimWhereField};

use crate::bind::Binder;
use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::call::Call;
use crate::bind::regexp;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// A function's name, its parameters, how many of them are needed, and its type. Parameters are
/// `t` for a text and `n` for a number.
type Signature = (&'static str, Function, &'static str, usize, Type);

const fn text(function: TextFunction) -> Function {
    Function::Text(function)
}

const fn math(function: MathFunction) -> Function {
    Function::Math(function)
}

const SIGNATURES: [Signature; 32] = [
    ("btrim", text(TextFunction::Trim), "tt", 1, Type::String),
    ("contains", text(TextFunction::Contains), "tt", 2, Type::Bool),
    ("ends_with", text(TextFunction::EndsWith), "tt", 2, Type::Bool),
    ("exp", math(MathFunction::Exp), "n", 1, Type::Number),
    ("left", text(TextFunction::Left), "tn", 2, Type::String),
    ("ln", math(MathFunction::Ln), "n", 1, Type::Number),
    ("log", math(MathFunction::Log), "nn", 1, Type::Number),
    ("log10", math(MathFunction::Log), "n", 1, Type::Number),
    ("lpad", text(TextFunction::PadStart), "tnt", 2, Type::String),
    ("ltrim", text(TextFunction::TrimStart), "tt", 1, Type::String),
    ("position", text(TextFunction::Position), "tt", 2, Type::Number),
    ("pow", math(MathFunction::Power), "nn", 2, Type::Number),
    ("power", math(MathFunction::Power), "nn", 2, Type::Number),
    ("repeat", text(TextFunction::Repeat), "tn", 2, Type::String),
    ("replace", text(TextFunction::Replace), "ttt", 3, Type::String),
    ("reverse", text(TextFunction::Reverse), "t", 1, Type::String),
    ("right", text(TextFunction::Right), "tn", 2, Type::String),
    ("rpad", text(TextFunction::PadEnd), "tnt", 2, Type::String),
    ("rtrim", text(TextFunction::TrimEnd), "tt", 1, Type::String),
    ("sign", math(MathFunction::Sign), "n", 1, Type::Number),
    ("split_part", text(TextFunction::SplitPart), "ttn", 3, Type::String),
    ("sqrt", math(MathFunction::Sqrt), "n", 1, Type::Number),
    ("starts_with", text(TextFunction::StartsWith), "tt", 2, Type::Bool),
    ("strpos", text(TextFunction::Position), "tt", 2, Type::Number),
    ("substr", text(TextFunction::Substring), "tnn", 2, Type::String),
    ("substring", text(TextFunction::Substring), "tnn", 2, Type::String),
    ("trim", text(TextFunction::Trim), "tt", 1, Type::String),
    ("trunc", math(MathFunction::Truncate), "nn", 1, Type::Number),
    ("url_host", text(TextFunction::UrlHost), "t", 1, Type::String),
    ("url_parameter", text(TextFunction::UrlParameter), "tt", 2, Type::String),
    ("url_path", text(TextFunction::UrlPath), "t", 1, Type::String),
    ("width_bucket", math(MathFunction::WidthBucket), "nnnn", 4, Type::Number),
];

/// The names of these functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SIGNATURES.iter().map(|(name, ..)| *name)
}

/// Binds a call; `None` if the name is no such function.
pub(crate) fn bind(call: &Call<'_>, bound: Vec<TypedExpr>) -> Option<Read<TypedExpr>> {
    let signature = SIGNATURES.iter().find(|(name, ..)| *name == call.name)?;
    Some(bind_signature(signature, call, bound))
}

fn bind_signature(
    (name, function, parameters, needed, value_type): &Signature,
    call: &Call<'_>,
    bound: Vec<TypedExpr>,
) -> Read<TypedExpr> {
    let (given, most) = (bound.len(), parameters.len());
    if !(*needed..=most).contains(&given) {
        let plural = if most == 1 { "" } else { "s" };
        let count = match *needed == most {
            true => format!("{most} argument{plural}"),
            false => format!("{needed} to {most} arguments"),
        };
        return Err(LocatedError::new(format!("{name} takes {count}, not {given}"), call.at));
    }
    let mut arguments = Vec::with_capacity(given);
    for (index, (value, parameter)) in bound.into_iter().zip(parameters.bytes()).enumerate() {
        arguments.push(match parameter {
            b't' => call.string(value, index)?,
            _ => arithmetic::number(value, call.place(index))?,
        });
    }
    let whole = *function == text(TextFunction::Position);
    Ok(TypedExpr { whole, ..TypedExpr::call_all(*function, arguments, *value_type) })
}

/// Binds the forms with key words: `substring(s FROM 2 FOR 3)`, `trim(BOTH 'x' FROM s)` and
/// `position('x' IN s)`.
pub(crate) fn keyword_form(binder: &mut Binder<'_>, expr: &Expr) -> Read<TypedExpr> {
    let (name, exprs): (&str, Vec<&Expr>) = match expr {
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            return substring(binder, expr, substring_from.as_deref(), substring_for.as_deref());
        }
        Expr::Trim { expr, trim_where, trim_what, trim_characters } => {
            let name = match trim_where {
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
                Some(TrimWhereField::Both) | None => "trim",
            };
            let characters = trim_characters.iter().flatten();
            let all = std::iter::once(&**expr).chain(trim_what.as_deref()).chain(characters);
            (name, all.collect())
        }
        Expr::Position { expr, r#in } => ("position", vec![r#in, expr]),
        _ => return Err(LocatedError::new("no function of strings", place(expr))),
    };
    call(binder, name, &exprs)
}

fn substring(
    binder: &mut Binder<'_>,
    text: &Expr,
    from: Option<&Expr>,
    length: Option<&Expr>,
) -> Read<TypedExpr> {
    if let (Some(Expr::Value(pattern)), None) = (from, length)
        && matches!(pattern.value, ast::Value::SingleQuotedString(_))
    {
        return regexp::substring(binder, text, from.unwrap_or(text));
    }
    let one = Expr::value(ast::Value::Number("1".to_owned(), false));
    let exprs: Vec<&Expr> = [text, from.unwrap_or(&one)].into_iter().chain(length).collect();
    call(binder, "substring", &exprs)
}

fn call(binder: &mut Binder<'_>, name: &str, exprs: &[&Expr]) -> Read<TypedExpr> {
    let mut bound = Vec::with_capacity(exprs.len());
    for expr in exprs {
        bound.push(binder.bind(expr)?);
    }
    let places = exprs.iter().map(|expr| place(expr)).collect();
    let call = Call { name, at: NOWHERE, places };
    bind(&call, bound)
        .unwrap_or_else(|| Err(LocatedError::new(format!("there is no function {name}"), NOWHERE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend_and_signatures_fit() {
        let names: Vec<&str> = names().collect();
        assert!(names.is_sorted(), "{names:?}");
        for (name, _, parameters, needed, _) in SIGNATURES {
            assert!(needed <= parameters.len(), "{name}");
        }
    }
}
