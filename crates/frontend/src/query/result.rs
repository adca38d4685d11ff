//! Results of statements.

use hadal_aggregate::{Coverage, Interval, RowKind, ScanStats, SparseRow, Warning};
use hadal_query::Type;
use hadal_sql::Note;
use hadal_types::{MemoryReservation, TimeRange};

use crate::query::number_class::NumberClass;

/// The rows of a statement, with coverage, statistics and warnings.
#[derive(Debug, Default)]
pub struct QueryResult {
    /// Names and types of the columns.
    pub columns: Vec<(String, Type)>,
    /// What is known of the columns' numbers before they are computed; empty for other statements
    /// than queries.
    pub numbers: Vec<NumberClass>,
    /// The rows, with a value for each column.
    pub rows: Vec<SparseRow>,
    /// Stored rows behind each row of a grouped answer.
    pub samples: Option<Vec<u64>>,
    /// The confidence interval of each number, if they are asked for beside the rows.
    pub intervals: Option<Vec<Vec<Interval>>>,
    /// What each row stands for, if some may be no groups.
    pub row_kinds: Option<Vec<RowKind>>,
    /// The time range of the query, once `now()` is known.
    pub time: Option<TimeRange>,
    /// A query spec as SQL.
    pub sql: Option<String>,
    /// Expected and scanned rows.
    pub coverage: Coverage,
    /// Statistics of the scan.
    pub stats: ScanStats,
    /// Doubts about the answer.
    pub warnings: Vec<QueryWarning>,
    /// Memory reserved for the rows.
    pub reservation: MemoryReservation,
}

/// A doubt about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWarning {
    /// A stable name for programs.
    pub code: &'static str,
    /// The column or table that it is about; may be empty.
    pub subject: String,
    /// How often it occurred.
    pub count: u64,
    /// The doubt in words.
    pub message: String,
}

impl From<&Warning> for QueryWarning {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code.name(),
            subject: warning.subject.clone(),
            count: warning.count,
            message: warning.message(),
        }
    }
}

impl From<Note> for QueryWarning {
    fn from(note: Note) -> Self {
        Self { code: note.code, subject: String::new(), count: 1, message: note.message }
    }
}

impl QueryWarning {
    /// The code of a warning about damage. Its message is the first of `count` sentences.
    pub const DAMAGE: &'static str = "damage";

    /// A warning of the front itself.
    pub(crate) fn new(code: &'static str, subject: &str, count: u64, message: String) -> Self {
        Self { code, subject: subject.to_owned(), count, message }
    }
}
