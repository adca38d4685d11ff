//! SHOW TABLES and DESCRIBE: answered from the catalog, without reading rows.

use hadal_aggregate::SparseRow;
use hadal_query::Type;
use hadal_tree::ClusterStatus;
use hadal_types::{ColumnSchema, Decimal, Micros, TableSchema, Value};

use crate::column_type::{rows_of, type_of};
use crate::query::result::QueryResult;

/// The columns of SHOW TABLES.
pub(crate) const TABLES_COLUMNS: [(&str, Type); 6] = [
    ("table", Type::String),
    ("rows", Type::Number),
    ("columns", Type::Number),
    ("bytes", Type::Number),
    ("first_time", Type::Time),
    ("last_time", Type::Time),
];

/// The columns of DESCRIBE.
pub(crate) const DESCRIBE_COLUMNS: [(&str, Type); 6] = [
    ("column", Type::String),
    ("type", Type::String),
    ("kinds", Type::Vector),
    ("rows", Type::Number),
    ("nulls", Type::Number),
    ("is_time", Type::Bool),
];

/// One row per table: its name, rows, columns, bytes, and the times that it spans.
pub(crate) fn show_tables(catalog: &ClusterStatus) -> QueryResult {
    let row = |table: &hadal_peer::TableStatus| {
        let schema = &table.schema;
        vec![
            Value::string(schema.name.as_str()),
            count(schema.rows),
            count(schema.columns.len() as u64),
            count(table.block_bytes),
            time(schema.time_range.map(|(first, _)| first)),
            time(schema.time_range.map(|(_, last)| last)),
        ]
    };
    QueryResult {
        columns: named(&TABLES_COLUMNS),
        rows: catalog.tables.values().map(row).map(SparseRow::from).collect(),
        ..QueryResult::default()
    }
}

/// One row per column: its name, the type it has in queries, its kinds, and how full it is.
pub(crate) fn describe(schema: &TableSchema) -> QueryResult {
    let row = |column: &ColumnSchema| {
        let rows = rows_of(column);
        vec![
            Value::string(column.name.as_str()),
            Value::string(type_of(column).name()),
            Value::vector(column.parts.iter().map(|part| part.kind.name())),
            count(rows),
            count(schema.rows.saturating_sub(rows)),
            Value::Bool(column.name == schema.time_column),
        ]
    };
    QueryResult {
        columns: named(&DESCRIBE_COLUMNS),
        rows: schema.columns.iter().map(row).map(SparseRow::from).collect(),
        ..QueryResult::default()
    }
}

/// Names and types of an answer's columns.
pub(crate) fn named(columns: &[(&str, Type)]) -> Vec<(String, Type)> {
    columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
}

/// A count as a value.
pub(crate) fn count(count: u64) -> Value {
    Decimal::new(count.into(), 0).map_or(Value::Null, |count| Value::Number(count.into()))
}

/// A time that may be missing as a value.
pub(crate) fn time(time: Option<Micros>) -> Value {
    time.map_or(Value::Null, Value::Time)
}
