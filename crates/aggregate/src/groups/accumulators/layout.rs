//! What comes into accumulators, and where it is added: the contract with `scan`.

use crate::groups::accumulators::bounds::Bounds;

/// Properties of the rows that are about to be added.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorInput<'i> {
    /// The weight of each class of rows, in millionths.
    pub classes: &'i [i64],
    /// The sums, each of one measure.
    pub sums: &'i [SumInput],
    /// The maximum number of rows.
    pub rows: u64,
    /// The bounds of rows that were weighted before, in units of the only class.
    pub weighted: Option<Bounds>,
}

/// Properties of a sum that is about to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumInput {
    /// The index of the measure.
    pub measure: usize,
    /// The scale of its mantissas.
    pub scale: u8,
    /// The set of rows that have a value: 0 is all rows, any other number identifies a set.
    pub valid: usize,
    /// The bound of the absolute value of every sum over any of the rows.
    pub size_max: u128,
}

/// The layout of accumulators. Those of one group and class are adjacent, column by column. The
/// classes of a group follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccumulatorLayout {
    /// By class of the incoming rows: the class here.
    pub classes: Vec<usize>,
    /// The number of classes here.
    pub class_count: usize,
    /// What to add to each column.
    pub columns: Vec<AccumulatorColumn>,
}

/// What to add to one column of accumulators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccumulatorColumn {
    /// Nothing.
    Nothing,
    /// A factor for each row of a set of rows with a value.
    Count {
        /// The set of rows ([`SumInput::valid`]).
        valid: usize,
        /// By class of the incoming rows.
        factors: Vec<i64>,
    },
    /// The same for the squares of weights.
    Squares {
        /// The set of rows ([`SumInput::valid`]).
        valid: usize,
        /// By class of the incoming rows.
        factors: Vec<i64>,
    },
    /// The incoming sum of this index, times a factor.
    Sum {
        /// The index among [`AccumulatorInput::sums`].
        index: usize,
        /// By class of the incoming rows: converts to the scale of the column, and weights.
        factors: Vec<i64>,
    },
}

impl AccumulatorColumn {
    /// By class of the incoming rows: what to multiply their count or sum by. Empty if nothing is
    /// added.
    #[must_use]
    pub fn factors(&self) -> &[i64] {
        match self {
            Self::Nothing => &[],
            Self::Count { factors, .. }
            | Self::Squares { factors, .. }
            | Self::Sum { factors, .. } => factors,
        }
    }

    /// Sets the columns of a count, for a set of rows with a value. `None`: nothing is added.
    pub(super) fn set_count(columns: &mut [Self], valid: Option<usize>, factors: &[Vec<i64>]) {
        for (at, (column, factors)) in columns.iter_mut().zip(factors).enumerate() {
            let factors = factors.clone();
            *column = match valid {
                None => Self::Nothing,
                Some(valid) if at == 0 => Self::Count { valid, factors },
                Some(valid) => Self::Squares { valid, factors },
            };
        }
    }
}
