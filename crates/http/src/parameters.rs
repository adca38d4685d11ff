//! Parameters of requests: parts of paths and of query strings.

use std::fmt::Display;

use hadal_frontend::{ErrorKind, FrontendError};
use hadal_types::TableName;

use crate::problem::Problem;

/// Columns, values or blocks that are listed unless the request says how many.
const LISTED: usize = 50;

/// A part of an address, or the problem with it.
pub(crate) fn readable<T, E: Display>(read: Result<T, E>) -> Result<T, Problem> {
    read.map_err(|error| Problem::new(ErrorKind::BadRequest, error.to_string()))
}

/// The name of a table that may exist.
pub(crate) fn table_name(name: &str) -> Result<TableName, Problem> {
    TableName::new(name).map_err(|_| FrontendError::unknown_table(name).into())
}

/// Returns how many items to list: `limit`, at most `most`.
pub(crate) fn listed(limit: Option<usize>, most: usize) -> Result<usize, Problem> {
    match limit.unwrap_or(LISTED) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => {
            let detail = format!("a limit of {limit}; it may be 1 to {most}");
            Err(Problem::new(ErrorKind::BadRequest, detail))
        }
    }
}
