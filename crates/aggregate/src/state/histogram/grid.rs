//! Grids of cells whose width is a power of ten.
//!
//! Cell i of the grid with exponent k holds the numbers from i · 10^k to below (i + 1) · 10^k, in
//! the order of [`Number`]. If no decimal can hold an edge, the nearest double is the edge. Edges
//! of a coarser grid are edges of every finer one. So cell i of a grid is part of cell ⌊i / 10⌋ of
//! the next. This is exact for all numbers, doubles included.

use hadal_types::{Decimal, Number, NumberRepr};

/// The grid of one exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistogramGrid {
    exponent: i32,
}

/// Significant digits of an edge that no decimal holds. With at most 15, different edges are
/// different doubles.
const DOUBLE_DIGITS: i32 = 15;
/// Significant digits of an edge as a decimal, with room for the difference of two.
const DECIMAL_DIGITS: i32 = 37;
/// The maximum number of digits of a decimal after the point.
const DECIMAL_SCALE_MAX: i32 = 36;
/// A decimal holds all integers below 10^38.
const DECIMAL_EXPONENT_MAX: i32 = 37;
/// All multiples of 10^-323 are different doubles, unlike those of 10^-324.
const EXPONENT_MIN: i32 = -323;

impl HistogramGrid {
    /// The finest grid that covers `min` to `max` with at most `cells_max` cells, but not finer
    /// than the digits of these numbers allow. The result is not finer than `part_grid`, the grid
    /// of a part of this range.
    ///
    /// A wider range never has a finer grid.
    pub(crate) fn covering(
        (min, max): (Number, Number),
        cells_max: usize,
        part_grid: Option<Self>,
    ) -> Self {
        let most = i128::try_from(cells_max).unwrap_or(i128::MAX);
        let finest = Self::finest_at(min).max(Self::finest_at(max));
        // Certainly too fine, but fewer steps away than the finest possible grid.
        let span = (max.to_f64() / 2.0 - min.to_f64() / 2.0) / cells_max as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a float to integer cast saturates")]
        let near = Self { exponent: (span.log10() as i32).saturating_sub(2) };
        let start = part_grid.map_or(finest.max(near), |grid| finest.max(grid));
        let (mut first, mut last) = (start.cell_of(min), start.cell_of(max));
        let mut grid = start;
        while last.saturating_sub(first) >= most {
            (first, last) = (first.div_euclid(10), last.div_euclid(10));
            grid.exponent += 1;
        }
        grid
    }

    /// The finest grid whose edges around `number` are distinguishable numbers, and whose cells up
    /// to `number` have indexes below 10^37.
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

    /// The cell of a number within the covered range.
    #[must_use]
    pub(crate) fn cell_of(self, number: Number) -> i128 {
        let at_or_below = |number: Number| {
            let (digits, exponent) = number.digits();
            self.cell_of_digits(digits, exponent)
        };
        let NumberRepr::Double(double) = number.form() else { return at_or_below(number) };
        // Edges can have more digits than doubles. Every edge that rounds to this double is at or
        // below it.
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

    /// The cell of a stored decimal, which equals that of the same number.
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

    /// The distances in cells between the cell of `min` and those of stored decimals up to `max`.
    /// `None` if they exceed 64 bits.
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
            // Cell distances are below 2^64. If one mantissa spans more cells, all mantissas are
            // equal.
            _ => Steps { min, below: 0, width: 1, per_mantissa: unit.unwrap_or(u64::MAX) },
        };
        let last = max.abs_diff(min).checked_mul(steps.per_mantissa)?;
        last.checked_add(steps.below).map(|_| steps)
    }

    /// A function from a finite double to its cell: that of the number with its shortest digits.
    pub fn cells_of_doubles(self) -> impl Fn(f64) -> i128 {
        // NaN if the power is not a normal double. NaN fails the test below, so the exact path is
        // taken.
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

    /// The cell of a coarser grid that contains this cell.
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
        // Parsing the digits rounds once.
        let double = || format!("{cell}e{}", self.exponent).parse().ok();
        decimal.map(Number::from).or_else(double)
    }

    /// Whether a number is on the lower edge of a cell.
    pub(crate) fn is_edge(self, cell: i128, number: Number) -> bool {
        self.edge(cell) == Some(number)
    }
}

/// The distance in cells from the cell of the smallest stored decimal to those of others.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    min: i64,
    /// The distance from the lower edge of the cell of `min` to `min`.
    below: u64,
    /// The width of a cell in mantissas.
    width: u64,
    /// The width of a mantissa in cells; if this is more than one, `width` is one.
    per_mantissa: u64,
}

impl Steps {
    /// The distance to the cell of `mantissa`, which must not be below the smallest.
    #[inline]
    #[must_use]
    pub fn of(self, mantissa: i64) -> usize {
        let distance = mantissa.abs_diff(self.min) * self.per_mantissa + self.below;
        usize::try_from(distance / self.width).unwrap_or(0)
    }
}

/// 10^|exponent|, or `None` if it does not fit.
fn power(exponent: i32) -> Option<i128> {
    10i128.checked_pow(exponent.unsigned_abs())
}

/// ⌊index / unit⌋; without a unit, for a unit that is larger than all indexes.
fn coarsened(index: i128, unit: Option<i128>) -> i128 {
    match unit {
        Some(unit) => index.div_euclid(unit),
        None if index < 0 => -1,
        None => 0,
    }
}

#[cfg(test)]
mod tests;
