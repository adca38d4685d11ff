//! Grids of cells whose width is a power of ten: where on the line of numbers a number lies.
//!
//! Cell i of the grid of exponent k holds the numbers from i · 10^k to below (i + 1) · 10^k in the
//! order of [`Number`]. Where no decimal can hold such an edge it is the double nearest to it.
//! Edges of a coarser grid are edges of every finer one, so cell i of one grid lies whole in cell
//! ⌊i / 10⌋ of the next: exactly, for all numbers, doubles included.

use hadal_types::{Decimal, Number, NumberRepr};

/// The grid of one exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistogramGrid {
    exponent: i32,
}

/// Digits of an edge that no decimal holds: with so many, different ones are different doubles.
const DOUBLE_DIGITS: i32 = 15;
/// Digits of an edge as a decimal, with room for differences of two.
const DECIMAL_DIGITS: i32 = 37;
/// A decimal has at most so many digits after the point.
const DECIMAL_SCALE_MAX: i32 = 36;
/// A decimal holds all integers below 10^38.
const DECIMAL_EXPONENT_MAX: i32 = 37;
/// Of 10^-323, unlike of 10^-324, all multiples are different doubles.
const EXPONENT_MIN: i32 = -323;

impl HistogramGrid {
    /// The finest grid of which at most `cells_max` cells hold all from `min` to `max`, where that
    /// is not finer than the digits of these numbers allow. It is a grid no finer than `known`,
    /// which is for a part of this range.
    ///
    /// A wider range never has a finer grid.
    pub(crate) fn covering(
        (min, max): (Number, Number),
        cells_max: usize,
        known: Option<Self>,
    ) -> Self {
        let most = i128::try_from(cells_max).unwrap_or(i128::MAX);
        let finest = Self::finest_at(min).max(Self::finest_at(max));
        // Certainly too fine, and fewer steps away than the finest of all.
        let span = (max.to_f64() / 2.0 - min.to_f64() / 2.0) / cells_max as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a float to integer cast saturates")]
        let near = Self { exponent: (span.log10() as i32).saturating_sub(2) };
        let start = known.map_or(finest.max(near), |known| finest.max(known));
        let (mut first, mut last) = (start.cell_of(min), start.cell_of(max));
        let mut grid = start;
        while last.saturating_sub(first) >= most {
            (first, last) = (first.div_euclid(10), last.div_euclid(10));
            grid.exponent += 1;
        }
        grid
    }

    /// The finest grid whose edges around a number are numbers that can be told apart, and whose
    /// cells up to there have indexes below 10^37.
    fn finest_at(number: Number) -> Self {
        let (digits, exponent) = number.digits();
        let size = digits.unsigned_abs().checked_ilog10().and_then(|size| i32::try_from(size).ok());
        let exponent = match size.map(|size| size + exponent) {
            None => EXPONENT_MIN,
            Some(size) if size > DECIMAL_EXPONENT_MAX => size - DOUBLE_DIGITS + 1,
            Some(size) if size >= 0 => size - DECIMAL_DIGITS + 1,
            Some(size) => (size - DOUBLE_DIGITS + 1).clamp(EXPONENT_MIN, -DECIMAL_SCALE_MAX),
        };
        Self { exponent }
    }

    /// The cell of a number within the range that the grid covers.
    #[must_use]
    pub fn cell_of(self, number: Number) -> i128 {
        let at_or_below = |number: Number| {
            let (digits, exponent) = number.digits();
            self.cell_of_digits(digits, exponent)
        };
        let NumberRepr::Double(double) = number.form() else { return at_or_below(number) };
        // Edges can have more digits than doubles have: all that round to this one are up to it.
        let mut low = at_or_below(number);
        let next = Some(double.next_up()).filter(|next| next.is_finite());
        let mut high = next.and_then(Number::from_f64).map_or(low, at_or_below);
        while low < high {
            let middle = high - (high - low) / 2;
            match self.edge(middle) {
                Some(edge) if edge <= number => low = middle,
                _ => high = middle - 1,
            }
        }
        low
    }

    /// The cell of a stored decimal: the same as that of the number it is.
    #[must_use]
    pub fn cell_of_decimal(self, mantissa: i64, scale: u8) -> i128 {
        self.cell_of_digits(mantissa.into(), -i32::from(scale))
    }

    /// ⌊digits · 10^exponent / 10^k⌋.
    fn cell_of_digits(self, digits: i128, exponent: i32) -> i128 {
        let up = exponent.saturating_sub(self.exponent);
        match up {
            0.. => digits.saturating_mul(power(up).unwrap_or(i128::MAX)),
            _ => coarsened(digits, power(up)),
        }
    }

    /// The steps from cell to cell that stored decimals between these are apart; `None` where they
    /// are beyond 64 bits.
    #[must_use]
    pub fn steps(self, scale: u8, (min, max): (i64, i64)) -> Option<Steps> {
        let up = self.exponent.saturating_add(i32::from(scale));
        let unit = power(up).and_then(|unit| u64::try_from(unit).ok());
        let steps = match up {
            0.. => {
                let width = unit?;
                let below = i128::from(min).rem_euclid(i128::from(width));
                Steps { min, below: u64::try_from(below).ok()?, width, per_mantissa: 1 }
            }
            // There are fewer than 64 bits of cells, so for so many all are the same decimal.
            _ => Steps { min, below: 0, width: 1, per_mantissa: unit.unwrap_or(u64::MAX) },
        };
        let last = max.abs_diff(min).checked_mul(steps.per_mantissa)?;
        last.checked_add(steps.below).map(|_| steps)
    }

    /// The cells of finite doubles: each that of the number nearest to its shortest digits.
    pub fn cells_of_doubles(self) -> impl Fn(f64) -> i128 {
        // No double, and so never far from an edge, where the power is not a normal one.
        let unit = if self.exponent.abs() <= 300 { 10f64.powi(self.exponent) } else { f64::NAN };
        move |double| {
            const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;
            let cells = double / unit;
            let (cell, slack) = (cells.floor(), cells.abs() * ROUNDING);
            if cells - cell > slack && cell + 1.0 - cells > slack {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^40")]
                return cell as i128;
            }
            Number::from_f64(double).map_or(0, |number| self.cell_of(number))
        }
    }

    /// The cell of a coarser grid that a cell of this one lies in.
    pub(crate) fn cell_in(self, coarser: Self, cell: i128) -> i128 {
        debug_assert!(self <= coarser, "{coarser:?} is coarser than {self:?}");
        coarsened(cell, power(coarser.exponent - self.exponent))
    }

    /// The lower edge of a cell; `None` beyond the range of doubles.
    pub(crate) fn edge(self, cell: i128) -> Option<Number> {
        let decimal = match u8::try_from(self.exponent.unsigned_abs()) {
            Ok(scale) if self.exponent < 0 => Decimal::new(cell, scale),
            _ if self.exponent < 0 => None,
            _ => power(self.exponent).and_then(|unit| Decimal::new(cell.checked_mul(unit)?, 0)),
        };
        // Reading the digits rounds once.
        let double = || format!("{cell}e{}", self.exponent).parse().ok();
        decimal.map(Number::from).or_else(double)
    }

    /// Whether a number is on the lower edge of a cell.
    pub(crate) fn is_edge(self, cell: i128, number: Number) -> bool {
        self.edge(cell) == Some(number)
    }
}

/// The steps from the cell of the smallest stored decimal to those of others.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    min: i64,
    /// From the lower edge of the cell of `min` to it.
    below: u64,
    /// How many mantissas wide a cell is.
    width: u64,
    /// How many cells wide a mantissa is; where this is more than one, `width` is one.
    per_mantissa: u64,
}

impl Steps {
    /// The step to the cell of a mantissa that is not below the smallest.
    #[inline]
    #[must_use]
    pub fn of(self, mantissa: i64) -> usize {
        let distance = mantissa.abs_diff(self.min) * self.per_mantissa + self.below;
        usize::try_from(distance / self.width).unwrap_or(0)
    }
}

/// 10^|exponent|, where it fits.
fn power(exponent: i32) -> Option<i128> {
    10i128.checked_pow(exponent.unsigned_abs())
}

/// ⌊index / unit⌋, the unit being larger than all indexes where it is none.
fn coarsened(index: i128, unit: Option<i128>) -> i128 {
    match unit {
        Some(unit) => index.div_euclid(unit),
        None if index < 0 => -1,
        None => 0,
    }
}

#[cfg(test)]
mod tests;
