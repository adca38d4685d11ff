//! `POST /v1/query`: SQL or a query in JSON to an answer.

pub(crate) mod describe;
pub(crate) mod summarize;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hadal_aggregate::Answer;
use hadal_query::{Query, Shape};
use hadal_sql::{Context, Message, Note, QuerySpec, SqlError, Statement, Texts, UnknownColumns};
use hadal_tree::{AskError, Catalog};
use hadal_types::{TableName, TableSchema, TimeRange, limits};
use hadal_wire::PeerStatus;
use serde::Deserialize;
use tokio::time::timeout_at;

use crate::problem::{Problem, ProblemKind};
use crate::query_response::{QueryResult, WarningBody};
use crate::request_body::RequestBody;
use crate::router::{Doors, blocking};
use crate::self_tables::{QueryLogEntry, QueryLogGuard};
use crate::strict_object::StrictObject;

/// What is asked: one of the first two, and how long the answer may take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryRequest {
    sql: Option<String>,
    query: Option<StrictObject<QuerySpec>>,
    deadline_ms: Option<u64>,
    /// Columns that the table has not are null: for saved queries, whose columns may be gone.
    #[serde(default)]
    null_if_absent: bool,
}

/// Answers one statement.
pub(crate) async fn post(
    State(doors): State<Doors>,
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, &doors.ending, doors.config.pace);
    let body = body.all(limits::QUERY_BODY_BYTES_MAX).await?;
    let start = Instant::now();
    let ask = QueryRequest::read(&body)?;
    let mut asked = QueryLogGuard::new(&doors, client_of(&head.headers));
    let until = start + Duration::from_millis(ask.deadline_ms.unwrap_or(limits::QUERY_DEADLINE_MS));
    let responding = respond(&doors, &ask, &mut asked.note, start, until);
    let response = timeout_at(until.into(), responding).await;
    doors.metrics.query(start.elapsed());
    let response = response.unwrap_or_else(|_| Err(Problem::of_ask(&AskError::Late)));
    asked.end(&response);
    response
}

/// What a client calls itself.
fn client_of(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT);
    agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()).unwrap_or_default()
}

async fn respond(
    doors: &Doors,
    ask: &QueryRequest,
    note: &mut QueryLogEntry,
    start: Instant,
    until: Instant,
) -> Result<Response, Problem> {
    let answered = answer(doors, ask, note, until).await?;
    note.answered(answered.rows.len(), answered.stats, &answered.coverage);
    blocking(move || answered.respond(start, until)).await?
}

impl QueryRequest {
    fn read(body: &[u8]) -> Result<Self, Problem> {
        let read = serde_json::from_slice::<StrictObject<Self>>(body);
        let StrictObject(ask) = read.map_err(|error| {
            let detail = format!("the body is not a query in JSON: {error}");
            Problem::new(ProblemKind::BadRequest, detail)
                .hint("send {\"sql\": \"SELECT …\"} or {\"query\": {\"table\": \"…\", …}}")
        })?;
        let bad = |detail: String| Err(Problem::new(ProblemKind::BadRequest, detail));
        if ask.sql.is_some() == ask.query.is_some() {
            return bad("the body must have one of \"sql\" and \"query\"".to_owned());
        }
        if ask.sql.is_some() && ask.null_if_absent {
            return bad("null_if_absent goes with \"query\" only".to_owned());
        }
        let bytes = ask.sql.as_ref().map_or(0, String::len);
        if bytes > limits::SQL_BYTES_MAX {
            let detail = format!("{bytes} bytes of SQL; at most {}", limits::SQL_BYTES_MAX);
            return Err(Problem::new(ProblemKind::TooLarge, detail));
        }
        let longest = limits::QUERY_DEADLINE_MS_MAX;
        if ask.deadline_ms.is_some_and(|deadline| !(1..=longest).contains(&deadline)) {
            return bad(format!("deadline_ms must be 1 to {longest}"));
        }
        Ok(ask)
    }

    /// What is asked, against these tables; of a query in JSON, also how SQL says it.
    fn lower(
        &self,
        doors: &Doors,
        catalog: &dyn hadal_sql::Catalog,
    ) -> Result<(Statement, Option<String>), Problem> {
        let context = Context {
            catalog,
            now: doors.app.clock.now(),
            unknown_columns: match self.null_if_absent {
                true => UnknownColumns::Null,
                false => UnknownColumns::Error,
            },
        };
        let lowered = match (&self.sql, &self.query) {
            (None, Some(StrictObject(spec))) => hadal_sql::lower_spec(spec, &context)
                .map(|statement| (statement, hadal_sql::to_sql(spec, &context).ok())),
            (sql, _) => hadal_sql::lower(sql.as_deref().unwrap_or_default(), &context)
                .map(|statement| (statement, None)),
        };
        lowered.map_err(|error: SqlError| {
            let kind = match &error.message {
                Message::UnknownTable { .. } => ProblemKind::UnknownTable,
                Message::Other(_) => ProblemKind::BadQuery,
            };
            Problem::of_sql(kind, error)
        })
    }
}

/// The times `from` and `to`, spelled as in queries.
pub(crate) fn time_range(
    doors: &Doors,
    schema: &TableSchema,
    from: Option<String>,
    to: Option<String>,
) -> Result<TimeRange, Problem> {
    struct One<'s>(&'s TableSchema);
    impl hadal_sql::Catalog for One<'_> {
        fn table(&self, _name: &str) -> Option<Arc<TableSchema>> {
            Some(Arc::new(self.0.clone()))
        }

        fn table_names(&self) -> Vec<TableName> {
            vec![self.0.name.clone()]
        }
    }
    let spec = QuerySpec {
        table: schema.name.to_string(),
        aggregates: Texts::One("count(*)".to_owned()),
        from,
        to,
        ..QuerySpec::default()
    };
    let context = Context {
        catalog: &One(schema),
        now: doors.app.clock.now(),
        unknown_columns: UnknownColumns::Error,
    };
    match hadal_sql::lower_spec(&spec, &context) {
        Ok(Statement::Query { query, .. }) => Ok(query.range),
        Ok(_) => Ok(TimeRange::ALL),
        Err(error) => Err(Problem::of_sql(ProblemKind::BadRequest, error)),
    }
}

/// The tables, as a text is read against them.
struct Tables<'c> {
    status: &'c PeerStatus,
}

impl hadal_sql::Catalog for Tables<'_> {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        Catalog::table_of(self.status, name).map(|table| table.schema)
    }

    fn table_names(&self) -> Vec<TableName> {
        Catalog::names(self.status).into_iter().collect()
    }
}

/// No tables: it notes which are asked for.
#[derive(Default)]
struct Wanted(Mutex<Vec<TableName>>);

impl hadal_sql::Catalog for Wanted {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        let name = TableName::new(name).ok()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        None
    }

    fn table_names(&self) -> Vec<TableName> {
        Vec::new()
    }
}

/// What the question is asked of: the tables that it names, since a leaf that has just started has not
/// looked at the others yet; all tables, where it names none, or one that is not there.
async fn status_for(doors: &Doors, ask: &QueryRequest) -> PeerStatus {
    let wanted = Wanted::default();
    // That none is there is no error yet.
    let _ = ask.lower(doors, &wanted);
    let names = wanted.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !names.is_empty() {
        let status = doors.app.root.status_of(&names).await;
        if names.iter().all(|name| Catalog::table_of(&status, name.as_str()).is_some()) {
            return status;
        }
    }
    doors.app.root.status().await
}

async fn answer(
    doors: &Doors,
    ask: &QueryRequest,
    note: &mut QueryLogEntry,
    until: Instant,
) -> Result<QueryResult, Problem> {
    note.sql = ask.sql.clone().unwrap_or_default();
    let status = status_for(doors, ask).await;
    let (statement, sql) = ask.lower(doors, &Tables { status: &status })?;
    note.table = statement.table().cloned();
    if let Some(sql) = &sql {
        note.sql.clone_from(sql);
    }
    let deadline = until.saturating_duration_since(Instant::now());
    match statement {
        Statement::Query { mut query, notes } => {
            query.deadline = deadline;
            Ok(QueryResult { sql, ..run(doors, *query, notes).await? })
        }
        Statement::ShowTables => Ok(describe::show_tables(&Catalog::new(&status))),
        Statement::Describe(table) => {
            let schema = schema(&status, &table)?;
            Ok(describe::describe(&schema))
        }
        Statement::Summarize(table) => {
            let schema = schema(&status, &table)?;
            summarize::summarize(doors, &schema, deadline).await
        }
        Statement::Values { columns, row } => {
            Ok(QueryResult { columns, rows: vec![row.into()], ..QueryResult::default() })
        }
    }
}

fn schema(status: &PeerStatus, table: &TableName) -> Result<Arc<TableSchema>, Problem> {
    let found = Catalog::table_of(status, table.as_str()).map(|table| table.schema);
    found.ok_or_else(|| {
        Problem::new(ProblemKind::UnknownTable, format!("there is no table {table}"))
    })
}

async fn run(doors: &Doors, query: Query, notes: Vec<Note>) -> Result<QueryResult, Problem> {
    let is_grouped = matches!(query.shape, Shape::Groups { .. });
    let (has_series, range) = (query.series.is_some(), query.range);
    let answer = ask(doors, query).await?;
    let mut warnings: Vec<WarningBody> = notes.into_iter().map(WarningBody::from).collect();
    warnings.extend(answer.warnings.iter().map(WarningBody::from));
    if let [first, rest @ ..] = &*doors.app.damage {
        let more = if rest.is_empty() { "" } else { "; there is more of it in /v1/status" };
        let (count, message) = (rest.len() as u64 + 1, format!("{first}{more}"));
        warnings.push(WarningBody::new("damage", "", count, message));
    }
    Ok(QueryResult {
        columns: answer.columns,
        rows: answer.rows,
        samples: is_grouped.then_some(answer.raw_counts),
        other: has_series.then_some(answer.others),
        time: Some(range),
        coverage: answer.coverage,
        stats: answer.stats,
        warnings,
        held: answer.held,
        ..QueryResult::default()
    })
}

/// Asks the tree. Dropping the future, as when the client hangs up, cancels the query; so does the end of
/// a server that stops, which would come before the deadline of some.
pub(crate) async fn ask(doors: &Doors, query: Query) -> Result<Answer, Problem> {
    let answered = tokio::select! {
        answered = doors.app.root.ask(query) => answered,
        () = doors.ending.begun() => Err(AskError::Stopping),
    };
    answered.map_err(|error| Problem::of_ask(&error))
}
