//! Variances of decimals: the sums of one group's rows of a block fit 128 bits, so they are added
//! to the exact sums of the group at once.

use hadal_aggregate::{Comoments, WeightedCount};
use hadal_types::Weight;

use crate::column::column_values::Numbers;
use crate::column::weights::Weights;

/// The bound of mantissas: with a weight below 2^50 millionths and 2^16 rows, a sum of squares is
/// below 2^126.
const MANTISSA_MAX: u64 = 1 << 30;

/// The values of one block.
pub(crate) struct Squares<'v>(&'v Numbers);

const _: () = assert!(Weight::MILLIONTHS_MAX < 1 << 50, "weights of less than 50 bits");

impl<'v> Squares<'v> {
    /// `None` if the sums may be too long, or if the values are times.
    pub(crate) fn new(numbers: &'v Numbers) -> Option<Self> {
        let (min, max) = numbers.mantissas.bounds();
        let fits = min.unsigned_abs().max(max.unsigned_abs()) <= MANTISSA_MAX;
        (fits && numbers.is_plain()).then_some(Self(numbers))
    }

    /// Adds the values of these rows, all of one group.
    pub(crate) fn add_to(&self, comoments: &mut Comoments, rows: &[u32], weights: &Weights) {
        let Self(numbers) = self;
        let mut count = WeightedCount::default();
        let (mut sum, mut squares) = (0i128, 0i128);
        for row in rows.iter().map(|&row| row as usize).filter(|&row| numbers.has(row)) {
            let mantissa = numbers.mantissas.get(row);
            let weight = i128::from(weights.millionths_of(row));
            count.add(1, weight, weight * weight);
            sum += i128::from(mantissa) * weight;
            squares += i128::from(mantissa * mantissa) * weight;
        }
        comoments.add_decimals(count, (sum, squares), numbers.scale);
    }
}
