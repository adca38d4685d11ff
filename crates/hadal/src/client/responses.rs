//! The parts of a server's answers that the commands use.

use serde::Deserialize;
use serde_json::Value;

/// The kind of rows that are groups.
pub(crate) const GROUP: &str = "group";

/// The answer to a query.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) coverage: Coverage,
    pub(crate) stats: Stats,
    #[serde(default)]
    pub(crate) warnings: Vec<Warning>,
    /// What each row stands for: `group`, `other` or `total`; empty if all are groups.
    #[serde(default)]
    row_kinds: Vec<String>,
    /// The index of the column that says so, once it is added.
    #[serde(skip)]
    row_kind_column: Option<usize>,
}

impl Answer {
    /// An answer that no server gave.
    pub(crate) fn new(columns: Vec<Column>, rows: Vec<Vec<Value>>) -> Self {
        Self {
            columns,
            rows,
            coverage: Coverage::default(),
            stats: Stats::default(),
            warnings: Vec::new(),
            row_kinds: Vec::new(),
            row_kind_column: None,
        }
    }

    /// The same with a last column `row_kind`, if rows sum up groups: their keys are null, but so
    /// may be those of a group.
    pub(crate) fn with_row_kind_column(mut self) -> Self {
        if self.row_kinds.iter().any(|kind| kind != GROUP) {
            self.row_kind_column = Some(self.columns.len());
            self.columns.push(Column { name: "row_kind".to_owned(), kind: "string".to_owned() });
            for (row, kind) in self.rows.iter_mut().zip(&self.row_kinds) {
                row.push(Value::String(kind.clone()));
            }
        }
        self
    }

    /// The index of the column that says what rows stand for.
    pub(crate) fn row_kind_column(&self) -> Option<usize> {
        self.row_kind_column
    }
}

/// One column of an answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

impl Column {
    /// Whether its values are points in time.
    pub(crate) fn is_time(&self) -> bool {
        self.kind.starts_with("time")
    }

    /// Whether its values are numbers.
    pub(crate) fn is_number(&self) -> bool {
        self.kind == "number"
    }
}

/// The share of the stored rows that was scanned.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Coverage {
    pub(crate) leaves_asked: u64,
    pub(crate) leaves_answered: u64,
    pub(crate) rows_expected: u64,
    pub(crate) rows_scanned: u64,
    pub(crate) fraction: f64,
    /// Whether an unknown number of rows is lost.
    #[serde(default)]
    pub(crate) fraction_is_upper_bound: bool,
}

/// The cost of the answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Stats {
    pub(crate) elapsed_micros: u64,
}

/// A remark for the client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Warning {
    /// The kind of warning, for programs.
    #[serde(default)]
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) count: u64,
}

/// The result of a batch.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct LogReceipt {
    pub(crate) accepted: u64,
    pub(crate) rejected_count: u64,
    #[serde(default)]
    pub(crate) reject_kinds: Vec<RejectedKind>,
    #[serde(default)]
    pub(crate) warnings: Vec<Warning>,
    /// The source of the rows' times, worded for people; empty without rows.
    #[serde(default)]
    pub(crate) time_from: String,
    /// How the times are written, in the words of strptime; `None` for ISO 8601.
    #[serde(default)]
    pub(crate) time_format: Option<String>,
    /// The zone that was assumed because the times name none.
    #[serde(default)]
    pub(crate) zone_assumed: Option<String>,
    #[serde(default)]
    pub(crate) year_assumed: bool,
    /// What became of rows without a time, if the server detected it.
    #[serde(default)]
    pub(crate) untimed: Option<String>,
    /// Whether the whole batch had been accepted before.
    #[serde(default)]
    pub(crate) duplicate: bool,
}

/// The rejected lines of one kind, and the first of them.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RejectedKind {
    pub(crate) kind: String,
    pub(crate) count: u64,
    pub(crate) line: u64,
    pub(crate) reason: String,
    pub(crate) excerpt: String,
}
