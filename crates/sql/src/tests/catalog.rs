//! The tables of the tests.

use std::sync::Arc;

use hadal_types::{
    ColumnName, ColumnPart, ColumnSchema, Kind, Logical, Micros, TableName, TableSchema,
};

use crate::Catalog;

/// 2023-11-15T12:00:00Z.
pub(super) const NOW: Micros = Micros(1_700_049_600 * Micros::SECOND);

pub(super) struct Tables(Vec<Arc<TableSchema>>);

type Part = (Kind, Logical, u64);

const NUMBER: Part = (Kind::Number, Logical::Plain, 10);
const BOOL: Part = (Kind::Number, Logical::Bool, 10);
const TIME: Part = (Kind::Number, Logical::Time, 10);
const STRING: Part = (Kind::String, Logical::Plain, 10);
const FEW_STRINGS: Part = (Kind::String, Logical::Plain, 1);
const SET: Part = (Kind::Set, Logical::Plain, 10);
const VECTOR: Part = (Kind::Vector, Logical::Plain, 10);

impl Tables {
    pub(super) fn new() -> Self {
        let requests = table(
            "requests",
            "time",
            &[
                ("time", &[TIME]),
                ("latency", &[NUMBER]),
                ("bytes", &[NUMBER]),
                ("mixed", &[NUMBER, FEW_STRINGS]),
                ("ok", &[BOOL]),
                ("sent", &[TIME]),
                ("service", &[STRING]),
                ("Country", &[STRING]),
                ("user", &[STRING]),
                ("path", &[STRING]),
                ("http.status", &[NUMBER]),
                ("a b", &[STRING]),
                ("tags", &[SET]),
                ("stack", &[VECTOR]),
                ("time_taken", &[NUMBER]),
            ],
        );
        let events = table(
            "events",
            "ts",
            &[("ts", &[TIME]), ("time", &[NUMBER]), ("x", &[NUMBER]), ("X", &[NUMBER])],
        );
        let paper = table(
            "mytable",
            "time",
            &[
                ("time", &[TIME]),
                ("column1", &[NUMBER]),
                ("column2", &[NUMBER]),
                ("service", &[STRING]),
            ],
        );
        let other = table("my-table", "at", &[("at", &[TIME])]);
        Self(vec![requests, events, paper, other, table("lost", "time", &[])])
    }
}

fn table(name: &str, time_column: &str, columns: &[(&str, &[Part])]) -> Arc<TableSchema> {
    let part =
        |(kind, logical, rows): &Part| ColumnPart { kind: *kind, logical: *logical, rows: *rows };
    let column = |(name, parts): &(&str, &[Part])| ColumnSchema {
        name: ColumnName::new(name).expect("a column name"),
        parts: parts.iter().map(part).collect(),
    };
    let mut columns: Vec<ColumnSchema> = columns.iter().map(column).collect();
    columns.sort_by(|left, right| left.name.cmp(&right.name));
    Arc::new(TableSchema {
        name: TableName::new(name).expect("a table name"),
        time_column: ColumnName::new(time_column).expect("a column name"),
        columns,
        rows: 11,
        time_range: Some((Micros(NOW.0 - 86_400 * Micros::SECOND), NOW)),
    })
}

impl Catalog for Tables {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.0.iter().find(|table| table.name.as_str() == name).cloned()
    }

    fn table_names(&self) -> Vec<TableName> {
        self.0.iter().map(|table| table.name.clone()).collect()
    }
}
