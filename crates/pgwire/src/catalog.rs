//! Answers what clients ask of the catalog: `pg_catalog` and `information_schema`.
//!
//! Clients ask with joins and functions that the query language lacks, and each asks differently.
//! So such a query runs in an engine that has joins: SQLite, over a small database in memory that
//! is filled from the front's catalog for this one query. What PostgreSQL spells differently is
//! rewritten token by token (`rewrite.rs`); functions of the catalog are added (`functions.rs`).
//! Nothing that is logged is in this database, only names and types.

mod fill;
mod functions;
mod names;
mod rewrite;
mod session_facts;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::{Frontend, blocking};
use hadal_sql::Literal;
use hadal_types::limits::{ANSWER_BYTES_MAX, COMPUTED_STRING_BYTES_MAX, LIMIT_DEFAULT};
use hadal_types::{Number, TableSchema, Value};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::backend_message::Field;
use crate::column_type::ColumnType;
use crate::failure::Failure;
use crate::rows::Rows;

pub(crate) use session_facts::SessionFacts;

/// Answers a query of the catalog within `deadline`.
///
/// # Errors
/// [`Failure`] when the query names something that the catalog lacks, or is beyond what can be
/// rewritten.
pub(crate) async fn answer(
    frontend: &Arc<Frontend>,
    facts: SessionFacts,
    sql: &str,
    values: &[Literal],
    deadline: Duration,
) -> Result<Rows, Failure> {
    let rewritten = rewrite::rewrite(sql)?;
    let values: Vec<Parameter> = values.iter().cloned().map(Parameter).collect();
    let catalog = frontend.cluster_status().await;
    let schemas: Vec<Arc<TableSchema>> =
        catalog.tables.values().map(|table| Arc::clone(&table.schema)).collect();
    let (give, given) = oneshot::channel();
    let work = blocking(move || {
        let connection = open(&schemas, facts).map_err(|error| failure(&error))?;
        // The receiver has gone if the client has.
        let _ = give.send(connection.get_interrupt_handle());
        run(&connection, &rewritten, &values)
    });
    let mut work = std::pin::pin!(work);
    match timeout(deadline, &mut work).await {
        Ok(answered) => answered?,
        Err(_) => {
            if let Ok(handle) = given.await {
                handle.interrupt();
            }
            work.await?
        }
    }
}

/// The database with the catalog.
fn open(schemas: &[Arc<TableSchema>], facts: SessionFacts) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    let length = i32::try_from(COMPUTED_STRING_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, length);
    connection.execute_batch(tables::CREATE)?;
    fill::fill(&connection, schemas, &facts)?;
    let named = |schema: &Arc<TableSchema>| {
        (names::table_oid(schema.name.as_str()), schema.name.to_string())
    };
    functions::add(&connection, facts, schemas.iter().map(named).collect())?;
    rusqlite::vtab::series::load_module(&connection)?;
    connection.execute_batch("PRAGMA query_only = on")?;
    Ok(connection)
}

fn run(connection: &Connection, sql: &str, values: &[Parameter]) -> Result<Rows, Failure> {
    let mut statement = connection.prepare(sql).map_err(|error| failure(&error))?;
    let declared = declared_types(&statement);
    let count = statement.parameter_count();
    let given = rusqlite::params_from_iter(values.iter().take(count));
    let mut cursor = statement.query(given).map_err(|error| failure(&error))?;
    let (mut rows, mut bytes) = (Vec::new(), 0_usize);
    while let Some(row) = cursor.next().map_err(|error| failure(&error))? {
        let mut values = Vec::with_capacity(declared.len());
        for (index, (_, column_type)) in declared.iter().enumerate() {
            let value = row.get_ref(index).map_err(|error| failure(&error))?;
            values.push(value_of(value, *column_type));
        }
        bytes += values.iter().map(|value| size_of::<Value>() + value.heap_bytes()).sum::<usize>();
        rows.push(values);
        if rows.len() as u64 >= LIMIT_DEFAULT || bytes > ANSWER_BYTES_MAX {
            return Err(Failure::new("54000", "the answer from the catalog is too large")
                .hint("add a LIMIT, or conditions"));
        }
    }
    let field = |(index, (name, column_type)): (usize, (String, Option<ColumnType>))| {
        let column_type = column_type.unwrap_or_else(|| type_of_values(&rows, index));
        Field { name, column_type }
    };
    let fields = declared.into_iter().enumerate().map(field).collect();
    Ok(Rows::new("SELECT", fields, rows))
}

/// The columns' names and the types that the tables of the catalog declare for them.
fn declared_types(statement: &Statement<'_>) -> Vec<(String, Option<ColumnType>)> {
    let columns = statement.columns();
    let column = |column: &rusqlite::Column<'_>| {
        let declared = match column.decl_type().map(str::to_ascii_uppercase).as_deref() {
            Some("BOOL") => Some(ColumnType::Bool),
            Some("INT") => Some(ColumnType::Int4),
            Some("BIGINT") => Some(ColumnType::Int8),
            Some("OID") => Some(ColumnType::Oid),
            Some("NAME") => Some(ColumnType::Name),
            Some("\"CHAR\"" | "CHAR") => Some(ColumnType::Char),
            Some("TEXT") => Some(ColumnType::Text),
            _ => None,
        };
        (names::column_name(column.name()), declared)
    };
    columns.iter().map(column).collect()
}

/// The type of an expression's values.
fn type_of_values(rows: &[Vec<Value>], index: usize) -> ColumnType {
    let mut column_type = None;
    for value in rows.iter().filter_map(|row| row.get(index)) {
        let value_type = match value {
            Value::Null => continue,
            Value::Number(number) if number.to_i64().is_some() => ColumnType::Int8,
            Value::Number(_) => ColumnType::Float8,
            Value::Bool(_) => ColumnType::Bool,
            _ => ColumnType::Text,
        };
        match column_type {
            None => column_type = Some(value_type),
            Some(first) if first != value_type => return ColumnType::Text,
            Some(_) => {}
        }
    }
    column_type.unwrap_or(ColumnType::Text)
}

fn value_of(value: ValueRef<'_>, column_type: Option<ColumnType>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) if column_type == Some(ColumnType::Bool) => {
            Value::Bool(number != 0)
        }
        ValueRef::Integer(number) => Value::integer(number),
        ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Value::string(&String::from_utf8_lossy(bytes))
        }
    }
}

/// A parameter's value for SQLite.
struct Parameter(Literal);

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match &self.0 {
            Literal::Null => ToSqlOutput::from(rusqlite::types::Null),
            Literal::Bool(truth) => ToSqlOutput::from(*truth),
            Literal::Number { digits, is_negative } => {
                let text = if *is_negative { format!("-{digits}") } else { digits.clone() };
                match (text.parse::<i64>(), text.parse::<f64>()) {
                    (Ok(whole), _) => ToSqlOutput::from(whole),
                    (Err(_), Ok(double)) => ToSqlOutput::from(double),
                    (Err(_), Err(_)) => ToSqlOutput::from(text),
                }
            }
            Literal::Text(text) => ToSqlOutput::from(text.as_str()),
            Literal::List(items) => {
                let text = |item: &Literal| match item {
                    Literal::Text(text) => Some(text.clone()),
                    Literal::Number { digits, .. } => Some(digits.clone()),
                    _ => None,
                };
                let items: Vec<String> = items.iter().filter_map(text).collect();
                ToSqlOutput::from(names::array_text(&items))
            }
        })
    }
}

/// An error of SQLite in the words of the door.
fn failure(error: &rusqlite::Error) -> Failure {
    let text = error.to_string();
    let after = |prefix: &str| {
        let rest = text.split_once(prefix)?.1;
        Some(rest.split([' ', ',']).next().unwrap_or(rest).to_owned())
    };
    let hint = "the catalog has what drivers and tools usually ask; SHOW TABLES and DESCRIBE t \
                list tables and columns";
    let failed = if let Some(name) = after("no such table: ") {
        Failure::new("42P01", format!("there is no table {name} in the catalog"))
    } else if let Some(name) = after("no such column: ") {
        Failure::new("42703", format!("there is no column {name} in the catalog"))
    } else if let Some(name) = after("no such function: ") {
        Failure::new("42883", format!("there is no function {name} for queries of the catalog"))
    } else if text.contains("interrupted") {
        return Failure::new("57014", "there is no answer from the catalog by the deadline");
    } else {
        Failure::new("0A000", format!("this query of the catalog is not supported: {text}"))
    };
    failed.hint(hint)
}

#[cfg(test)]
mod tests;
