//! Powers of ten that bring mantissas from one scale to another.

use hadal_types::decimal::power_of_ten;

/// 10^exponent for exponents of 0 to 18.
pub(crate) fn unit(exponent: u8) -> Option<i64> {
    power_of_ten(exponent).and_then(|unit| unit.try_into().ok())
}
