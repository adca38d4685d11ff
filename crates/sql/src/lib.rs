//! Text to [`hadal_query::Query`] and back: SQL, and the page's JSON form.
//!
//! ```text
//! SQL       --syntax::parse-> SelectAst --bind--> types and names --select--> Query
//! QuerySpec --spec::syntax--> SelectAst
//! ```
//!
//! A text is parsed once into a syntax tree (`syntax`). This needs no catalog and yields the
//! table's name. Then names are resolved and types checked (`bind`), and the tree is lowered to the
//! one query (`select`). The page's JSON contains SQL texts, which become the same syntax tree
//! (`spec`), so both forms have the same meaning. `spec/sql.md` describes the dialect; it follows
//! PostgreSQL and the query model of Scuba (VLDB 2013, section 3.4).
//!
//! Nothing here knows rows, blocks or leaves; a [`Catalog`] provides the tables' schemas.

mod bind;
mod error;
mod select;
mod spec;
mod statement;
mod suggest;
mod syntax;

use std::sync::Arc;

use hadal_query::{AggregateUdf, Query, ScalarUdf, Type};
use hadal_types::{FunctionDefinition, Micros, TableName, TableSchema, Value};

pub use error::{Message, Position, SqlError};
pub use spec::{Compare, QuerySpec, Texts};
pub use statement::{Parsed, parse, parse_spec, parse_with};
pub use syntax::parameters::Literal;

/// The known tables.
pub trait Catalog {
    /// The table of exactly this name.
    fn table(&self, name: &str) -> Option<Arc<TableSchema>>;

    /// All tables.
    fn table_names(&self) -> Vec<TableName>;

    /// The user function of this name, made for one query.
    fn function(&self, name: &str) -> Option<Arc<dyn ScalarUdf>> {
        let _ = name;
        None
    }

    /// The user aggregate of this name, made for one query.
    fn aggregate(&self, name: &str) -> Option<Arc<dyn AggregateUdf>> {
        let _ = name;
        None
    }
}

/// The context in which a text is bound.
pub struct Context<'a> {
    /// The known tables.
    pub catalog: &'a dyn Catalog,
    /// The value of `now()`.
    pub now: Micros,
    /// How an unknown column is treated.
    pub unknown_columns: UnknownColumns,
}

/// The meaning of a column that the table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownColumns {
    /// An error, with the nearest name.
    Error,
    /// Null in every row, and a note: for saved queries, whose columns may have expired.
    Null,
}

/// A bound statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A query of one table.
    Query {
        /// The query.
        query: Box<Query>,
        /// Notes for the client.
        notes: Vec<Note>,
    },
    /// EXPLAIN: the plan of a query, or with ANALYZE also what its run costs.
    Explain {
        /// The statement that is explained: [`Statement::Query`] or [`Statement::Values`].
        statement: Box<Statement>,
        /// Whether it is run.
        analyze: bool,
    },
    /// SHOW TABLES.
    ShowTables,
    /// DESCRIBE t.
    Describe(TableName),
    /// SUMMARIZE t.
    Summarize(TableName),
    /// CREATE FUNCTION, or CREATE OR REPLACE FUNCTION.
    CreateFunction {
        /// The function.
        definition: Box<FunctionDefinition>,
        /// Whether it may replace another one.
        replace: bool,
    },
    /// DROP FUNCTION.
    DropFunction {
        /// The name.
        name: String,
        /// Whether a missing function is no error.
        if_exists: bool,
    },
    /// SELECT without FROM: one row of constants.
    Values {
        /// Name and type of each column.
        columns: Vec<(String, Type)>,
        /// The values.
        row: Vec<Value>,
    },
}

impl Statement {
    /// The statement's table, if it has one.
    #[must_use]
    pub fn table(&self) -> Option<&TableName> {
        match self {
            Self::Query { query, .. } => Some(&query.table),
            Self::Explain { statement, .. } => statement.table(),
            Self::Describe(table) | Self::Summarize(table) => Some(table),
            Self::ShowTables
            | Self::Values { .. }
            | Self::CreateFunction { .. }
            | Self::DropFunction { .. } => None,
        }
    }
}

/// A note about a query that is executed all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The kind of note, for programs.
    pub code: &'static str,
    /// The note in words.
    pub message: String,
}

/// The beginning of the message for a function that there is not.
pub const UNKNOWN_FUNCTION: &str = "there is no function";

/// Whether a built-in function or aggregate has this name, in lower case.
#[must_use]
pub fn is_built_in(name: &str) -> bool {
    bind::function::is_built_in(name)
}

/// Parses one statement of SQL and binds it.
///
/// # Errors
/// [`SqlError`] with the position and, where there is one, a hint.
pub fn lower(sql: &str, context: &Context<'_>) -> Result<Statement, SqlError> {
    parse(sql)?.bind(context)
}

/// Parses a query in JSON and binds it; the statement is always [`Statement::Query`].
///
/// # Errors
/// [`SqlError`]; its field names the part of the spec, its position is within that part's text.
pub fn lower_spec(spec: &QuerySpec, context: &Context<'_>) -> Result<Statement, SqlError> {
    parse_spec(spec, context.now)?.bind(context)
}

#[cfg(test)]
mod tests;
