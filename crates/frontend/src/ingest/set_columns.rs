//! The columns of a table that hold only sets.

use hadal_types::{ColumnSchema, Kind, TableSchema};

/// Columns that hold only sets: their arrays are sets from then on.
pub(super) fn sets_of(schema: &TableSchema) -> impl Iterator<Item = String> {
    let is_set = |column: &&ColumnSchema| column.parts.iter().all(|part| part.kind == Kind::Set);
    schema.columns.iter().filter(is_set).map(|column| column.name.to_string())
}
