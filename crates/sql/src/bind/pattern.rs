//! LIKE, ILIKE and regular expressions. Each pattern is compiled once here, so that an invalid
//! pattern is reported with its position.

use hadal_query::{Function, Pattern, PatternError, PatternSyntax, Type};
use hadal_types::{Value, limits};
use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::tokenizer::Location;

use crate::bind::Binder;
use crate::bind::any_of;
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

/// Binds LIKE and ILIKE, also with ANY of some patterns.
pub(crate) fn like(binder: &mut Binder<'_>, expr: &Expr) -> Read<TypedExpr> {
    let (syntax, negated, any, text, pattern, escape) = match expr {
        Expr::Like { negated, any, expr, pattern, escape_char } => {
            (PatternSyntax::Like, *negated, *any, expr, pattern, escape_char)
        }
        Expr::ILike { negated, any, expr, pattern, escape_char } => {
            (PatternSyntax::ILike, *negated, *any, expr, pattern, escape_char)
        }
        _ => {
            return Err(LocatedError::new("this form of LIKE is not supported", place(expr))
                .hint("write LIKE, ILIKE or ~"));
        }
    };
    check_escape(escape.as_deref())?;
    if !any {
        return matches(binder, (syntax, negated), text, pattern);
    }
    let Some(patterns) = any_of::elements(pattern) else {
        return Err(LocatedError::new("LIKE ANY takes a list of patterns", place(pattern))
            .hint("x LIKE ANY (ARRAY['a%', 'b%'])"));
    };
    let conditions = patterns.iter().map(|one| matches(binder, (syntax, negated), text, one));
    let conditions = conditions.collect::<Read<Vec<_>>>()?;
    Ok(TypedExpr::call_all(Function::Or, conditions, Type::Bool))
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
