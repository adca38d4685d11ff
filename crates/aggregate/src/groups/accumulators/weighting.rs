//! How accumulators treat rows of several weights.
//!
//! By class, the rows of each weight have counts and sums of their own. With few weights that are
//! small multiples of one *unit*, each row is weighted as it is added instead. The accumulators of
//! a group are then as many as without weights, but that a count has two: the number of rows beside
//! their weights, and the squares of the weights.

use hadal_types::Weight;

use crate::groups::accumulators::bounds::{Bounds, WEIGHT_BITS, WEIGHT_MAX};
use crate::groups::accumulators::layout::AccumulatorInput;
use crate::state::weighted_count::WeightedCount;

/// The weights of what was added, and of what comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weighting {
    /// Classes have accumulators of their own; these are at most that number of rows.
    ByClass { rows: u64 },
    /// Rows are weighted as they are added.
    ByRow(Bounds),
}

impl Weighting {
    /// The same without rows.
    pub(super) const fn of_no_rows(self) -> Self {
        match self {
            Self::ByClass { .. } => Self::ByClass { rows: 0 },
            Self::ByRow(bounds) => Self::ByRow(Bounds { rows: 0, ..bounds }),
        }
    }

    /// The number of accumulators of a count.
    pub(super) const fn count_width(self) -> usize {
        match self {
            Self::ByClass { .. } => 1,
            Self::ByRow(_) => 2,
        }
    }

    /// The count in the first of these accumulators. All rows have this weight in millionths; if
    /// they were weighted, it is the unit.
    pub(super) fn count(self, numbers: &[i64], weight: i64) -> WeightedCount {
        let mut count = WeightedCount::default();
        let (rows, unit) = (self.rows(numbers[0]), i128::from(weight));
        let (weights, squares) = match self {
            Self::ByClass { .. } => (i128::from(rows), i128::from(rows)),
            Self::ByRow(_) => (self.weights(numbers[0]).into(), numbers[1].into()),
        };
        // Saturates as counts do, beyond 10^8 rows of the largest weight.
        count.add(rows, weights * unit, squares.saturating_mul(unit).saturating_mul(unit));
        count
    }

    /// The number of rows in the first accumulator of a count.
    #[inline]
    pub(super) const fn rows(self, number: i64) -> u64 {
        match self {
            Self::ByClass { .. } => number.unsigned_abs(),
            Self::ByRow(_) => number.unsigned_abs() >> WEIGHT_BITS,
        }
    }

    /// The sum of weights in the first accumulator of a count, in units of the class.
    #[inline]
    pub(super) const fn weights(self, number: i64) -> i64 {
        match self {
            Self::ByClass { .. } => number,
            Self::ByRow(_) => number & ((1 << WEIGHT_BITS) - 1),
        }
    }

    /// By accumulator of a count: what one row of each weight adds to it. Of rows that were
    /// weighted before, their own count is added.
    pub(super) fn count_factors(self, weights: &[i64], were_weighted: bool) -> Vec<Vec<i64>> {
        let ones = vec![1; weights.len()];
        let first = |weight: &i64| 1 << WEIGHT_BITS | weight;
        let square = |weight: &i64| weight * weight;
        match self {
            Self::ByClass { .. } => vec![ones],
            Self::ByRow(_) if were_weighted => vec![ones.clone(), ones],
            Self::ByRow(_) => {
                vec![weights.iter().map(first).collect(), weights.iter().map(square).collect()]
            }
        }
    }

    /// The weight of each incoming class in units, and the weighting with it. `None` if it does not
    /// fit beside the earlier content, whose classes are given.
    pub(super) fn with(
        self,
        classes: &[i64],
        incoming: &AccumulatorInput<'_>,
    ) -> Option<(Self, Vec<i64>)> {
        match (self, incoming.weighted) {
            (Self::ByClass { rows }, None) => {
                let rows = rows.saturating_add(incoming.rows);
                Some((Self::ByClass { rows }, vec![1; incoming.classes.len()]))
            }
            (Self::ByClass { .. }, Some(_)) => None,
            (Self::ByRow(bounds), Some(more)) => {
                let is_same = incoming.classes == classes;
                is_same.then_some((Self::ByRow(bounds.plus(more)?), vec![1]))
            }
            (Self::ByRow(bounds), None) => {
                let unit = *classes.first()?;
                let in_units = |&weight: &i64| (weight % unit == 0).then_some(weight / unit);
                let weights = incoming.classes.iter().map(in_units).collect::<Option<Vec<_>>>()?;
                let weight_max = weights.iter().copied().max()?;
                let fits = weight_max <= WEIGHT_MAX;
                let more = Bounds { rows: incoming.rows, weight_max };
                Some((Self::ByRow(bounds.plus(more).filter(|_| fits)?), weights))
            }
        }
    }
}

/// A unit of the incoming weights and of one, in millionths; `None` if rows should not be weighted.
pub(super) fn unit_of(incoming: &AccumulatorInput<'_>) -> Option<i64> {
    let is_asked = incoming.classes.len() > 1 || incoming.weighted.is_some();
    let start = if incoming.weighted.is_some() { 0 } else { Weight::UNIT };
    let unit = incoming.classes.iter().fold(start, |unit, &weight| common_divisor(unit, weight));
    is_asked.then_some(unit)
}

fn common_divisor(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
