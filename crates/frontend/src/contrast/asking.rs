//! Queries about the two sides of a contrast.

use std::sync::Arc;

use hadal_aggregate::{Coverage, ScanStats, SparseRow};
use hadal_query::TimeZone;
use hadal_sql::{QuerySpec, Statement, Texts};
use hadal_types::{Micros, Value, Weight};
use parking_lot::Mutex;

use crate::contrast::evidence::Rows;
use crate::contrast::request::ContrastRequest;
use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::Principal;
use crate::query::intervals::IntervalForm;
use crate::query::result::{QueryResult, QueryWarning};
use crate::query::{QueryRequest, QueryText, answer_bound, bind};

/// Two sides of a comparison, and who asks for them.
pub(crate) struct Sides<'a> {
    pub(crate) asking: Asking<'a>,
    /// A query of the rows of the selection, and of the baseline.
    pub(crate) specs: [QuerySpec; 2],
    pub(crate) counts: Counts,
    pub(crate) noted: Mutex<Noted>,
}

/// What the answers of all queries say of themselves.
#[derive(Default)]
pub(crate) struct Noted {
    /// That of the answer that lacks the most.
    pub(crate) coverage: Option<Coverage>,
    pub(crate) stats: ScanStats,
    pub(crate) warnings: Vec<QueryWarning>,
}

impl Noted {
    fn note(&mut self, answer: &QueryResult) {
        self.stats.merge(answer.stats);
        let fraction = self.coverage.as_ref().map(Coverage::fraction);
        if fraction.is_none_or(|fraction| answer.coverage.fraction() < fraction) {
            self.coverage = Some(answer.coverage.clone());
        }
        for warning in &answer.warnings {
            let is_same = |other: &QueryWarning| {
                (other.code, &other.subject) == (warning.code, &warning.subject)
            };
            if !self.warnings.iter().any(is_same) {
                self.warnings.push(warning.clone());
            }
        }
    }
}

/// Who asks, and what for.
pub(crate) struct Asking<'a> {
    pub(crate) frontend: &'a Arc<Frontend>,
    pub(crate) principal: &'a Principal,
    pub(crate) request: &'a ContrastRequest,
    pub(crate) now: Micros,
}

impl Asking<'_> {
    pub(crate) fn query_request(&self, spec: QuerySpec) -> QueryRequest {
        QueryRequest {
            text: QueryText::Spec(Box::new(spec)),
            null_if_absent: false,
            require_complete: false,
            time_zone: TimeZone::UTC,
            intervals: IntervalForm::None,
            row_kind_column: false,
            start: self.request.start,
            until: self.request.until,
            client: self.request.client.clone(),
            updates: None,
        }
    }

    pub(crate) async fn bound(&self, request: &QueryRequest) -> Result<Statement, FrontendError> {
        // All queries have the same `now`, so their time ranges agree.
        let parsed = request.parse(self.now)?;
        Ok(bind(self.frontend, request, &parsed, self.now).await?.0)
    }
}

/// The aggregates that rows are counted by.
pub(crate) struct Counts {
    pub(crate) is_weighted: bool,
}

impl Counts {
    /// The aggregates of a query whose rows are counted. The first has the name `n`.
    pub(crate) fn aggregates(&self) -> Texts {
        let mut aggregates = vec!["count(*) AS n".to_owned()];
        if self.is_weighted {
            let weight = Weight::COLUMN;
            aggregates.push(format!("count({weight}) AS weighted"));
            aggregates.push(format!("sum({weight}) AS squares"));
        }
        Texts::Many(aggregates)
    }

    /// The rows behind a row of the answer; `first` is the column of the first aggregate.
    pub(crate) fn of(&self, row: &SparseRow, first: usize) -> Rows {
        let number = |index: usize| match row.get(first + index) {
            Value::Number(number) => number.to_f64(),
            _ => 0.0,
        };
        let events = number(0);
        // Σw² is the sum of the weights of all events. An event without a weight has the weight 1.
        let squares = match self.is_weighted {
            true => number(2) + (events - number(1)),
            false => events,
        };
        Rows { events, squares }
    }
}

impl Sides<'_> {
    /// The answers of both sides to a query.
    pub(crate) async fn ask(
        &self,
        change: impl Fn(QuerySpec) -> QuerySpec,
    ) -> Result<[QueryResult; 2], FrontendError> {
        Ok([self.ask_side(0, &change).await?, self.ask_side(1, &change).await?])
    }

    /// The answer of one side.
    pub(crate) async fn ask_side(
        &self,
        side: usize,
        change: impl Fn(QuerySpec) -> QuerySpec,
    ) -> Result<QueryResult, FrontendError> {
        let Asking { frontend, principal, .. } = &self.asking;
        let request = self.asking.query_request(change(self.specs[side].clone()));
        let statement = self.asking.bound(&request).await?;
        let answer = answer_bound(frontend, principal, &request, statement).await?;
        self.noted.lock().note(&answer);
        Ok(answer)
    }
}
