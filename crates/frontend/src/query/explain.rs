//! EXPLAIN: how a query is answered, as lines of text. The row blocks of the table say what it
//! would read. EXPLAIN ANALYZE runs the query and adds what that took.

mod cost;
mod expr_text;
mod plan;
mod read_columns;

use std::time::Duration;

use hadal_aggregate::SparseRow;
use hadal_query::{Query, Type};
use hadal_sql::{Note, Statement};
use hadal_types::{Value, limits};

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::Principal;
use crate::query::completion::has_weights;
use crate::query::describe::named;
use crate::query::explain::cost::cost_lines;
use crate::query::explain::plan::{Storage, plan_lines};
use crate::query::result::{QueryResult, QueryWarning};
use crate::query::schema;

/// The column of the answer, as PostgreSQL names it.
pub(crate) const EXPLAIN_COLUMNS: [(&str, Type); 1] = [("QUERY PLAN", Type::String)];

/// Explains a bound statement; with `analyze` a query is also run. `planning` is the time that
/// parsing and binding took.
///
/// # Errors
/// When the table is gone, or a query that is run has no answer.
pub(crate) async fn explain(
    frontend: &Frontend,
    principal: &Principal,
    statement: Statement,
    analyze: bool,
    planning: Duration,
) -> Result<QueryResult, FrontendError> {
    let Statement::Query { query, notes } = statement else {
        return Ok(answer(vec!["One row of constants: no table is read".to_owned()], Vec::new()));
    };
    let table = schema(frontend, &query.table)?;
    let storage = Storage {
        blocks: frontend.backend.root.blocks(&query.table).await,
        has_weights: has_weights(frontend, &query.table),
        time_column: table.time_column.clone(),
    };
    let lines = plan_lines(&query, &storage);
    match analyze {
        true => analyzed(frontend, principal, *query, lines, (notes, planning)).await,
        false => Ok(answer(lines, notes)),
    }
}

async fn analyzed(
    frontend: &Frontend,
    principal: &Principal,
    query: Query,
    mut lines: Vec<String>,
    (notes, planning): (Vec<Note>, Duration),
) -> Result<QueryResult, FrontendError> {
    let (result, times) = frontend.runner_of(principal).run_timed(query).await?;
    lines.extend(cost_lines(&result, times, planning));
    let mut explained = answer(lines, notes);
    explained.warnings.extend(result.warnings.iter().map(QueryWarning::from));
    explained.coverage = result.coverage;
    explained.stats = result.stats;
    Ok(explained)
}

fn answer(lines: Vec<String>, notes: Vec<Note>) -> QueryResult {
    let row = |line: String| SparseRow::from(vec![Value::string(&shortened(line))]);
    QueryResult {
        columns: named(&EXPLAIN_COLUMNS),
        rows: lines.into_iter().map(row).collect(),
        warnings: notes.into_iter().map(QueryWarning::from).collect(),
        ..QueryResult::default()
    }
}

/// The line, cut at [`limits::PLAN_LINE_CHARS_MAX`].
fn shortened(line: String) -> String {
    match line.char_indices().nth(limits::PLAN_LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} …", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        let longest = "é".repeat(limits::PLAN_LINE_CHARS_MAX);
        assert_eq!(shortened(longest.clone()), longest);
        assert_eq!(shortened(format!("{longest}x")), format!("{longest} …"));
    }
}
