//! LIKE, ILIKE and regular expressions. Each pattern is compiled once here, so that an invalid
//! pattern is reported with its position.

use hadal_query::{Function, Pattern, PatternError, PatternSyntax, Type};
use hadal_types::{Value, limits};
use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::tokenizer::Location;

use crate::bind::Binder;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::scope::a;
use crate::error::{LocatedError, Read};
use crate::syntax::source_position::place;

/// The syntax of a pattern operator, and whether it is negated.
pub(crate) fn operator(op: &BinaryOperator) -> Option<(PatternSyntax, bool)> {
    Some(match op {
        BinaryOperator::PGRegexMatch => (PatternSyntax::Regex, false),
        BinaryOperator::PGRegexIMatch => (PatternSyntax::IRegex, false),
        BinaryOperator::PGRegexNotMatch => (PatternSyntax::Regex, true),
        BinaryOperator::PGRegexNotIMatch => (PatternSyntax::IRegex, true),
        BinaryOperator::PGLikeMatch => (PatternSyntax::Like, false),
        BinaryOperator::PGILikeMatch => (PatternSyntax::ILike, false),
        BinaryOperator::PGNotLikeMatch => (PatternSyntax::Like, true),
        BinaryOperator::PGNotILikeMatch => (PatternSyntax::ILike, true),
        _ => return None,
    })
}

/// Binds LIKE and ILIKE.
pub(crate) fn like(binder: &mut Binder<'_>, expr: &Expr) -> Read<TypedExpr> {
    match expr {
        Expr::Like { negated, any: false, expr, pattern, escape_char } => {
            check_escape(escape_char.as_deref())?;
            matches(binder, (PatternSyntax::Like, *negated), expr, pattern)
        }
        Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
            check_escape(escape_char.as_deref())?;
            matches(binder, (PatternSyntax::ILike, *negated), expr, pattern)
        }
        _ => {
            Err(LocatedError::new("LIKE takes one pattern", place(expr)).hint("join LIKEs with OR"))
        }
    }
}

fn check_escape(escape: Option<&Expr>) -> Read<()> {
    match escape {
        None => Ok(()),
        Some(Expr::Value(value)) if value.value.clone().into_string().as_deref() == Some("\\") => {
            Ok(())
        }
        Some(other) => Err(LocatedError::new("LIKE escapes with \\ only", place(other))),
    }
}

/// Binds `text ~ pattern` in the given syntax.
pub(crate) fn matches(
    binder: &mut Binder<'_>,
    (syntax, negated): (PatternSyntax, bool),
    text: &Expr,
    pattern: &Expr,
) -> Read<TypedExpr> {
    let value = binder.bind(text)?;
    let source = binder.bind(pattern)?;
    let Some(source) = source.as_string() else {
        return Err(LocatedError::new("a pattern must be a constant text", place(pattern)));
    };
    if matches!(value.value_type, Type::Set | Type::Vector | Type::Histogram) {
        let message =
            format!("a pattern is matched with a string; this is {}", a(value.value_type));
        return Err(LocatedError::new(message, place(text))
            .hint("includes_any(column, 'x') asks for elements, search('x') for text anywhere"));
    }
    binder.patterns += 1;
    if binder.patterns > limits::PATTERNS_MAX {
        return Err(too_many(place(pattern)));
    }
    Pattern::new(source, syntax).map_err(|error| refuse(&error, pattern))?;
    let source = TypedExpr::literal(Value::string(source));
    let text = if value.value_type == Type::Null { value } else { value.into_text() };
    let matched = TypedExpr::call(Function::Matches(syntax), [text, source], Type::Bool);
    Ok(if negated { matched.negated() } else { matched })
}

/// The error for more patterns than one query may have.
pub(crate) fn too_many(at: Location) -> LocatedError {
    LocatedError::new(format!("more than {} patterns in one query", limits::PATTERNS_MAX), at)
}

fn refuse(error: &PatternError, pattern: &Expr) -> LocatedError {
    LocatedError::new(error.to_string(), place(pattern))
}
