//! The schema of rows, as a catalog would report it.

use std::collections::BTreeMap;

use hadal_types::{
    ColumnName, ColumnPart, ColumnSchema, Kind, Logical, TableName, TableSchema, Value,
};

use super::{TABLE, TIME_COLUMN};
use crate::oracle::Row;

/// The schema of a table that holds `rows`.
#[must_use]
pub fn schema(rows: &[Row]) -> TableSchema {
    let mut columns: BTreeMap<ColumnName, BTreeMap<Kind, ColumnPart>> = BTreeMap::new();
    let mut count = |name: &ColumnName, kind: Kind, logical: Logical| {
        let part = ColumnPart { kind, logical, rows: 0 };
        let parts = columns.entry(name.clone()).or_default();
        let part = parts.entry(kind).or_insert(part);
        part.rows += 1;
        part.logical = part.logical.and(logical);
    };
    for row in rows {
        count(&time_column(), Kind::Number, Logical::Time);
        for (name, value) in &row.cells {
            match value {
                Value::Bool(_) => count(name, Kind::Number, Logical::Bool),
                Value::Number(_) => count(name, Kind::Number, Logical::Plain),
                Value::String(_) => count(name, Kind::String, Logical::Plain),
                Value::Set(_) => count(name, Kind::Set, Logical::Plain),
                Value::Vector(_) => count(name, Kind::Vector, Logical::Plain),
                Value::Time(_) | Value::Histogram(_) | Value::Null => {}
            }
        }
    }
    let times = rows.iter().map(|row| row.time);
    TableSchema {
        name: table(),
        time_column: time_column(),
        columns: columns
            .into_iter()
            .map(|(name, parts)| ColumnSchema { name, parts: parts.into_values().collect() })
            .collect(),
        rows: u64::try_from(rows.len()).unwrap_or(u64::MAX),
        time_range: times.clone().min().zip(times.max()),
    }
}

pub(super) fn table() -> TableName {
    match TableName::new(TABLE) {
        Ok(name) => name,
        Err(error) => unreachable!("{error}"),
    }
}

fn time_column() -> ColumnName {
    match ColumnName::new(TIME_COLUMN) {
        Ok(name) => name,
        Err(error) => unreachable!("{error}"),
    }
}
