//! Columns of typed values: the arguments and results of user functions.

use hadal_types::{FunctionType, Number, Value};

/// The values of one argument or result, one per row.
#[derive(Clone, Debug, PartialEq)]
pub struct UdfColumn {
    /// The values; those of null rows are arbitrary.
    pub values: UdfValues,
    /// Whether each row is null; empty if none is.
    pub nulls: Vec<bool>,
}

/// Values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum UdfValues {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Strings.
    Strings(UdfStrings),
    /// Truth values.
    Bools(Vec<bool>),
}

/// Strings, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdfStrings {
    text: String,
    /// Where each string ends in `text`.
    ends: Vec<usize>,
}

impl UdfStrings {
    /// Appends a string.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len());
    }

    /// The string of a row; empty for rows out of range.
    #[must_use]
    pub fn get(&self, row: usize) -> &str {
        let Some(&end) = self.ends.get(row) else { return "" };
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..end]
    }

    /// All strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all strings.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }
}

impl UdfColumn {
    /// A column without rows, with room for `rows`.
    #[must_use]
    pub fn with_capacity(value_type: FunctionType, rows: usize) -> Self {
        let values = match value_type {
            FunctionType::Number => UdfValues::Numbers(Vec::with_capacity(rows)),
            FunctionType::String => UdfValues::Strings(UdfStrings::default()),
            FunctionType::Bool => UdfValues::Bools(Vec::with_capacity(rows)),
        };
        Self { values, nulls: Vec::new() }
    }

    /// The type of its values.
    #[must_use]
    pub const fn value_type(&self) -> FunctionType {
        match self.values {
            UdfValues::Numbers(_) => FunctionType::Number,
            UdfValues::Strings(_) => FunctionType::String,
            UdfValues::Bools(_) => FunctionType::Bool,
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.values {
            UdfValues::Numbers(numbers) => numbers.len(),
            UdfValues::Strings(strings) => strings.len(),
            UdfValues::Bools(bools) => bools.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row is null.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.get(row).copied().unwrap_or(false)
    }

    /// Appends a value; one of another type counts as null. Numbers are rounded to doubles.
    pub fn push(&mut self, value: &Value) {
        let row = self.len();
        let fits = match (&mut self.values, value) {
            (UdfValues::Numbers(numbers), Value::Number(number)) => {
                numbers.push(number.to_f64());
                true
            }
            (UdfValues::Strings(strings), Value::String(string)) => {
                strings.push(string);
                true
            }
            (UdfValues::Bools(bools), Value::Bool(truth)) => {
                bools.push(*truth);
                true
            }
            (UdfValues::Numbers(numbers), _) => {
                numbers.push(0.0);
                false
            }
            (UdfValues::Strings(strings), _) => {
                strings.push("");
                false
            }
            (UdfValues::Bools(bools), _) => {
                bools.push(false);
                false
            }
        };
        if !fits && self.nulls.is_empty() {
            self.nulls = vec![false; row];
        }
        if !fits || !self.nulls.is_empty() {
            self.nulls.push(!fits);
        }
    }

    /// The value of a row. Null for rows out of range, and for doubles that are no numbers.
    #[must_use]
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) || row >= self.len() {
            return Value::Null;
        }
        match &self.values {
            UdfValues::Numbers(numbers) => {
                Number::from_f64(numbers[row]).map_or(Value::Null, Value::Number)
            }
            UdfValues::Strings(strings) => Value::string(strings.get(row)),
            UdfValues::Bools(bools) => Value::Bool(bools[row]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_gives_back_what_was_pushed() {
        let rows = [Value::Null, Value::string("a"), Value::string(""), Value::string("bc")];
        let mut column = UdfColumn::with_capacity(FunctionType::String, 4);
        rows.iter().for_each(|value| column.push(value));
        let values: Vec<Value> = (0..4).map(|row| column.value(row)).collect();
        assert_eq!(values, rows);
        assert_eq!(column.value(4), Value::Null);
        let mut numbers = UdfColumn::with_capacity(FunctionType::Number, 2);
        numbers.push(&Value::integer(7));
        assert!(numbers.nulls.is_empty());
        numbers.push(&Value::string("no number"));
        assert_eq!([numbers.value(0), numbers.value(1)], [Value::integer(7), Value::Null]);
    }
}
