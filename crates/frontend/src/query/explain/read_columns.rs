//! The columns that a query reads from row blocks.

use std::collections::BTreeSet;

use hadal_query::{Expr, Measure, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{ColumnName, Kind, Weight};

/// The row block columns that a query reads.
#[derive(Debug, Default)]
pub(super) struct ReadColumns {
    /// Columns by name and kind, without the time column.
    pub(super) columns: BTreeSet<(ColumnName, Kind)>,
    /// Whether an expression uses the rows' time.
    pub(super) time: bool,
    /// Whether all strings, sets and vectors are searched.
    pub(super) all_texts: bool,
}

impl ReadColumns {
    /// The columns of a query of a table, which may have weights.
    pub(super) fn of(query: &Query, has_weights: bool) -> Self {
        let mut read = Self::default();
        let exprs: Vec<&RowExpr> = match &query.kind {
            QueryKind::Rows { values } => values.iter().chain(&query.filter).collect(),
            QueryKind::Groups { keys, measures } => {
                let arguments = measures.iter().flat_map(Measure::exprs);
                keys.iter().chain(arguments).chain(&query.filter).collect()
            }
        };
        for expr in exprs {
            read.add(expr);
        }
        let is_grouped = matches!(query.kind, QueryKind::Groups { .. });
        if let (true, true, Ok(name)) = (is_grouped, has_weights, ColumnName::new(Weight::COLUMN)) {
            read.columns.insert((name, Kind::Number));
        }
        read
    }

    /// Whether a row block column is read.
    pub(super) fn has(&self, name: &ColumnName, kind: Kind) -> bool {
        let is_named = |kind| self.columns.contains(&(name.clone(), kind));
        // A column as string includes its numbers.
        is_named(kind)
            || (kind == Kind::Number && is_named(Kind::String))
            || (kind != Kind::Number && self.all_texts)
    }

    fn add(&mut self, expr: &RowExpr) {
        match expr {
            Expr::Literal(_) | Expr::Leaf(RowInput::Random(_)) => {}
            Expr::Leaf(RowInput::Time) => self.time = true,
            Expr::Leaf(RowInput::AnyText(_)) => self.all_texts = true,
            Expr::Leaf(RowInput::Column(column)) => {
                self.columns.insert((column.name.clone(), column.kind));
            }
            Expr::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| self.add(argument))
            }
        }
    }
}
