//! One row of input, and its values for an expression.

use std::collections::BTreeMap;

use hadal_query::{ColumnRef, RowInput};
use hadal_types::{ColumnName, Kind, Logical, Micros, Number, Value, Weight};

use super::OracleFault;
use super::exact::Exact;

/// One row as it was logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its time.
    pub time: Micros,
    /// Its other values: booleans, numbers, strings, sets and vectors. An absent column is null.
    pub cells: BTreeMap<ColumnName, Value>,
}

impl Row {
    /// The row's weight in millionths of an event: its `sample_rate`, if that is a number.
    ///
    /// # Errors
    /// A rate that ingest would have refused.
    pub fn weight(&self) -> Result<i64, OracleFault> {
        let Some(Value::Number(rate)) = self.cells.get(Weight::COLUMN) else {
            return Ok(Weight::UNIT);
        };
        let million = Exact::from_integer(Weight::UNIT.into());
        Exact::from_number(*rate)
            .times(&million)
            .rounded(0)
            .to_integer()
            .and_then(|millionths| i64::try_from(millionths).ok())
            .filter(|millionths| (1..=Weight::MILLIONTHS_MAX).contains(millionths))
            .ok_or_else(|| OracleFault::SampleRate(rate.to_string()))
    }

    /// The row's value of an input; the table's time column is `time_column`.
    #[must_use]
    pub fn input(&self, input: &RowInput, time_column: &ColumnName) -> Value {
        match input {
            RowInput::Time => Value::Time(self.time),
            RowInput::Column(column) if column.name == *time_column => self.time_as(column),
            RowInput::Column(column) => self.column(column),
            RowInput::AnyText(text) => Value::Bool(self.has_text(&text.to_lowercase())),
            // It depends on row blocks, which the oracle has not: no query that is compared has it.
            RowInput::Random(_) => Value::Null,
        }
    }

    /// The time column has a number part only; its text is the formatted time.
    fn time_as(&self, column: &ColumnRef) -> Value {
        match (column.kind, column.logical) {
            (Kind::Number, Logical::Time) => Value::Time(self.time),
            (Kind::Number, _) => Value::integer(self.time.0),
            (Kind::String, _) => Value::string(&self.time.to_string()),
            (Kind::Set | Kind::Vector, _) => Value::Null,
        }
    }

    fn column(&self, column: &ColumnRef) -> Value {
        let Some(value) = self.cells.get(&column.name) else { return Value::Null };
        match (column.kind, value) {
            (Kind::Set, Value::Set(_))
            | (Kind::Vector, Value::Vector(_))
            | (Kind::String, Value::String(_)) => value.clone(),
            // A boolean is stored as 0 or 1, and its decimal text is that.
            (Kind::Number, Value::Bool(truth)) => {
                number(Number::integer(i64::from(*truth)), column.logical)
            }
            (Kind::Number, Value::Number(stored)) => number(*stored, column.logical),
            (Kind::String, Value::Bool(truth)) => Value::string(&u8::from(*truth).to_string()),
            (Kind::String, Value::Number(number)) => Value::string(&number.to_string()),
            _ => Value::Null,
        }
    }

    fn has_text(&self, lower: &str) -> bool {
        self.cells.values().any(|value| match value {
            Value::String(text) => text.to_lowercase().contains(lower),
            Value::Set(list) | Value::Vector(list) => {
                list.iter().any(|text| text.to_lowercase().contains(lower))
            }
            _ => false,
        })
    }
}

/// A stored number as a value of its column's logical type.
fn number(number: Number, logical: Logical) -> Value {
    match logical {
        Logical::Plain => Value::Number(number),
        Logical::Bool => Value::Bool(number != Number::ZERO),
        Logical::Time => number.to_i64().map_or(Value::Null, |micros| Value::Time(Micros(micros))),
    }
}
