//! The position of an expression in its text.

use sqlparser::ast::{self, Expr};
use sqlparser::tokenizer::Location;

use crate::error::NOWHERE;

/// The position of the first element of `expr` that has one.
///
/// Descends the left side in a loop, because a chain of operators can be thousands deep.
pub(crate) fn place(expr: &Expr) -> Location {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Identifier(ident) => return ident.span.start,
            Expr::CompoundIdentifier(idents) => {
                return idents.first().map_or(NOWHERE, |ident| ident.span.start);
            }
            Expr::Value(value) => return value.span.start,
            Expr::TypedString(typed) => return typed.value.span.start,
            Expr::Function(function) => return place_of_name(&function.name),
            Expr::Case { case_token, .. } => return case_token.0.span.start,
            Expr::Wildcard(token) | Expr::QualifiedWildcard(_, token) => {
                return token.0.span.start;
            }
            Expr::Subquery(query) | Expr::Exists { subquery: query, .. } => {
                return place_of_query(query);
            }
            Expr::Array(array) => match array.elem.first() {
                Some(first) => first,
                None => return NOWHERE,
            },
            Expr::Tuple(items) => match items.first() {
                Some(first) => first,
                None => return NOWHERE,
            },
            Expr::Interval(interval) => &interval.value,
            Expr::BinaryOp { left, .. }
            | Expr::AnyOp { left, .. }
            | Expr::AllOp { left, .. }
            | Expr::IsDistinctFrom(left, _)
            | Expr::IsNotDistinctFrom(left, _) => left,
            Expr::CompoundFieldAccess { root: inner, .. }
            | Expr::JsonAccess { value: inner, .. }
            | Expr::Nested(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::AtTimeZone { timestamp: inner, .. } => inner,
            Expr::InList { expr, .. }
            | Expr::InSubquery { expr, .. }
            | Expr::Between { expr, .. }
            | Expr::Like { expr, .. }
            | Expr::ILike { expr, .. }
            | Expr::SimilarTo { expr, .. }
            | Expr::RLike { expr, .. }
            | Expr::UnaryOp { expr, .. }
            | Expr::Cast { expr, .. }
            | Expr::Extract { expr, .. }
            | Expr::Ceil { expr, .. }
            | Expr::Floor { expr, .. }
            | Expr::Position { expr, .. }
            | Expr::Substring { expr, .. }
            | Expr::Trim { expr, .. }
            | Expr::Overlay { expr, .. }
            | Expr::Collate { expr, .. } => expr,
            _ => return NOWHERE,
        };
    }
}

/// The position of a function's or table's name.
pub(crate) fn place_of_name(name: &ast::ObjectName) -> Location {
    name.0.first().and_then(ast::ObjectNamePart::as_ident).map_or(NOWHERE, |ident| ident.span.start)
}

fn place_of_query(query: &ast::Query) -> Location {
    match &*query.body {
        ast::SetExpr::Select(select) => select.select_token.0.span.start,
        _ => NOWHERE,
    }
}
