//! The two queries of the experiments (Scuba, VLDB 2013, section 5.2), each over the last 3, 6 or
//! all 29 hours.

use std::sync::Arc;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial, PartialBody};
use hadal_query::Query;
use hadal_sql::{Catalog, Context, Statement, UnknownColumns, lower};
use hadal_types::{Micros, TableName, TableSchema};

use crate::error::Error;
use crate::events::{HOURS, SERVICES, START, TABLE, schema};

/// Points of each line of a time series, whatever the range: with ten services, 1,800 points.
pub(crate) const POINTS: u32 = 180;

/// One query.
#[derive(Clone)]
pub(crate) struct Question {
    /// Its kind and hours.
    pub(crate) kind: QuestionKind,
    /// The last hours that it asks for.
    pub(crate) hours: u32,
    /// The query itself.
    pub(crate) query: Arc<Query>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// A count and two sums: three numbers go up the tree.
    Scan,
    /// A count and a sum by service and time.
    TimeSeries,
}

impl QuestionKind {
    /// The name in results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::TimeSeries => "time series",
        }
    }
}

impl Question {
    /// Makes a question about the last `hours`.
    ///
    /// # Errors
    /// When the SQL is refused, which would be a fault of this program.
    pub(crate) fn new(kind: QuestionKind, hours: u32) -> Result<Self, Error> {
        let from = START + i64::from(HOURS - hours) * 3_600;
        let width = hours * 3_600 / POINTS;
        let sql = match kind {
            QuestionKind::Scan => format!(
                "SELECT count(*), sum(column1) AS sum1, sum(column2) AS sum2 FROM {TABLE} WHERE time >= {from}"
            ),
            QuestionKind::TimeSeries => format!(
                "SELECT count(*), sum(column1) AS sum1, service, time_bucket('{width} seconds', time) AS minute \
                 FROM {TABLE} WHERE time >= {from} GROUP BY service, minute ORDER BY sum1 DESC LIMIT {}",
                POINTS as usize * SERVICES
            ),
        };
        let catalog = OneTable(Arc::new(schema()?));
        let context =
            Context { catalog: &catalog, now: Micros(0), unknown_columns: UnknownColumns::Error };
        match lower(&sql, &context) {
            Ok(Statement::Query { mut query, .. }) => {
                // On a machine that plays hundreds, stragglers are its own fault.
                query.require_complete = true;
                Ok(Self { kind, hours, query: Arc::from(query) })
            }
            Ok(_) => Err(Error::NoQuestion(sql)),
            Err(cause) => Err(Error::Sql { sql, cause: Box::new(cause) }),
        }
    }

    /// Both kinds about all hours.
    pub(crate) fn both() -> Result<[Self; 2], Error> {
        Ok([Self::new(QuestionKind::Scan, HOURS)?, Self::new(QuestionKind::TimeSeries, HOURS)?])
    }

    /// Both kinds about all three ranges.
    pub(crate) fn all() -> Result<Vec<Self>, Error> {
        let kinds = [QuestionKind::Scan, QuestionKind::TimeSeries];
        kinds.iter().flat_map(|kind| [3, 6, HOURS].map(|hours| Self::new(*kind, hours))).collect()
    }

    /// The name in results.
    pub(crate) fn name(&self) -> String {
        format!("{}, {} h", self.kind.name(), self.hours)
    }

    /// Checks that a partial has this many rows, of this many leaves, and that none failed.
    ///
    /// # Errors
    /// [`Error::Overloaded`] if leaves that were asked did not answer, which only a busy machine
    /// explains here; otherwise [`Error::Wrong`].
    pub(crate) fn check(&self, partial: &Partial, rows: u64, leaves: usize) -> Result<(), Error> {
        let got = counted(partial);
        let coverage = &partial.coverage;
        let answered = coverage.leaves_answered as usize == leaves
            && coverage.leaves_asked as usize == leaves
            && coverage.rows_scanned == coverage.rows_expected;
        if got == rows && answered && partial.errors.is_empty() {
            return Ok(());
        }
        let question = self.name();
        let why = explained(partial, leaves);
        match partial.errors.is_empty() && is_overload(coverage) {
            true => Err(Error::Overloaded { question, why }),
            false => Err(Error::Wrong { question, got, expected: rows, why }),
        }
    }
}

/// Whether leaves are missing only because calls of them failed or took too long. A leaf that was
/// not called has no time.
fn is_overload(coverage: &Coverage) -> bool {
    let mut missing = missing(coverage).peekable();
    missing.peek().is_some() && missing.all(|leaf| leaf.micros > 0)
}

/// The leaves that did not answer.
fn missing(coverage: &Coverage) -> impl Iterator<Item = &LeafCoverage> {
    coverage.leaves.iter().filter(|leaf| leaf.outcome != LeafOutcome::Answered)
}

/// What a partial says of its leaves, rows and errors.
fn explained(partial: &Partial, leaves: usize) -> String {
    let coverage = &partial.coverage;
    let (answered, asked) = (coverage.leaves_answered, coverage.leaves_asked);
    let (scanned, expected) = (coverage.rows_scanned, coverage.rows_expected);
    let missing: Vec<String> =
        missing(coverage).map(|leaf| format!("{} {}", leaf.name.0, leaf.outcome.name())).collect();
    format!(
        "{answered} of {asked} leaves answered, {leaves} were expected; {scanned} of {expected} \
         rows scanned; missing: [{}]; {:?}",
        missing.join(", "),
        partial.errors
    )
}

/// The rows in all groups.
fn counted(partial: &Partial) -> u64 {
    match &partial.body {
        PartialBody::Groups(groups) => {
            let (groups, dropped) = groups.clone().into_sorted();
            groups.iter().map(|(_, group)| group.count.rows()).sum::<u64>() + dropped
        }
        PartialBody::Rows(_) => 0,
    }
}

/// A catalog of one table.
struct OneTable(Arc<TableSchema>);

impl Catalog for OneTable {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        (self.0.name.as_str() == name).then(|| Arc::clone(&self.0))
    }

    fn table_names(&self) -> Vec<TableName> {
        vec![self.0.name.clone()]
    }
}
