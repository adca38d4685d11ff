//! Exact sums that do not depend on the order of additions.
//!
//! Values stored as decimals are summed as 256-bit integers at one fixed scale. Values stored as
//! doubles are summed by a superaccumulator. The two parts meet when the sum is finished.

use hadal_types::limits::DECIMAL_SCALE_MAX;
use hadal_types::{Number, Weight};

use crate::state::int256::{Int256, factor};
use crate::state::superaccumulator::{DIGITS, Superaccumulator};

/// The scale of the decimal part: the finest scale of stored values plus the scale of weights.
const SCALE: u8 = DECIMAL_SCALE_MAX + Weight::SCALE;
/// The maximum size in bits of a decimal sum from outside. Real sums need 237; 2^14 sums of 240
/// bits merge within 256.
const DECIMAL_BITS_MAX: u32 = 240;

/// Σw·x over values x with weights w.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// In units of 10^-[`SCALE`].
    decimals: Int256,
    doubles: Option<Box<Superaccumulator>>,
    overflow: bool,
}

/// A sum is beyond the range of doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sum is beyond ±1.7976931348623157e308")]
pub(crate) struct SumOverflow;

/// The parts of a sum, for encoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SumParts {
    /// The sum of decimals in units of 10^-24: 256 bits in two's complement, little-endian.
    pub decimals: [u8; 32],
    /// The sum of doubles as 68 digits of 32 bits, the lowest first, in units of 2^-1074. The last
    /// digit is signed. Empty if there were no doubles.
    pub doubles: Vec<i64>,
    /// Whether some w·x was beyond the range of doubles.
    pub overflow: bool,
}

impl Sum {
    /// Adds a sum of stored decimals: `product` is Σ mantissa · weight in millionths, for values of
    /// this scale.
    ///
    /// An `i128` holds the products of any 18,000 rows; the caller must check longer sums for
    /// overflow. A scale beyond 18 counts as overflow.
    pub fn add_decimal(&mut self, product: i128, scale: u8) {
        match DECIMAL_SCALE_MAX.checked_sub(scale).and_then(factor) {
            Some(factor) => self.decimals.add(Int256::product(product, factor)),
            None => self.overflow = true,
        }
    }

    /// Adds the product of a value stored as a double and its weight, rounded once.
    pub fn add_double(&mut self, product: f64) {
        if product.is_finite() {
            self.doubles.get_or_insert_with(|| Box::new(Superaccumulator::new())).add(product);
        } else {
            self.overflow = true;
        }
    }

    /// Adds one value with this weight.
    ///
    /// Numbers that a row block can store as decimals are added exactly; all others as doubles.
    pub fn add(&mut self, value: Number, weight: Weight) {
        match value.to_stored() {
            Some((mantissa, scale)) => {
                self.add_decimal(i128::from(mantissa) * i128::from(weight.millionths()), scale);
            }
            None => self.add_double(weighted(value.to_f64(), weight)),
        }
    }

    /// Adds the sum `other`.
    pub fn merge(&mut self, other: &Self) {
        self.decimals.add(other.decimals);
        self.overflow |= other.overflow;
        match (&mut self.doubles, &other.doubles) {
            (Some(doubles), Some(other)) => doubles.merge(other),
            (None, Some(_)) => self.doubles.clone_from(&other.doubles),
            (_, None) => {}
        }
    }

    /// The sum. Exact if no value was a double and a decimal holds it; else computed exactly and
    /// rounded to a double.
    ///
    /// # Errors
    /// [`SumOverflow`] beyond the range of doubles.
    pub(crate) fn total(&self) -> Result<Number, SumOverflow> {
        if self.overflow {
            return Err(SumOverflow);
        }
        let total = match &self.doubles {
            None => self.decimals.to_number(SCALE),
            Some(doubles) => self.total_with(doubles).and_then(Number::from_f64),
        };
        total.ok_or(SumOverflow)
    }

    /// The sum as mantissa × 10^-scale, a scale of at most 24. `None` if some value was a double,
    /// or if no mantissa of 128 bits is exact.
    pub(crate) fn to_scaled(&self) -> Option<(i128, u8)> {
        if self.overflow || self.doubles.is_some() {
            return None;
        }
        let (mut decimals, mut scale) = (self.decimals, SCALE);
        loop {
            if let Some(mantissa) = decimals.to_i128() {
                return Some((mantissa, scale));
            }
            let (quotient, rest) = decimals.divided(10);
            (decimals, scale) = (quotient, scale.checked_sub(1).filter(|_| rest == 0)?);
        }
    }

    /// The sum in millionths, rounded down and rounded up. `None` if some value was a double, and
    /// beyond 128 bits.
    pub(crate) fn millionths(&self) -> Option<(i128, i128)> {
        const MILLION: u32 = 1_000_000;
        if self.overflow || self.doubles.is_some() {
            return None;
        }
        let (mut whole, mut is_exact) = (self.decimals, true);
        for _ in 1..SCALE / 6 {
            let (quotient, rest) = whole.divided(MILLION);
            is_exact &= rest == 0;
            whole = quotient;
        }
        // Rounded toward zero so far.
        let whole = whole.to_i128()?;
        match (is_exact, self.decimals.is_negative()) {
            (true, _) => Some((whole, whole)),
            (false, false) => Some((whole, whole.checked_add(1)?)),
            (false, true) => Some((whole.checked_sub(1)?, whole)),
        }
    }

    /// Adds the integer part of the decimals exactly, and the fraction rounded once.
    fn total_with(&self, doubles: &Superaccumulator) -> Option<f64> {
        const MILLION: u32 = 1_000_000;
        let mut whole = self.decimals;
        let mut rest = 0i128;
        for index in 0..u32::from(SCALE / 6) {
            let (quotient, digits) = whole.divided(MILLION);
            rest += i128::from(digits) * i128::from(MILLION).pow(index);
            whole = quotient;
        }
        let mut total = doubles.clone();
        total.add_integer(&whole.magnitude_digits(), whole.is_negative());
        total.add(Int256::product(rest, 1).to_number(SCALE)?.to_f64());
        total.total()
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.doubles.as_ref().map_or(0, |_| size_of::<Superaccumulator>())
    }

    /// The parts of the sum; equal sums have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> SumParts {
        SumParts {
            decimals: self.decimals.to_bytes(),
            doubles: self
                .doubles
                .as_ref()
                .map_or_else(Vec::new, |doubles| doubles.canonical().to_vec()),
            overflow: self.overflow,
        }
    }

    /// The sum of these parts, or `None` if they are out of range.
    #[must_use]
    pub fn from_parts(parts: &SumParts) -> Option<Self> {
        let decimals = Int256::from_bytes(parts.decimals);
        let doubles = match parts.doubles.len() {
            0 => None,
            DIGITS => Some(Box::new(Superaccumulator::from_canonical(&parts.doubles)?)),
            _ => return None,
        };
        let fits = decimals.magnitude_bits() <= DECIMAL_BITS_MAX;
        fits.then_some(Self { decimals, doubles, overflow: parts.overflow })
    }
}

/// value × weight as a double: the one definition for doubles.
#[must_use]
pub fn weighted(value: f64, weight: Weight) -> f64 {
    // Integer weights are exact doubles, so their products are rounded once.
    value * (weight.millionths() as f64 / Weight::UNIT as f64)
}

#[cfg(test)]
mod tests;
