//! Exact sums of weighted products: what variances and covariances are computed from.
//!
//! Values stored as decimals are summed as 384-bit integers at one fixed scale. Values stored as
//! doubles are summed as integers of any length, in units of the smallest possible product. So
//! nothing is rounded before the end, large means cancel without loss, and the order of
//! additions does not matter.

use hadal_types::decimal::power_of_ten;
use hadal_types::limits::DECIMAL_SCALE_MAX;
use hadal_types::{Number, Weight};
use num_bigint::BigInt;

use crate::state::int384::Int384;
use crate::state::quotient::quotient;

/// The scale of the decimal part: twice the finest scale of stored values, and that of weights.
const SCALE: u8 = 2 * DECIMAL_SCALE_MAX + Weight::SCALE;
/// Factors of 10^[`SCALE`].
const UNIT: [u64; 3] = [10u64.pow(18), 10u64.pow(18), 10u64.pow(6)];
const _: () = assert!(SCALE == 18 + 18 + 6, "the unit is that of the scale");
/// Doubles are integers in units of 2^-1074.
const DOUBLE_BITS: u32 = 1_074;
/// The maximum size in bits of a decimal sum from outside. Real sums need 360; 2^14 sums of 368
/// bits merge within 384.
const DECIMAL_BITS_MAX: u64 = 368;
/// The same of a sum with doubles: two of these, 10^36, a weight, and 2^64 rows, with a reserve.
const DOUBLES_BITS_MAX: u64 = 2 * 2_098 + 120 + 50 + 64 + 8;

/// A value as a factor of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// mantissa × 10^-scale.
    Decimal(i64, u8),
    /// mantissa × 2^(shift - 1074).
    Double(i64, u32),
}

/// Σw·x·y of values x and y with weights w.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExactSum {
    /// In units of 10^-[`SCALE`].
    decimals: Int384,
    /// Products with a double, in units of 2^-2148 × 10^-[`SCALE`].
    doubles: BigInt,
}

impl Factor {
    /// One.
    pub(crate) const ONE: Self = Self::Decimal(1, 0);

    /// The factor of a number: exact for a number that a row block stores as a decimal, otherwise
    /// the nearest double.
    pub(crate) fn of(number: Number) -> Self {
        number.to_stored().map_or_else(
            || Self::of_double(number.to_f64()),
            |(mantissa, scale)| Self::Decimal(mantissa, scale),
        )
    }

    fn of_double(double: f64) -> Self {
        let bits = double.to_bits();
        let exponent = u32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let fraction = i64::try_from(bits & ((1 << 52) - 1)).unwrap_or(0);
        // A subnormal has the same unit as the smallest normal numbers, without the hidden bit.
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 0) } else { (fraction | (1 << 52), exponent - 1) };
        Self::Double(if double.is_sign_negative() { -mantissa } else { mantissa }, shift)
    }

    /// The mantissa, what brings its scale to the finest scale, and the shift of a double.
    fn parts(self) -> (i64, u64, Option<u32>) {
        match self {
            Self::Decimal(mantissa, scale) => (mantissa, unit(scale), None),
            Self::Double(mantissa, shift) => (mantissa, unit(0), Some(shift)),
        }
    }
}

impl ExactSum {
    /// Adds w·x·y.
    pub(crate) fn add(&mut self, left: Factor, right: Factor, weight: Weight) {
        let millionths = weight.millionths().unsigned_abs();
        let (left, left_unit, left_shift) = left.parts();
        let (right, right_unit, right_shift) = right.parts();
        let product = i128::from(left) * i128::from(right);
        let product = Int384::product(product, [millionths, left_unit, right_unit]);
        match (left_shift, right_shift) {
            (None, None) => self.decimals.add(product),
            _ => {
                let shift = |shift: Option<u32>| shift.unwrap_or(DOUBLE_BITS);
                self.doubles += product.to_bigint() << (shift(left_shift) + shift(right_shift));
            }
        }
    }

    /// Adds products of decimals of these scales, already summed up with their weights in
    /// millionths.
    pub(crate) fn add_decimals(&mut self, product: i128, [left, right]: [u8; 2]) {
        self.decimals.add(Int384::product(product, [unit(left), unit(right), 1]));
    }

    /// Adds the sum `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.decimals.add(other.decimals);
        self.doubles += &other.doubles;
    }

    /// Whether no double was added, or only zeros.
    pub(crate) fn is_decimal(&self) -> bool {
        self.doubles == BigInt::ZERO
    }

    /// The sum × [`Self::unit`].
    pub(crate) fn to_integer(&self, is_decimal: bool) -> BigInt {
        let decimals = self.decimals.to_bigint();
        match is_decimal {
            true => decimals,
            false => (decimals << (2 * DOUBLE_BITS)) + &self.doubles,
        }
    }

    /// The factor with which [`Self::to_integer`] makes a sum whole.
    pub(crate) fn unit(is_decimal: bool) -> BigInt {
        let unit = BigInt::from(10).pow(SCALE.into());
        if is_decimal { unit } else { unit << (2 * DOUBLE_BITS) }
    }

    /// The double nearest to the sum; `None` beyond the range of doubles. Fast for whole sums.
    pub(crate) fn to_f64(&self) -> Option<f64> {
        let is_decimal = self.is_decimal();
        match self.decimals.divided(UNIT) {
            Some(whole) if is_decimal => Some(whole as f64),
            _ => quotient(&self.to_integer(is_decimal), &Self::unit(is_decimal)),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        usize::try_from(self.doubles.bits().div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// The sum of decimals and that of products with doubles: integers in two's complement,
    /// little-endian, as short as possible. Equal sums have equal bytes.
    pub(crate) fn to_bytes(&self) -> [Vec<u8>; 2] {
        [&self.decimals.to_bigint(), &self.doubles].map(BigInt::to_signed_bytes_le)
    }

    /// The sum of these bytes, or `None` if they are not the shortest or out of range.
    pub(crate) fn of_bytes(bytes: [&[u8]; 2]) -> Option<Self> {
        let [decimals, doubles] = bytes.map(BigInt::from_signed_bytes_le);
        let sum = Self { decimals: Int384::of_bigint(&decimals)?, doubles };
        let fits = decimals.bits() <= DECIMAL_BITS_MAX && sum.doubles.bits() <= DOUBLES_BITS_MAX;
        let is_shortest = sum.to_bytes().iter().map(Vec::as_slice).eq(bytes);
        (fits && is_shortest).then_some(sum)
    }
}

/// What brings a mantissa of this scale to the finest scale.
fn unit(scale: u8) -> u64 {
    let finer = DECIMAL_SCALE_MAX.checked_sub(scale).and_then(power_of_ten);
    finer.and_then(|unit| u64::try_from(unit).ok()).unwrap_or(0)
}
