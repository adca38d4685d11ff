//! Text to [`hadal_query::Query`] and back: the SQL of people, and the JSON spelling of the page.
//!
//! ```text
//! SQL       --syntax::parse-> SelectAst --bind--> types and names --select--> Query
//! QuerySpec --spec::syntax--> SelectAst
//! ```
//!
//! A text is parsed once into a syntax tree (`syntax`); this needs no tables and names the one that
//! the statement is over. Then names are resolved and types checked (`bind`), and the tree is lowered
//! to the one query (`select`). The page's JSON holds texts of SQL, which become the same syntax tree
//! (`spec`), so that the two cannot mean different things. The dialect is described for people in
//! `spec/sql.md`; its model is PostgreSQL, after the query model of Scuba (VLDB 2013, section 3.4).
//!
//! Nothing here knows rows, blocks or leaves: a [`Catalog`] says what tables there are.

mod bind;
mod error;
mod select;
mod spec;
mod statement;
mod suggest;
mod syntax;

use std::sync::Arc;

use hadal_query::{Query, Type};
use hadal_types::{Micros, TableName, TableSchema, Value};

pub use error::{Message, Position, SqlError};
pub use spec::{Compare, QuerySpec, Texts};
pub use statement::{Parsed, parse, parse_spec};

/// What tables there are.
pub trait Catalog {
    /// The table of exactly this name.
    fn table(&self, name: &str) -> Option<Arc<TableSchema>>;

    /// All tables.
    fn table_names(&self) -> Vec<TableName>;
}

/// What a text is read against.
pub struct Context<'a> {
    /// The tables.
    pub catalog: &'a dyn Catalog,
    /// What `now()` means.
    pub now: Micros,
    /// What an unknown column means.
    pub unknown_columns: UnknownColumns,
}

/// What a column that the table has not means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownColumns {
    /// An error, with the nearest name.
    Error,
    /// Null in every row, and a note: for saved queries, whose columns may have expired.
    Null,
}

/// A statement, lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A question about one table.
    Query {
        /// The question.
        query: Box<Query>,
        /// What the asker should know.
        notes: Vec<Note>,
    },
    /// SHOW TABLES.
    ShowTables,
    /// DESCRIBE t.
    Describe(TableName),
    /// SUMMARIZE t.
    Summarize(TableName),
    /// SELECT without FROM: one row of constants.
    Values {
        /// Name and type of each column.
        columns: Vec<(String, Type)>,
        /// The values.
        row: Vec<Value>,
    },
}

impl Statement {
    /// The table that it is about, if there is one.
    #[must_use]
    pub fn table(&self) -> Option<&TableName> {
        match self {
            Self::Query { query, .. } => Some(&query.table),
            Self::Describe(table) | Self::Summarize(table) => Some(table),
            Self::ShowTables | Self::Values { .. } => None,
        }
    }
}

/// Something that the asker should know of a question that is answered all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about, for programs.
    pub code: &'static str,
    /// The same in words.
    pub message: String,
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
