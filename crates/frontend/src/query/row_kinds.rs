//! The column that says what each row of an answer stands for, for formats and doors that have
//! nothing but columns.

use hadal_query::{Query, Type};
use hadal_types::Value;

use crate::query::number_class::NumberClass;
use crate::query::result::QueryResult;

/// The name of the column.
pub(crate) const COLUMN: &str = "row_kind";

/// Whether the answer to a query may have rows that are no groups.
pub(crate) fn has_sums(query: &Query) -> bool {
    query.series.is_some() || query.totals
}

/// Moves the kinds of the rows into a last column, if some may be no groups.
pub(crate) fn into_column(result: &mut QueryResult) {
    let Some(kinds) = result.row_kinds.take() else { return };
    result.numbers.resize(result.columns.len(), NumberClass::default());
    result.numbers.push(NumberClass::default());
    result.columns.push((COLUMN.to_owned(), Type::String));
    let rows = std::mem::take(&mut result.rows).into_iter().zip(kinds);
    let longer = rows.map(|(row, kind)| {
        let values = row.iter().cloned();
        values.chain([Value::string(kind.name())]).collect()
    });
    result.rows = longer.collect();
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::{RowKind, SparseRow};

    use super::*;

    #[test]
    fn the_column_is_the_last_one_and_marks_each_row() {
        let mut result = QueryResult {
            columns: vec![("n".to_owned(), Type::Number)],
            rows: [1, 2, 3].map(|n| SparseRow::from([Value::integer(n)])).into(),
            row_kinds: Some(vec![RowKind::Group, RowKind::Other, RowKind::Total]),
            ..QueryResult::default()
        };
        into_column(&mut result);
        assert_eq!(result.columns[1], (COLUMN.to_owned(), Type::String));
        let kinds: Vec<String> = result.rows.iter().map(|row| row.get(1).to_string()).collect();
        assert_eq!(kinds, ["group", "other", "total"]);
        assert!(result.row_kinds.is_none() && result.numbers.len() == 2);
        into_column(&mut result);
        assert_eq!(result.columns.len(), 2, "an answer of groups alone has no column");
    }
}
