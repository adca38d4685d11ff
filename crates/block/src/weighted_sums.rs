//! Weighted sums of columns, kept in the directory: `spec/row-block.md` section 2. With them,
//! queries over whole blocks count and sum sampled rows without decoding (small materialized
//! aggregates, Moerkotte, VLDB 1998).

use std::borrow::Cow;

use hadal_encoding::Bitmap;
use hadal_encoding::cursor::{Cursor, write_zigzag_wide};
use hadal_types::{ColumnName, Kind, Weight};

use crate::error::{BlockError, BlockRegion};

/// Blocks of fewer rows have no weighted sums: these would take many bytes per row, and the blocks
/// will be merged.
const ROWS_MIN: usize = 2_048;

/// Sums over the rows of a block that have a value x in one column. The weight w of a row is that
/// of its `sample_rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSums {
    /// Σw, in millionths.
    pub weight: i128,
    /// Σw², in 10^-12.
    pub squares: i128,
    /// Σwx, in millionths of the unit of the column's mantissas.
    pub product: i128,
}

impl WeightedSums {
    /// The sums of mantissas within `min` and `max`. A row without a value has weight zero. `None`
    /// if the sums may be too large.
    pub(crate) fn new(mantissas: &[i64], weights: &[i64], (min, max): (i64, i64)) -> Option<Self> {
        let weight: i128 = weights.iter().copied().map(i128::from).sum();
        let squares = weights.iter().copied().map(|weight| i128::from(weight).pow(2)).sum();
        products(weight, (min, max))?;
        let rows = mantissas.iter().zip(weights);
        let product = rows.map(|(&x, &weight)| i128::from(x) * i128::from(weight)).sum();
        Some(Self { weight, squares, product })
    }

    /// Appends the sums.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for sum in [self.weight, self.squares, self.product] {
            write_zigzag_wide(sum, out);
        }
    }

    /// Reads sums that [`Self::check`] has not seen yet.
    pub(crate) fn read(cursor: &mut Cursor<'_>, region: &BlockRegion) -> Result<Self, BlockError> {
        let mut sum = || cursor.zigzag_wide().map_err(region.of());
        Ok(Self { weight: sum()?, squares: sum()?, product: sum()? })
    }

    /// Checks that `values` mantissas within `min` and `max` can have these sums.
    pub(crate) fn check(
        &self,
        values: usize,
        (min, max): (i64, i64),
        region: &BlockRegion,
    ) -> Result<(), BlockError> {
        let most = i128::from(Weight::MILLIONTHS_MAX);
        let values = i128::try_from(values).unwrap_or(i128::MAX);
        let fits = (values..=values.saturating_mul(most)).contains(&self.weight)
            && (self.weight..=self.weight.saturating_mul(most)).contains(&self.squares)
            && products(self.weight, (min, max)).is_some_and(|all| all.contains(&self.product));
        region
            .check(fits, || format!("{values} values from {min} to {max} have other than {self:?}"))
    }
}

/// The possible weighted sums of mantissas within `min` and `max`; `None` if one is too large.
fn products(weight: i128, (min, max): (i64, i64)) -> Option<std::ops::RangeInclusive<i128>> {
    Some(weight.checked_mul(min.into())?..=weight.checked_mul(max.into())?)
}

/// The weight of each row of a block that is being made, in millionths.
#[derive(Debug)]
pub(crate) struct RowWeights(Vec<i64>);

impl RowWeights {
    /// The weights that sample rates, mantissas × 10^−scale, give. `None` if they are of too many
    /// digits, or if there are few rows.
    pub(crate) fn new(mantissas: &[i64], scale: u8, validity: Option<&Bitmap>) -> Option<Self> {
        if scale > Weight::SCALE || mantissas.len() < ROWS_MIN {
            return None;
        }
        let weight = |&rate: &i64| Weight::from_mantissa(rate, scale).millionths();
        let mut weights: Vec<i64> = mantissas.iter().map(weight).collect();
        if let Some(validity) = validity {
            let slots = weights.iter_mut().enumerate();
            slots.filter(|(row, _)| !validity.get(*row)).for_each(|(_, slot)| *slot = Weight::UNIT);
        }
        Some(Self(weights))
    }

    /// The weights of a column's values: those of the rows with a value only, if `is_compact`, and
    /// otherwise zero for the other rows.
    pub(crate) fn of_values(&self, validity: Option<&Bitmap>, is_compact: bool) -> Cow<'_, [i64]> {
        let Some(validity) = validity else { return Cow::Borrowed(&self.0) };
        if is_compact {
            return validity.iter_ones().map(|row| self.0[row]).collect();
        }
        let mut weights = vec![0; self.0.len()];
        validity.iter_ones().for_each(|row| weights[row] = self.0[row]);
        Cow::Owned(weights)
    }
}

/// Whether a column part holds the sample rates of rows.
pub(crate) fn is_rates(name: &ColumnName, kind: Kind) -> bool {
    name.as_str() == Weight::COLUMN && kind == Kind::Number
}
