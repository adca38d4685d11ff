//! The weights of a block's rows.

use hadal_block::BlockError;
use hadal_query::{ColumnRef, Input};
use hadal_types::{ColumnName, Kind, Logical, Number, Value, Weight};

use crate::columns::Columns;
use crate::values::BlockValues;

/// How many events each row of a block stands for.
pub(crate) enum Weights {
    /// One, in every row.
    One,
    /// So many millionths, by row.
    ByRow(Vec<i64>),
}

impl Weights {
    /// Reads the block's sample rates. A row without a usable one weighs one.
    pub(crate) fn new(columns: &Columns<'_, '_>) -> Result<Self, BlockError> {
        let Ok(name) = ColumnName::new(Weight::COLUMN) else { return Ok(Self::One) };
        let column = ColumnRef { name, kind: Kind::Number, logical: Logical::Plain };
        Ok(match columns.input(&Input::Column(column))? {
            BlockValues::Constant(_) => Self::One,
            BlockValues::Numbers(numbers) if numbers.scale <= Weight::SCALE => {
                let factor = 10i64.pow(u32::from(Weight::SCALE - numbers.scale));
                let millionths = |mantissa: i64| mantissa.checked_mul(factor);
                let weigh = |(row, &mantissa): (usize, &i64)| match numbers.has(row) {
                    true => clean(millionths(mantissa)),
                    false => Weight::UNIT,
                };
                Self::ByRow(numbers.mantissas.iter().enumerate().map(weigh).collect())
            }
            other => {
                Self::ByRow((0..columns.rows()).map(|row| of_value(&other.value(row))).collect())
            }
        })
    }

    /// The row's weight.
    pub(crate) fn of(&self, row: usize) -> Weight {
        Weight::from_millionths(self.millionths_of(row)).unwrap_or(Weight::ONE)
    }

    /// The row's weight in millionths.
    #[inline]
    pub(crate) fn millionths_of(&self, row: usize) -> i64 {
        match self {
            Self::One => Weight::UNIT,
            Self::ByRow(millionths) => millionths[row],
        }
    }
}

fn of_value(value: &Value) -> i64 {
    let rate = match value {
        Value::Number(rate) => *rate,
        _ => Number::integer(1),
    };
    Weight::from_rate(rate).unwrap_or(Weight::ONE).millionths()
}

fn clean(millionths: Option<i64>) -> i64 {
    millionths.and_then(Weight::from_millionths).unwrap_or(Weight::ONE).millionths()
}
