//! Which kinds of each column a query sees, and so which rows the query leaves out.
//!
//! A row has its value of a column in one kind. If the filter uses the column in other kinds only,
//! the row cannot pass. If the row passed, but keys, measures or raw values use other kinds only,
//! its value counts as null in these. Each rule considers all uses of the column in the filter, or
//! in the outputs, together: raw rows that show every kind leave no row out. `IS NULL` in a filter
//! accepts rows of other kinds and is not a use of the value.

use std::collections::BTreeMap;

use hadal_query::{ColumnRef, Expr, Function, Measure, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{ColumnName, Kind};

/// The columns that a query uses.
pub(crate) type VisibleColumns = BTreeMap<ColumnName, VisibleKinds>;

/// The kinds of one column that a query sees.
#[derive(Debug, Default)]
pub(crate) struct VisibleKinds {
    by_filter: Kinds,
    by_outputs: Kinds,
}

/// Which part of a query does not see a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// The filter.
    ByFilter,
    /// The keys, the measures or the raw values.
    ByOutputs,
}

/// Whether each kind is seen; none if the column is not used.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds([bool; Kind::ALL.len()]);

impl Kinds {
    fn add(&mut self, kind: Kind) {
        self.0[kind as usize] = true;
        // A string column also shows numbers, as their decimal text.
        self.0[Kind::Number as usize] |= kind == Kind::String;
    }

    fn leave_out(self, kind: Kind) -> bool {
        self.0.contains(&true) && !self.0[kind as usize]
    }
}

impl VisibleKinds {
    /// Which part does not see rows that have the column as this kind; the filter comes first.
    pub(crate) fn hidden(&self, kind: Kind) -> Option<Hidden> {
        if self.by_filter.leave_out(kind) {
            return Some(Hidden::ByFilter);
        }
        self.by_outputs.leave_out(kind).then_some(Hidden::ByOutputs)
    }
}

/// All columns that `query` uses.
pub(crate) fn visible_columns(query: &Query) -> VisibleColumns {
    let mut columns = VisibleColumns::new();
    if let Some(filter) = &query.filter {
        for_each_value(filter, &mut |column| {
            columns.entry(column.name.clone()).or_default().by_filter.add(column.kind);
        });
    }
    let (keys, measures) = match &query.kind {
        QueryKind::Rows { values } => (values, &[][..]),
        QueryKind::Groups { keys, measures } => (keys, measures.as_slice()),
    };
    for output in keys.iter().chain(measures.iter().flat_map(Measure::exprs)) {
        output.for_each_leaf(&mut |input| {
            if let RowInput::Column(column) = input {
                columns.entry(column.name.clone()).or_default().by_outputs.add(column.kind);
            }
        });
    }
    columns
}

/// Calls `visit` with each column whose value a filter uses.
fn for_each_value(filter: &RowExpr, visit: &mut impl FnMut(&ColumnRef)) {
    match filter {
        Expr::Leaf(RowInput::Column(column)) => visit(column),
        Expr::Call { function: Function::IsNull, arguments }
            if matches!(arguments.as_slice(), [Expr::Leaf(_)]) => {}
        Expr::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_value(argument, visit));
        }
        Expr::Leaf(_) | Expr::Literal(_) => {}
    }
}
