//! What distinguishes a selection of rows from a baseline: conditions on columns that are more
//! frequent in the selection (contrast sets; Bay and Pazzani, "Detecting Group Differences: Mining
//! Contrast Sets", Data Mining and Knowledge Discovery 2001).
//!
//! Each side of a comparison is counted by the values of each column: one query per column and
//! side, each exact and over all leaves. Elements of sets and vectors count, and ranges of numbers.
//! Then the strongest conditions are examined in pairs.

mod asking;
mod columns;
pub(crate) mod condition;
mod evidence;
mod pairs;
mod ranges;
pub(crate) mod ranking;
mod redundancy;
pub(crate) mod request;

use std::collections::BTreeSet;
use std::sync::Arc;

use hadal_aggregate::{Coverage, ScanStats};
use hadal_query::{Query, QueryKind, RowInput};
use hadal_sql::{QuerySpec, Statement, Texts};
use hadal_tree::AskError;
use hadal_types::limits::CONTRAST_COLUMNS_MAX;
use hadal_types::{ColumnName, TableName, TableSchema, TimeRange, Weight};
use parking_lot::Mutex;
use tokio::time::timeout_at;

use crate::contrast::asking::{Asking, Counts, Noted, Sides};
use crate::contrast::columns::ContrastColumn;
use crate::contrast::evidence::Rows;
use crate::contrast::pairs::PAIRED_MAX;
use crate::contrast::ranking::{Candidate, Difference, findings};
use crate::contrast::redundancy::merged;
use crate::contrast::request::ContrastRequest;
use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::query::end_query;
use crate::query::result::QueryWarning;

/// What distinguishes the sides.
#[derive(Debug)]
pub struct Contrast {
    /// The events of the selection and of the baseline.
    pub events: [f64; 2],
    /// The findings, the strongest first.
    pub findings: Vec<Difference>,
    /// The columns that were examined.
    pub columns: Vec<ColumnName>,
    /// How many conditions were tried.
    pub tried: usize,
    /// Expected and scanned rows of the query that lacks the most.
    pub coverage: Coverage,
    /// Statistics of all scans.
    pub stats: ScanStats,
    /// Doubts about the answer.
    pub warnings: Vec<QueryWarning>,
}

impl Frontend {
    /// Examines what distinguishes two sides. Costs a query per column.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not query, the request names no sides, or a query
    /// has an error or no answer by the request's `until`.
    pub async fn contrast(
        self: &Arc<Self>,
        principal: &Principal,
        request: ContrastRequest,
    ) -> Result<Contrast, FrontendError> {
        principal.require(Permission::Query)?;
        let mut log = self.self_tables.begin_query(request.client.clone());
        log.entry.sql = request.to_text();
        log.entry.table = TableName::new(&request.query.table).ok();
        let now = self.backend.clock.now();
        let asking = Asking { frontend: self, principal, request: &request, now };
        let contrast = timeout_at(request.until.into(), asking.contrast()).await;
        let contrast = contrast.unwrap_or_else(|_| Err(FrontendError::from(&AskError::Late)));
        if let Ok(Contrast { findings, stats, coverage, .. }) = &contrast {
            log.entry.set_result(findings.len(), *stats, coverage);
        }
        end_query(self, log, request.start, &contrast);
        contrast
    }
}

impl Asking<'_> {
    async fn contrast(self) -> Result<Contrast, FrontendError> {
        self.request.check()?;
        let defining = self.defining_columns().await?;
        let specs = self.specs().await?;
        let table = self.frontend.backend.root.known_table(&self.request.query.table);
        let schema = table.map(|table| Arc::clone(&table.schema));
        let schema = schema.ok_or_else(|| {
            let detail = format!("there is no table {}", self.request.query.table);
            FrontendError::new(ErrorKind::UnknownTable, detail)
        })?;
        let (columns, mut warnings) = self.examined(&schema, &defining)?;
        let counts = Counts { is_weighted: schema.column(Weight::COLUMN).is_some() };
        let limit = self.request.limit;
        let sides = Sides { asking: self, specs, counts, noted: Mutex::default() };
        let count = |spec| QuerySpec { aggregates: sides.counts.aggregates(), ..spec };
        let answers = sides.ask(count).await?;
        let all = answers.each_ref().map(|answer| {
            answer.rows.first().map_or_else(Rows::default, |row| sides.counts.of(row, 0))
        });
        let (mut candidates, mut tried) = (Vec::new(), 0);
        for column in &columns {
            let of_column = column.candidates(&sides, all).await?;
            tried += of_column.tried;
            candidates.extend(of_column.candidates);
        }
        candidates
            .sort_by(|one: &Candidate, other| other.evidence.ratio.total_cmp(&one.evidence.ratio));
        let strongest = &candidates[..candidates.len().min(PAIRED_MAX)];
        let pairs = pairs::examine(&sides, (strongest, tried), all).await?;
        tried += strongest.len() * strongest.len() / 2;
        candidates.extend(pairs.candidates);
        let Noted { coverage, stats, warnings: noted } = sides.noted.into_inner();
        warnings.extend(noted);
        Ok(Contrast {
            events: all.map(|rows| rows.events),
            findings: merged(findings(candidates, tried), &pairs.of_same_rows, limit),
            columns: columns.into_iter().map(|column| column.name).collect(),
            tried,
            coverage: coverage.unwrap_or_default(),
            stats,
            warnings,
        })
    }

    /// A query of the rows of each side.
    async fn specs(&self) -> Result<[QuerySpec; 2], FrontendError> {
        let QuerySpec { compare, filter, .. } = &self.request.query;
        let compare = compare.clone().unwrap_or_default();
        let of = |condition: Option<&str>| {
            let mut filter = filter.as_slice().to_vec();
            filter.extend(condition.map(str::to_owned));
            QuerySpec { filter: Texts::Many(filter), compare: None, ..self.request.query.clone() }
        };
        if let Some(condition) = &compare.condition {
            // A comment of SQL ends with the line.
            let rest = || format!("({condition}\n) IS NOT TRUE");
            let baseline = compare.against.clone().unwrap_or_else(rest);
            return Ok([of(Some(condition)), of(Some(&baseline))]);
        }
        // The time ranges of a shift, which the calendar of a time zone may change.
        let both = QuerySpec {
            compare: Some(compare),
            aggregates: Texts::One("count(*)".to_owned()),
            ..self.request.query.clone()
        };
        let Statement::Query { query, .. } = self.bound(&self.query_request(both)).await? else {
            return Ok([of(None), of(None)]);
        };
        let within = |range: TimeRange| QuerySpec {
            from: range.from.map(|from| from.to_string()),
            to: range.to.map(|to| to.to_string()),
            ..of(None)
        };
        if let [before, now] = query.intervals.as_slice() {
            return Ok([within(*now), within(*before)]);
        }
        // Adjacent ranges are one.
        let now = self.bound(&self.query_request(of(None))).await?;
        let Statement::Query { query: now, .. } = now else { return Ok([of(None), of(None)]) };
        let before = TimeRange { from: query.range.from, to: now.range.from };
        Ok([within(now.range), within(before)])
    }

    /// The columns that the sides are defined by: they would always be findings.
    async fn defining_columns(&self) -> Result<Vec<ColumnName>, FrontendError> {
        let compare = self.request.query.compare.clone().unwrap_or_default();
        let mut columns = Vec::new();
        for condition in compare.condition.iter().chain(&compare.against) {
            let spec = QuerySpec {
                filter: Texts::One(condition.clone()),
                search: None,
                compare: None,
                aggregates: Texts::One("count(*)".to_owned()),
                ..self.request.query.clone()
            };
            if let Statement::Query { query, .. } = self.bound(&self.query_request(spec)).await? {
                columns.extend(filtered_columns(&query));
            }
        }
        Ok(columns)
    }

    /// The columns to examine, and a warning about others.
    fn examined(
        &self,
        schema: &TableSchema,
        defining: &[ColumnName],
    ) -> Result<(Vec<ContrastColumn>, Vec<QueryWarning>), FrontendError> {
        let mut columns = Vec::new();
        let names: BTreeSet<&String> = self.request.columns.iter().collect();
        for name in names {
            let column = schema.column(name).ok_or_else(|| {
                let detail = format!("there is no column {name} in {}", schema.name);
                FrontendError::new(ErrorKind::UnknownColumn, detail)
            })?;
            columns.extend(ContrastColumn::of(column));
        }
        if self.request.columns.is_empty() {
            let others = schema.columns.iter().filter(|column| !defining.contains(&column.name));
            columns.extend(others.filter_map(ContrastColumn::of));
        }
        let left_out = columns.len().saturating_sub(CONTRAST_COLUMNS_MAX);
        columns.truncate(CONTRAST_COLUMNS_MAX);
        let message = format!("{left_out} more columns are left out; name columns to examine them");
        let warning =
            QueryWarning::new("columns_left_out", schema.name.as_str(), left_out as u64, message);
        Ok((columns, if left_out > 0 { vec![warning] } else { Vec::new() }))
    }
}

/// The columns of a query's filter.
fn filtered_columns(query: &Query) -> Vec<ColumnName> {
    let mut columns = Vec::new();
    debug_assert!(matches!(query.kind, QueryKind::Groups { .. }), "a query with an aggregate");
    if let Some(filter) = &query.filter {
        filter.for_each_leaf(&mut |leaf| {
            if let RowInput::Column(column) = leaf {
                columns.push(column.name.clone());
            }
        });
    }
    columns
}
