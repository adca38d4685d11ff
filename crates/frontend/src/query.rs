//! Statements: SQL or a query spec to a result.

pub(crate) mod answer_stream;
pub(crate) mod column_form;
pub(crate) mod columns;
pub(crate) mod completion;
pub(crate) mod describe;
pub(crate) mod explain;
pub(crate) mod intervals;
pub(crate) mod number_class;
pub(crate) mod result;
pub(crate) mod row_kinds;
pub(crate) mod summarize;
pub(crate) mod updates;

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::RowColumns;
use hadal_peer::QueryWatch;
use hadal_query::{Query, TimeZone};
use hadal_sql::{
    Context, Literal, Message, Note, Parsed, QuerySpec, SqlError, Statement, Texts, UnknownColumns,
    parse, parse_spec, parse_with,
};
use hadal_tree::{AskError, ClusterStatus, Root};
use hadal_types::{Micros, TableName, TableSchema, TimeRange, Value, limits};
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::functions::WithFunctions;
use crate::principal::{Permission, Principal};
use crate::query::completion::{Completion, has_weights, result_of};
use crate::query::intervals::IntervalForm;
use crate::query::number_class::NumberClass;
use crate::query::result::QueryResult;
use crate::query::updates::QueryUpdate;
use crate::self_tables::entries::QueryLogEntry;
use crate::self_tables::guards::QueryLogGuard;
use crate::state::counters::count;

/// One statement to be answered.
#[derive(Debug)]
pub struct QueryRequest {
    /// The text of the query.
    pub text: QueryText,
    /// Whether columns that the table lacks are null: for saved queries, whose columns may be gone.
    pub null_if_absent: bool,
    /// Whether an answer that lacks rows is an error. A spec says so itself, too.
    pub require_complete: bool,
    /// The time zone whose calendar governs the query. A spec has its own, too.
    pub time_zone: TimeZone,
    /// Whether and how the answer has confidence intervals.
    pub intervals: IntervalForm,
    /// Whether an answer whose rows may be no groups has a last column `row_kind`: `group`, `other`
    /// or `total`. Otherwise [`QueryResult::row_kinds`] says so.
    pub row_kind_column: bool,
    /// When the request arrived.
    pub start: Instant,
    /// Deadline for delivering the result.
    pub until: Instant,
    /// The name that the client gives itself.
    pub client: String,
    /// Where updates on a query go before its answer. Those for which the channel has no room are
    /// dropped.
    pub updates: Option<mpsc::Sender<QueryUpdate>>,
}

/// The text of the query.
#[derive(Debug)]
pub enum QueryText {
    /// A statement in SQL.
    Sql(String),
    /// A statement in SQL, and the values of its parameters `$1`, `$2` ….
    Prepared(String, Vec<Literal>),
    /// A query as clients build it.
    Spec(Box<QuerySpec>),
}

impl Frontend {
    /// Answers one statement, hands the result to `deliver`, and notes the outcome in `_queries`.
    /// `deliver` writes the result to the client; it counts as a part of the query.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not query, the text is not a query, or no answer
    /// arrives by the request's `until`; also the errors of `deliver`.
    pub async fn execute<T, F>(
        self: &Arc<Self>,
        principal: &Principal,
        request: QueryRequest,
        deliver: impl FnOnce(QueryResult) -> F,
    ) -> Result<T, FrontendError>
    where
        F: Future<Output = Result<T, FrontendError>>,
    {
        principal.require(Permission::Query)?;
        request.check()?;
        let mut log = self.self_tables.begin_query(request.client.clone());
        let delivering = async {
            let result = answer(self, principal, &request, &mut log.entry).await?;
            log.entry.set_result(result.rows.len(), result.stats, &result.coverage);
            deliver(result).await
        };
        let delivered = timeout_at(request.until.into(), delivering).await;
        let delivered = delivered.unwrap_or_else(|_| Err(FrontendError::from(&AskError::Late)));
        end_query(self, log, request.start, &delivered);
        delivered
    }
}

/// Counts and logs a query that arrived at `start`.
pub(crate) fn end_query<T>(
    frontend: &Frontend,
    log: QueryLogGuard,
    start: Instant,
    outcome: &Result<T, FrontendError>,
) {
    frontend.counters.count_query(start.elapsed());
    if outcome.as_ref().is_err_and(|error| error.kind.is_of_server()) {
        count(&frontend.counters.queries_failed, 1);
    }
    log.end(outcome);
}

impl QueryText {
    /// The text, if it is SQL.
    fn sql(&self) -> Option<&String> {
        match self {
            Self::Sql(sql) | Self::Prepared(sql, _) => Some(sql),
            Self::Spec(_) => None,
        }
    }
}

impl QueryRequest {
    pub(crate) fn check(&self) -> Result<(), FrontendError> {
        let Some(sql) = self.text.sql() else { return Ok(()) };
        if sql.len() > limits::SQL_BYTES_MAX {
            let detail = format!("{} bytes of SQL; at most {}", sql.len(), limits::SQL_BYTES_MAX);
            return Err(FrontendError::new(ErrorKind::TooLarge, detail));
        }
        Ok(())
    }

    /// Parses the text; relative times of a spec are relative to `now`.
    pub(crate) fn parse(&self, now: Micros) -> Result<Parsed, FrontendError> {
        let parsed = match &self.text {
            QueryText::Spec(spec) => parse_spec(spec, now),
            QueryText::Sql(sql) => parse(sql),
            QueryText::Prepared(sql, values) => parse_with(sql, values),
        };
        parsed.map_err(error_of)
    }

    /// The statement, bound to these tables; for a spec also its SQL.
    fn bind(
        &self,
        parsed: &Parsed,
        catalog: &dyn hadal_sql::Catalog,
        now: Micros,
    ) -> Result<(Statement, Option<String>), FrontendError> {
        let unknown_columns = match self.null_if_absent {
            true => UnknownColumns::Null,
            false => UnknownColumns::Error,
        };
        let context = Context { catalog, now, unknown_columns };
        let statement = parsed.bind_in_zone(&context, &self.time_zone).map_err(error_of)?;
        Ok((statement, parsed.spec_sql(&context)))
    }
}

fn error_of(error: SqlError) -> FrontendError {
    let kind = match &error.message {
        Message::UnknownTable { .. } => ErrorKind::UnknownTable,
        Message::Other(_) => ErrorKind::BadQuery,
    };
    FrontendError::of_sql(kind, error)
}

/// Parses the times `from` and `to`, written as in queries.
pub(crate) fn time_range(
    frontend: &Frontend,
    schema: &TableSchema,
    from: Option<String>,
    to: Option<String>,
) -> Result<TimeRange, FrontendError> {
    struct OneTable<'s>(&'s TableSchema);
    impl hadal_sql::Catalog for OneTable<'_> {
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
        catalog: &OneTable(schema),
        now: frontend.backend.clock.now(),
        unknown_columns: UnknownColumns::Error,
    };
    match hadal_sql::lower_spec(&spec, &context) {
        Ok(Statement::Query { query, .. }) => Ok(query.range),
        Ok(_) => Ok(TimeRange::ALL),
        Err(error) => Err(FrontendError::of_sql(ErrorKind::BadRequest, error)),
    }
}

/// The tables of the catalog. A leaf that has just started opens only tables that are named.
struct KnownTables<'c>(&'c Root);

impl hadal_sql::Catalog for KnownTables<'_> {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.0.known_table(name).map(|table| Arc::clone(&table.schema))
    }

    fn table_names(&self) -> Vec<TableName> {
        Vec::new()
    }
}

/// All tables, for suggestions when a name is misspelled.
struct AllTables(ClusterStatus);

impl hadal_sql::Catalog for AllTables {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.0.schema(name)
    }

    fn table_names(&self) -> Vec<TableName> {
        self.0.tables.keys().cloned().collect()
    }
}

/// Binds the statement to the catalog. Leaves are asked only if it names no known table: for a
/// table whose name differs in letter case, or else for the nearest names.
pub(crate) async fn bind(
    frontend: &Frontend,
    request: &QueryRequest,
    parsed: &Parsed,
    now: Micros,
) -> Result<(Statement, Option<String>), FrontendError> {
    let root = &frontend.backend.root;
    let bound = bind_with_functions(frontend, request, parsed, (&KnownTables(root), now)).await;
    match bound {
        Err(error) if error.kind == ErrorKind::UnknownTable => {
            let tables = AllTables(root.cluster_status().await);
            bind_with_functions(frontend, request, parsed, (&tables, now)).await
        }
        bound => bound,
    }
}

/// Binds the statement. User functions are read only if it names a function that is not built in.
async fn bind_with_functions(
    frontend: &Frontend,
    request: &QueryRequest,
    parsed: &Parsed,
    (tables, now): (&(dyn hadal_sql::Catalog + Sync), Micros),
) -> Result<(Statement, Option<String>), FrontendError> {
    let unknown = match request.bind(parsed, tables, now) {
        Err(error) if error.detail.starts_with(hadal_sql::UNKNOWN_FUNCTION) => error,
        bound => return bound,
    };
    match frontend.callable_functions().await? {
        Some(functions) => {
            request.bind(parsed, &WithFunctions { tables, functions: &functions }, now)
        }
        None => Err(unknown),
    }
}

async fn answer(
    frontend: &Frontend,
    principal: &Principal,
    request: &QueryRequest,
    entry: &mut QueryLogEntry,
) -> Result<QueryResult, FrontendError> {
    let BoundRequest { statement, sql, .. } = bind_request(frontend, request, entry).await?;
    Ok(QueryResult { sql, ..answer_bound(frontend, principal, request, statement).await? })
}

/// A statement that is bound to its table.
pub(crate) struct BoundRequest {
    pub(crate) statement: Statement,
    /// A query spec as SQL.
    pub(crate) sql: Option<String>,
    /// The LIMIT that the text asks for.
    pub(crate) limit: Option<u64>,
}

/// Parses and binds a statement, and notes it.
pub(crate) async fn bind_request(
    frontend: &Frontend,
    request: &QueryRequest,
    entry: &mut QueryLogEntry,
) -> Result<BoundRequest, FrontendError> {
    if let Some(sql) = request.text.sql() {
        entry.sql.clone_from(sql);
    }
    let now = frontend.backend.clock.now();
    let parsed = request.parse(now)?;
    let (statement, sql) = bind(frontend, request, &parsed, now).await?;
    entry.table = statement.table().cloned();
    if let Some(sql) = &sql {
        entry.sql.clone_from(sql);
    }
    Ok(BoundRequest { statement, sql, limit: parsed.limit() })
}

/// Answers a bound statement.
pub(crate) async fn answer_bound(
    frontend: &Frontend,
    principal: &Principal,
    request: &QueryRequest,
    statement: Statement,
) -> Result<QueryResult, FrontendError> {
    let deadline = request.until.saturating_duration_since(Instant::now());
    match statement {
        Statement::Query { mut query, notes } => {
            query.deadline = deadline;
            query.require_complete |= request.require_complete;
            let mut result = run(frontend, principal, *query, notes, request).await?;
            if request.row_kind_column {
                row_kinds::into_column(&mut result);
            }
            Ok(result)
        }
        Statement::Explain { mut statement, analyze } => {
            if let Statement::Query { query, .. } = &mut *statement {
                query.deadline = deadline;
                query.require_complete |= request.require_complete;
            }
            let planning = request.start.elapsed();
            explain::explain(frontend, principal, *statement, analyze, planning).await
        }
        Statement::ShowTables => {
            Ok(describe::show_tables(&frontend.backend.root.cluster_status().await))
        }
        Statement::Describe(table) => {
            let schema = schema(frontend, &table)?;
            Ok(describe::describe(&schema))
        }
        Statement::Summarize(table) => {
            let schema = schema(frontend, &table)?;
            summarize::summarize(frontend, principal, &schema, deadline).await
        }
        Statement::CreateFunction { definition, replace } => {
            let name = definition.name.clone();
            let based_on = (!replace).then_some(0);
            frontend.define_function(principal, based_on, *definition).await?;
            Ok(function_result(&name))
        }
        Statement::DropFunction { name, if_exists } => {
            match frontend.drop_function(principal, &name).await {
                Err(error) if if_exists && error.kind == ErrorKind::UnknownFunction => {}
                dropped => dropped?,
            }
            Ok(function_result(&name))
        }
        Statement::Values { columns, row } => {
            Ok(QueryResult { columns, rows: vec![row.into()], ..QueryResult::default() })
        }
    }
}

/// The answer to a statement that defines or drops a function.
fn function_result(name: &str) -> QueryResult {
    let (column, value_type) = columns::FUNCTION_COLUMN;
    QueryResult {
        columns: vec![(column.to_owned(), value_type)],
        rows: vec![vec![Value::string(name)].into()],
        ..QueryResult::default()
    }
}

fn schema(frontend: &Frontend, table: &TableName) -> Result<Arc<TableSchema>, FrontendError> {
    let schema = frontend.backend.root.known_table(table.as_str());
    let schema = schema.map(|table| Arc::clone(&table.schema));
    schema.ok_or_else(|| {
        FrontendError::new(ErrorKind::UnknownTable, format!("there is no table {table}"))
    })
}

/// Runs a query, and adds what the front knows of its answer. Until then, updates go to the client
/// of the request, if it wants them.
pub(crate) async fn run(
    frontend: &Frontend,
    principal: &Principal,
    mut query: Query,
    notes: Vec<Note>,
    request: &QueryRequest,
) -> Result<QueryResult, FrontendError> {
    if request.intervals != IntervalForm::None {
        // A table of unknown settings is unknown to all leaves, too, and has no rows.
        let settings = frontend.table_settings.of(&query.table).await.ok().flatten();
        let key = settings.and_then(|settings| settings.value.sample_key);
        query.ask_for_confidence(key.as_ref());
    }
    let completion = Completion::new(frontend, &query, notes, request.intervals);
    let runner = frontend.runner_of(principal);
    let answer = match &request.updates {
        None => runner.run(query).await?,
        Some(updates) => {
            let watch = QueryWatch::new();
            let watched = (&runner, &Arc::new(query.clone()), &watch);
            tokio::select! {
                biased;
                answer = runner.run_watched(query, &watch) => answer?,
                never = updates::send(watched, &completion, updates) => match never {},
            }
        }
    };
    Ok(completion.result_of(answer))
}

/// As [`run`], for raw rows; returns them as columns. The rows of the result are empty.
pub(crate) async fn run_columns(
    frontend: &Frontend,
    principal: &Principal,
    query: Query,
) -> Result<(QueryResult, RowColumns), FrontendError> {
    let range = query.range;
    let numbers = NumberClass::of_outputs(&query, has_weights(frontend, &query.table));
    let (answer, rows) = frontend.runner_of(principal).run_columns(query).await?;
    Ok((result_of(frontend, answer, numbers, range), rows))
}
