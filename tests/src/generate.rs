//! Random rows and random queries from a seed, for the oracle and for every engine test.
//!
//! The same seed gives the same rows and queries on every machine and in every run: the generator
//! of random numbers is here ([`Random`]), and nothing depends on the order of a hash map.
//!
//! Rows are as odd as real ones: several shapes, names of two kinds, runs, extremes of every type,
//! sizes around the block's vectors.

mod expressions;
mod facts;
mod functions;
mod pool;
mod query;
mod random;
mod rows;
mod schema;

pub use expressions::Expressions;
pub use facts::{Facts, Pool, facts};
pub use query::{inputs, pools, query, rows_query};
pub use random::{Random, derive};
pub use rows::{ColumnSpec, Content, RowSpec, Times, rows};
pub use schema::schema;

/// The name of the time column of every generated table.
pub const TIME_COLUMN: &str = "time";
/// The name of every generated table.
pub const TABLE: &str = "events";

#[cfg(test)]
mod tests;
