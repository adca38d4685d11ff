//! The settings of one body: where its rows go, and how it is read.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_types::{BatchId, ColumnName, TableName};

use crate::age_policy::AgePolicy;
use crate::columns::TableColumns;
use crate::read_options::ReadOptions;

/// The target of rows, and known facts about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The table.
    pub table: TableName,
    /// The id of the first batch; the others are its parts.
    pub batch_id: BatchId,
    /// The only field that may hold a row's time, if the caller names one.
    pub time_column: Option<ColumnName>,
    /// The table's time column; `None` if the table does not exist yet.
    pub table_time_column: Option<ColumnName>,
    /// The table's columns, shared by all its bodies.
    pub table_columns: Arc<TableColumns>,
    /// The fields whose arrays are sets.
    pub sets: HashSet<String>,
    /// The age limit of rows.
    pub age: AgePolicy,
    /// How the body is read.
    pub read: ReadOptions,
}
