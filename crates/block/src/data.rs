//! A decoded row block column: numbers, or codes and what they stand for.
//!
//! Strings and lists always come as codes, so that a question about a value is asked once per
//! dictionary entry, and rows go by code. Where rows hardly repeat, each row is its own entry.

use std::sync::Arc;

use hadal_encoding::{Bitmap, ListDictionary, StringDictionary};
use hadal_types::{Decimal, Kind, Logical, Micros, Number, Value};

/// All rows of one row block column.
#[derive(Clone, Debug)]
pub struct ColumnData<'a> {
    /// The kind of the part.
    pub kind: Kind,
    /// What its numbers mean.
    pub logical: Logical,
    /// Which rows have a value; `None` where all have.
    pub validity: Option<Bitmap>,
    /// The values by row; what stands in a row without a value means nothing.
    pub values: Values<'a>,
}

/// The values of a column, one per row.
#[derive(Clone, Debug)]
pub enum Values<'a> {
    /// Numbers: mantissa × 10^−scale.
    Decimals {
        /// One mantissa per row.
        mantissas: Vec<i64>,
        /// Digits after the point, 0 to 18.
        scale: u8,
    },
    /// Numbers that no scale holds: each is what [`Number::from_f64`] makes of the double. All
    /// are finite.
    Doubles(Vec<f64>),
    /// Numbers that neither one scale nor doubles hold.
    Numbers(Vec<Number>),
    /// Strings.
    Strings {
        /// One code per row, each below the dictionary's length.
        codes: Vec<u32>,
        /// The strings. Sorted, unless each row is its own entry.
        dictionary: StringDictionary<'a>,
    },
    /// Sets or vectors of strings.
    Lists {
        /// One list code per row, each below the number of lists.
        codes: Vec<u32>,
        /// The lists, and the strings that they are made of.
        lists: ListDictionary<'a>,
    },
}

impl ColumnData<'_> {
    /// Whether a row has a value in this part.
    #[must_use]
    pub fn has_value(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.get(row))
    }

    /// The value of one row; null where it has none, and beyond the last row. For slow paths.
    #[must_use]
    pub fn value(&self, row: usize) -> Value {
        let value = if self.has_value(row) { self.stored_value(row) } else { None };
        value.unwrap_or(Value::Null)
    }

    fn stored_value(&self, row: usize) -> Option<Value> {
        match &self.values {
            Values::Decimals { mantissas, scale } => {
                let mantissa = *mantissas.get(row)?;
                Some(match self.logical {
                    Logical::Bool => Value::Bool(mantissa != 0),
                    Logical::Time => Value::Time(Micros(mantissa)),
                    Logical::Plain => {
                        Value::Number(Number::Decimal(Decimal::new(mantissa.into(), *scale)?))
                    }
                })
            }
            Values::Doubles(doubles) => Number::from_f64(*doubles.get(row)?).map(Value::Number),
            Values::Numbers(numbers) => Some(Value::Number(*numbers.get(row)?)),
            Values::Strings { codes, dictionary } => {
                dictionary.get(*codes.get(row)?).map(Value::string)
            }
            Values::Lists { codes, lists } => {
                let elements: Arc<[Arc<str>]> =
                    lists.strings(*codes.get(row)?).map(Arc::from).collect();
                Some(match self.kind {
                    Kind::Set => Value::Set(elements),
                    _ => Value::Vector(elements),
                })
            }
        }
    }
}
