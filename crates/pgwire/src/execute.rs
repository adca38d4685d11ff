//! Runs one statement.

use std::sync::Arc;
use std::time::Instant;

use hadal_frontend::{Frontend, Principal, QueryRequest, QueryText};
use hadal_sql::Literal;
use hadal_types::Value;

use crate::backend_message::{Field, TransactionStatus};
use crate::column_type::ColumnType;
use crate::command::{Command, Transaction};
use crate::failure::Failure;
use crate::lexer::Lexer;
use crate::notices::notice;
use crate::rows::Rows;
use crate::session_state::SessionState;
use crate::settings::Settings;

/// A statement with the values of its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'s> {
    pub(crate) sql: &'s str,
    pub(crate) command: &'s Command,
    pub(crate) values: &'s [Literal],
    /// The types that the client was promised for the columns of the answer.
    pub(crate) promised: Option<&'s [ColumnType]>,
}

/// Runs a query of data.
pub(crate) async fn query(
    frontend: &Arc<Frontend>,
    principal: &Principal,
    settings: &Settings,
    statement: Statement<'_>,
) -> Result<Rows, Failure> {
    let request = request(settings, statement.sql, statement.values.to_vec());
    let result = frontend.execute(principal, request, |result| async { Ok(result) }).await?;
    let mut rows = Rows::of_result(result, statement.promised)?;
    if is_explain(statement.sql) {
        rows.tag = "EXPLAIN";
    }
    Ok(rows)
}

fn is_explain(sql: &str) -> bool {
    let first = Lexer::new(sql).next();
    first.is_some_and(|lexeme| lexeme.is_ok_and(|lexeme| lexeme.is("explain")))
}

/// A query of data as the front takes it.
pub(crate) fn request(settings: &Settings, sql: &str, values: Vec<Literal>) -> QueryRequest {
    let start = Instant::now();
    QueryRequest {
        text: QueryText::Prepared(sql.to_owned(), values),
        null_if_absent: false,
        require_complete: settings.require_complete(),
        time_zone: settings.query_zone(),
        intervals: settings.intervals(),
        row_kind_column: settings.row_kinds(),
        start,
        until: start + settings.deadline(),
        client: settings.get("application_name").unwrap_or_default().to_owned(),
        updates: None,
    }
}

/// The answer to a session command: rows, or the tag of its completion.
pub(crate) enum SessionAnswer {
    Rows(Rows),
    Done(&'static str),
}

/// Runs a session command; `None` for other statements.
pub(crate) fn session_command(
    state: &mut SessionState,
    command: &Command,
) -> Result<Option<SessionAnswer>, Failure> {
    Ok(Some(SessionAnswer::Done(match command {
        Command::Set(name, value) => {
            state.set(name, value.as_deref())?;
            "SET"
        }
        Command::Reset(name) => {
            state.reset(name.as_deref())?;
            "RESET"
        }
        Command::Show(name) => {
            return show(&state.settings, name).map(SessionAnswer::Rows).map(Some);
        }
        Command::Transaction(transaction) => transact(state, *transaction),
        Command::DiscardAll => {
            state.reset(None)?;
            state.statements.clear();
            state.portals.clear();
            "DISCARD ALL"
        }
        Command::Deallocate(name) => {
            match name {
                Some(name) => state.deallocate(name)?,
                None => state.statements.clear(),
            }
            "DEALLOCATE"
        }
        Command::Nothing(tag) => tag,
        Command::Query
        | Command::Catalog
        | Command::Insert
        | Command::Copy
        | Command::DropTable => return Ok(None),
    })))
}

fn show(settings: &Settings, name: &str) -> Result<Rows, Failure> {
    let field = |name: &str| Field { name: name.to_owned(), column_type: ColumnType::Text };
    if name == "all" {
        let row = |(name, value): (&str, &str)| vec![Value::string(name), Value::string(value)];
        let rows = settings.all().into_iter().map(row).collect();
        return Ok(Rows::new("SHOW", vec![field("name"), field("setting")], rows));
    }
    let value = settings.get(name).ok_or_else(|| {
        Failure::new("42704", format!("unrecognized configuration parameter {name:?}"))
            .hint("SHOW ALL lists the settings of the session, SHOW TABLES the tables")
    })?;
    let shown = Settings::reported_name(name).unwrap_or(name);
    Ok(Rows::new("SHOW", vec![field(shown)], vec![vec![Value::string(value)]]))
}

/// Notes the state of the transaction for the client. Rows are durable once they are acknowledged,
/// so there is nothing to commit or to take back.
fn transact(state: &mut SessionState, transaction: Transaction) -> &'static str {
    let is_failed = state.status == TransactionStatus::Failed;
    match transaction {
        Transaction::Begin => {
            if state.status == TransactionStatus::Idle {
                (state.status, state.has_written) = (TransactionStatus::Open, false);
            }
            "BEGIN"
        }
        Transaction::Commit | Transaction::Rollback => {
            let is_rolled_back = is_failed || transaction == Transaction::Rollback;
            if is_rolled_back && state.has_written {
                let message = "rows that were logged in the transaction remain".to_owned();
                state.notices.push(notice("WARNING", message));
            }
            (state.status, state.has_written) = (TransactionStatus::Idle, false);
            state.portals.clear();
            if is_rolled_back { "ROLLBACK" } else { "COMMIT" }
        }
        Transaction::Savepoint(tag) => {
            if is_failed && tag == "ROLLBACK" {
                state.status = TransactionStatus::Open;
            }
            tag
        }
    }
}
