//! The type of a column in queries, and the rows that have a value in it.

use hadal_query::{ColumnRef, Type};
use hadal_types::{ColumnPart, ColumnSchema};

/// Rows in which the column has a value, of any kind.
#[must_use]
pub fn rows_of(column: &ColumnSchema) -> u64 {
    column.parts.iter().map(|part| part.rows).sum()
}

/// The type that the column has in a query that names no kind.
#[must_use]
pub fn type_of(column: &ColumnSchema) -> Type {
    column.main_part().map_or(Type::Null, |part| reference(column, part).value_type())
}

/// The column and the kind of this part.
pub(crate) fn reference(column: &ColumnSchema, part: &ColumnPart) -> ColumnRef {
    ColumnRef { name: column.name.clone(), kind: part.kind, logical: part.logical }
}
