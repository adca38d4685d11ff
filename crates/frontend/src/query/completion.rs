//! What the front adds to the answer of a query.

use std::sync::Arc;

use hadal_aggregate::ResultSet;
use hadal_query::{ConfidencePlan, Query, QueryKind};
use hadal_sql::Note;
use hadal_types::{TableName, TimeRange, Weight};

use crate::frontend::Frontend;
use crate::query::intervals::{self, IntervalForm};
use crate::query::number_class::NumberClass;
use crate::query::result::{QueryResult, QueryWarning};
use crate::query::row_kinds;

/// What the front adds to the answer of a query.
pub(crate) struct Completion<'f> {
    frontend: &'f Frontend,
    numbers: Vec<NumberClass>,
    range: TimeRange,
    is_grouped: bool,
    has_sums: bool,
    confidence: Option<Arc<ConfidencePlan>>,
    form: IntervalForm,
    notes: Vec<Note>,
}

impl<'f> Completion<'f> {
    pub(crate) fn new(
        frontend: &'f Frontend,
        query: &Query,
        notes: Vec<Note>,
        form: IntervalForm,
    ) -> Self {
        Self {
            frontend,
            numbers: NumberClass::of_outputs(query, has_weights(frontend, &query.table)),
            range: query.range,
            is_grouped: matches!(query.kind, QueryKind::Groups { .. }),
            has_sums: row_kinds::has_sums(query),
            confidence: query.confidence.clone(),
            form,
            notes,
        }
    }

    /// The answer as clients get it.
    pub(crate) fn result_of(&self, mut answer: ResultSet) -> QueryResult {
        let intervals = std::mem::take(&mut answer.intervals);
        let samples = self.is_grouped.then(|| std::mem::take(&mut answer.raw_counts));
        let row_kinds = self.has_sums.then(|| std::mem::take(&mut answer.kinds));
        let result = result_of(self.frontend, answer, self.numbers.clone(), self.range);
        let mut result = QueryResult { samples, row_kinds, ..result };
        let notes = self.notes.iter().cloned().map(QueryWarning::from);
        result.warnings.splice(0..0, notes);
        if let Some(plan) = &self.confidence {
            intervals::put_into(&mut result, intervals, plan, self.form);
        }
        result
    }
}

/// Whether rows of the table may have weights.
pub(crate) fn has_weights(frontend: &Frontend, table: &TableName) -> bool {
    let table = frontend.backend.root.known_table(table.as_str());
    table.is_none_or(|table| table.schema.column(Weight::COLUMN).is_some())
}

/// The answer as clients get it, without what depends on the kind of the query.
pub(crate) fn result_of(
    frontend: &Frontend,
    answer: ResultSet,
    numbers: Vec<NumberClass>,
    range: TimeRange,
) -> QueryResult {
    let mut warnings: Vec<QueryWarning> = answer.warnings.iter().map(QueryWarning::from).collect();
    let damage = &frontend.backend.damage;
    if let Some(first) = damage.first() {
        let count = damage.len() as u64;
        warnings.push(QueryWarning::new(QueryWarning::DAMAGE, "", count, first.clone()));
    }
    QueryResult {
        columns: answer.columns,
        numbers,
        rows: answer.rows,
        time: Some(range),
        coverage: answer.coverage,
        stats: answer.stats,
        warnings,
        reservation: answer.reservation,
        ..QueryResult::default()
    }
}
