//! The names that a query around another one can use: the outputs of the inner query, and what its
//! `*` lets through.

use sqlparser::ast::Ident;

use crate::bind::bound_expr::TypedExpr;
use crate::bind::scope::Column;
use crate::syntax::select_ast::joined;

/// The outputs of an inner query.
pub(crate) struct Derived<'a> {
    /// The name of the inner query.
    pub(crate) alias: Option<Ident>,
    /// The outputs, in order, without those of `*`.
    pub(crate) columns: Vec<DerivedColumn<'a>>,
    /// Whether the inner query selects `*`, so that names of the query below it remain.
    pub(crate) has_star: bool,
    /// The outputs of the query within the inner one; `None` for the table.
    pub(crate) below: Option<Box<Derived<'a>>>,
}

/// An output of an inner query.
pub(crate) struct DerivedColumn<'a> {
    pub(crate) name: String,
    /// The last part of a name with dots, such as `t.a`.
    pub(crate) last_part: Option<String>,
    pub(crate) bound: TypedExpr,
    /// The table's column that the output is, if it is one.
    pub(crate) column: Option<Column<'a>>,
}

/// What a name means around an inner query.
pub(crate) enum Lookup<'d, 'p, 'a> {
    /// An output of the inner query.
    Output(&'d DerivedColumn<'a>),
    /// A name of the table, without the alias of the inner query.
    Table(&'p [Ident]),
    /// Nothing.
    Missing,
}

impl<'a> Derived<'a> {
    /// Resolves the name `parts`, joined by dots. Exact names come first, then those that differ in
    /// letter case.
    pub(crate) fn find<'d, 'p>(&'d self, parts: &'p [Ident]) -> Lookup<'d, 'p, 'a> {
        let rest = match parts {
            [first, rest @ ..] if !rest.is_empty() && self.is_alias(first) => rest,
            _ => parts,
        };
        let named = |same: &dyn Fn(&str, &str) -> bool| {
            let names = [joined(parts), joined(rest)];
            self.columns.iter().find(|column| {
                names.iter().any(|name| {
                    same(&column.name, name)
                        || column.last_part.as_deref().is_some_and(|last| same(last, name))
                })
            })
        };
        let is_quoted = rest.iter().any(|part| part.quote_style.is_some());
        let column = named(&|name, wanted| name == wanted).or_else(|| match is_quoted {
            true => None,
            false => named(&|name, wanted| name.eq_ignore_ascii_case(wanted)),
        });
        match (column, self.has_star, &self.below) {
            (Some(column), ..) => Lookup::Output(column),
            (None, true, Some(below)) => below.find(rest),
            (None, true, None) => Lookup::Table(rest),
            (None, false, _) => Lookup::Missing,
        }
    }

    /// The names of the outputs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    fn is_alias(&self, name: &Ident) -> bool {
        self.alias.as_ref().is_some_and(|alias| match name.quote_style {
            Some(_) => name.value == alias.value,
            None => name.value.eq_ignore_ascii_case(&alias.value),
        })
    }
}
