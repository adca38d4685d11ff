//! Conditions on one column, which a finding consists of.

use hadal_types::{ColumnName, Number, Value};

/// A condition on one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: ColumnName,
    /// What the column must be.
    pub test: Test,
}

/// What a column must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// This value.
    Is(Value),
    /// A set or vector with this element.
    Has(Value),
    /// A number from the first, inclusive, to the second, exclusive. An absent end is open.
    Within(Option<Number>, Option<Number>),
    /// Without a value.
    Missing,
}

impl Condition {
    /// The condition in SQL.
    #[must_use]
    pub fn to_sql(&self) -> String {
        let column = quoted_column(&self.column);
        match &self.test {
            Test::Is(value) => format!("{column} = {}", literal(value)),
            Test::Has(value) => format!("includes_any({column}, {})", literal(value)),
            Test::Missing => format!("{column} IS NULL"),
            Test::Within(from, to) => {
                let from = from.map(|from| format!("{column} >= {from}"));
                let to = to.map(|to| format!("{column} < {to}"));
                let ends: Vec<String> = from.into_iter().chain(to).collect();
                if ends.is_empty() { format!("{column} IS NOT NULL") } else { ends.join(" AND ") }
            }
        }
    }
}

/// A column's name in SQL.
pub(crate) fn quoted_column(column: &ColumnName) -> String {
    format!("\"{}\"", column.as_str().replace('"', "\"\""))
}

/// A value in SQL.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        value => format!("'{}'", value.to_string().replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_quoted() {
        let sql = |name: &str, test: Test| {
            Condition { column: ColumnName::new(name).expect("a name"), test }.to_sql()
        };
        assert_eq!(sql("a\"b", Test::Is(Value::string("it's"))), "\"a\"\"b\" = 'it''s'");
        assert_eq!(sql("n", Test::Is(Value::integer(-3))), "\"n\" = -3");
        let within = |from: Option<i64>, to: Option<i64>| {
            Test::Within(from.map(Number::integer), to.map(Number::integer))
        };
        assert_eq!(sql("n", within(Some(1), Some(9))), "\"n\" >= 1 AND \"n\" < 9");
        assert_eq!(sql("n", within(None, Some(9))), "\"n\" < 9");
        assert_eq!(sql("n", within(None, None)), "\"n\" IS NOT NULL");
        assert_eq!(sql("t", Test::Has(Value::string("x"))), "includes_any(\"t\", 'x')");
        assert_eq!(sql("t", Test::Missing), "\"t\" IS NULL");
    }
}
