//! A decoded row block column: numbers, or codes and their dictionary.
//!
//! Strings and lists are always decoded to codes, so that a predicate is evaluated once per
//! dictionary entry, and rows are compared by code. If rows rarely repeat, each row is its own
//! entry.

use std::cell::LazyCell;
use std::sync::Arc;

use hadal_encoding::{Bitmap, ListDictionary, StringDictionary, kernels};
use hadal_types::{Decimal, Kind, Logical, Micros, Number, Value};

/// All rows of one row block column.
#[derive(Clone, Debug)]
pub struct ColumnData<'a> {
    /// The kind of the part.
    pub kind: Kind,
    /// The logical type of its numbers.
    pub logical: Logical,
    /// Which rows have a value; `None` if all have one.
    pub validity: Option<Bitmap>,
    /// The values by row. The value of a null row is a placeholder.
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
    /// Numbers that no single scale holds: each is the result of [`Number::from_f64`] of the
    /// double. All doubles are finite.
    Doubles(Vec<f64>),
    /// Numbers that neither one scale nor doubles hold: each is the exact decimal of its row or, if
    /// there is none, the result of [`Number::from_f64`] of the double.
    Mixed {
        /// One per row, all finite; for an exact decimal, the nearest double.
        doubles: Vec<f64>,
        /// The exact numbers of rows whose double represents another number.
        exacts: Exacts,
    },
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
        /// The lists, and their element strings.
        lists: ListDictionary<'a>,
    },
}

/// Exact decimals of some rows.
#[derive(Clone, Debug)]
pub struct Exacts(Vec<(u32, Decimal)>);

impl Exacts {
    /// The decimals of these rows. Rows must ascend.
    pub(crate) fn new(exacts: Vec<(u32, Decimal)>) -> Self {
        Self(exacts)
    }

    /// The row's exact number; `None` if its double represents it.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Number> {
        let is_of = |exact: &&(u32, Decimal)| exact.0 as usize == row;
        // Often all rows have an entry.
        let exact = self.0.get(row).filter(is_of).or_else(|| {
            let at = self.0.binary_search_by_key(&row, |exact| exact.0 as usize).ok()?;
            self.0.get(at)
        });
        exact.map(|exact| exact.1.into())
    }

    /// The row's number; `double` must be its double.
    #[must_use]
    pub fn number(&self, row: usize, double: f64) -> Number {
        self.get(row).or_else(|| Number::from_f64(double)).unwrap_or(Number::ZERO)
    }
}

impl Values<'_> {
    /// Expands compact values to one per row; rows without a value get placeholders. `present` has
    /// as many ones as there are values, and `positions` holds the same rows as numbers.
    pub(crate) fn spread<F: FnOnce() -> Vec<u32>>(
        self,
        present: &Bitmap,
        positions: &LazyCell<Vec<u32>, F>,
    ) -> Self {
        let (words, rows) = (present.words(), present.len());
        let spread_codes = |codes: &[u32]| {
            let mut spread = vec![0; rows];
            kernels::expand_u32(codes, words, 0, &mut spread);
            spread
        };
        let spread_doubles = |doubles: &[f64]| {
            let mut spread = vec![0.0; rows];
            for (&position, &double) in positions.iter().zip(doubles) {
                spread[position as usize] = double;
            }
            spread
        };
        match self {
            Self::Decimals { mantissas: values, scale } => {
                let mut mantissas = vec![0; rows];
                kernels::expand_i64(&values, words, 0, &mut mantissas);
                Self::Decimals { mantissas, scale }
            }
            Self::Doubles(doubles) => Self::Doubles(spread_doubles(&doubles)),
            Self::Mixed { doubles, exacts: Exacts(mut exacts) } => {
                exacts.iter_mut().for_each(|exact| exact.0 = positions[exact.0 as usize]);
                Self::Mixed { doubles: spread_doubles(&doubles), exacts: Exacts(exacts) }
            }
            Self::Strings { codes, dictionary } => {
                Self::Strings { codes: spread_codes(&codes), dictionary }
            }
            Self::Lists { codes, lists } => Self::Lists { codes: spread_codes(&codes), lists },
        }
    }
}

impl ColumnData<'_> {
    /// Whether a row has a value in this part.
    #[must_use]
    pub fn has_value(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.get(row))
    }

    /// The value of one row; null if it has none, and beyond the last row. Slow: for single values.
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
                    Logical::Plain => Value::Number(Decimal::new(mantissa.into(), *scale)?.into()),
                })
            }
            Values::Doubles(doubles) => Number::from_f64(*doubles.get(row)?).map(Value::Number),
            Values::Mixed { doubles, exacts } => {
                Some(Value::Number(exacts.number(row, *doubles.get(row)?)))
            }
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
