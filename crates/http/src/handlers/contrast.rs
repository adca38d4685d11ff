//! `POST /v1/explain`: what distinguishes the two sides of a comparison.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use hadal_frontend::{
    Condition, Contrast, ContrastRequest, Difference, ErrorKind, Principal, Test, blocking,
};
use hadal_sql::QuerySpec;
use hadal_types::limits;
use hadal_types::{MemoryReservation, Number, Value};
use serde::{Deserialize, Serialize};

use crate::handlers::query::client_of;
use crate::json_value::JsonValue;
use crate::problem::Problem;
use crate::query_response::{CoverageBody, WarningBody, json};
use crate::request_body::RequestBody;
use crate::state::AppState;
use crate::strict_object::StrictObject;

/// Findings of an answer, if the request does not say how many.
const FINDINGS: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContrastBody {
    query: StrictObject<QuerySpec>,
    #[serde(default)]
    columns: Vec<String>,
    limit: Option<usize>,
    deadline_ms: Option<u64>,
}

/// Answers with the conditions that are more frequent in the selection.
pub(crate) async fn post(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, state.frontend.shutdown(), state.config.pace);
    let body = body.all(limits::QUERY_BODY_BYTES_MAX).await?;
    let request = ContrastBody::read(&body)?.into_request(client_of(&head.headers))?;
    let contrast = state.frontend.contrast(&principal, request).await?;
    Ok(blocking(move || json(&Answer::new(&contrast), MemoryReservation::default())).await??)
}

impl ContrastBody {
    fn read(body: &[u8]) -> Result<Self, Problem> {
        let read = serde_json::from_slice::<StrictObject<Self>>(body);
        let StrictObject(body) = read.map_err(|error| {
            let detail = format!("the body is not a comparison in JSON: {error}");
            Problem::new(ErrorKind::BadRequest, detail).hint(
                "send {\"query\": {\"table\": \"…\", \"compare\": {\"where\": \"status >= 500\"}}}",
            )
        })?;
        Ok(body)
    }

    fn into_request(self, client: String) -> Result<ContrastRequest, Problem> {
        let StrictObject(query) = self.query;
        let start = Instant::now();
        let longest = limits::QUERY_DEADLINE_MS_MAX;
        let deadline_ms =
            self.deadline_ms.or(query.deadline_ms).unwrap_or(limits::QUERY_DEADLINE_MS);
        if !(1..=longest).contains(&deadline_ms) {
            let detail = format!("deadline_ms must be 1 to {longest}");
            return Err(Problem::new(ErrorKind::BadRequest, detail));
        }
        Ok(ContrastRequest {
            query,
            columns: self.columns,
            limit: self.limit.unwrap_or(FINDINGS),
            start,
            until: start + Duration::from_millis(deadline_ms),
            client,
        })
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    events: SidesBody<f64>,
    findings: Vec<DifferenceBody<'a>>,
    columns: Vec<&'a str>,
    tried: usize,
    coverage: CoverageBody<'a>,
    warnings: Vec<WarningBody<'a>>,
}

/// A number of each side.
#[derive(Serialize)]
struct SidesBody<T> {
    selection: T,
    baseline: T,
}

#[derive(Serialize)]
struct DifferenceBody<'a> {
    conditions: Vec<ConditionBody<'a>>,
    /// Further conditions that its rows meet as well.
    also: Vec<ConditionBody<'a>>,
    events: SidesBody<f64>,
    shares: SidesBody<f64>,
    /// The ratio of the shares; null if the baseline has none.
    lift: Option<f64>,
    score: f64,
    chance: f64,
}

#[derive(Serialize)]
struct ConditionBody<'a> {
    column: &'a str,
    #[serde(flatten)]
    test: TestBody<'a>,
    sql: String,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "test")]
enum TestBody<'a> {
    Is { value: JsonValue<'a> },
    Has { value: JsonValue<'a> },
    Within { from: NumberBody, to: NumberBody },
    Missing,
}

/// A number as in answers; null if there is none.
struct NumberBody(Option<Number>);

impl Serialize for NumberBody {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0.map_or(Value::Null, Value::Number);
        JsonValue(&value).serialize(serializer)
    }
}

fn sides([selection, baseline]: [f64; 2]) -> SidesBody<f64> {
    SidesBody { selection, baseline }
}

impl<'a> Answer<'a> {
    fn new(contrast: &'a Contrast) -> Self {
        Self {
            events: sides(contrast.events),
            findings: contrast.findings.iter().map(DifferenceBody::new).collect(),
            columns: contrast.columns.iter().map(|column| column.as_str()).collect(),
            tried: contrast.tried,
            coverage: CoverageBody::new(&contrast.coverage),
            warnings: contrast.warnings.iter().map(WarningBody::new).collect(),
        }
    }
}

impl<'a> DifferenceBody<'a> {
    fn new(finding: &'a Difference) -> Self {
        let [selection, baseline] = finding.shares;
        Self {
            conditions: finding.conditions.iter().map(ConditionBody::new).collect(),
            also: finding.also.iter().map(ConditionBody::new).collect(),
            events: sides(finding.events),
            shares: sides(finding.shares),
            lift: (baseline > 0.0).then(|| selection / baseline),
            score: finding.score,
            chance: finding.chance,
        }
    }
}

impl<'a> ConditionBody<'a> {
    fn new(condition: &'a Condition) -> Self {
        let test = match &condition.test {
            Test::Is(value) => TestBody::Is { value: JsonValue(value) },
            Test::Has(value) => TestBody::Has { value: JsonValue(value) },
            Test::Within(from, to) => {
                TestBody::Within { from: NumberBody(*from), to: NumberBody(*to) }
            }
            Test::Missing => TestBody::Missing,
        };
        Self { column: condition.column.as_str(), test, sql: condition.to_sql() }
    }
}
