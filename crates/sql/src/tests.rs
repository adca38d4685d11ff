//! Lowering from end to end: texts in, queries or errors out.

mod catalog;
mod errors;
mod functions;
mod hostile;
mod limits;
mod lowering;
mod names;
mod prepared;
mod show;
mod spec;
mod statements;
mod user_functions;

use hadal_query::Query;

use crate::{Context, Note, SqlError, Statement, UnknownColumns, lower};
use catalog::{NOW, Tables};

/// The tests' tables at the tests' time.
fn context(tables: &Tables) -> Context<'_> {
    Context { catalog: tables, now: NOW, unknown_columns: UnknownColumns::Error }
}

fn statement(sql: &str) -> Result<Statement, SqlError> {
    lower(sql, &context(&Tables::new()))
}

fn noted(sql: &str) -> (Query, Vec<Note>) {
    match statement(sql) {
        Ok(Statement::Query { query, notes }) => (*query, notes),
        other => panic!("{sql:.300}: {other:?}"),
    }
}

fn query(sql: &str) -> Query {
    noted(sql).0
}

fn error(sql: &str) -> SqlError {
    statement(sql).expect_err(sql.get(..300).unwrap_or(sql))
}
