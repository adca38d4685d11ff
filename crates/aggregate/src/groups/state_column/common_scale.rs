//! Decimals of several scales, as integers of the smallest common scale.

use hadal_types::decimal::power_of_ten;

/// The largest scale of a sum.
const SCALE_MAX: usize = 24;

/// The smallest scale with which all these numbers, mantissa × 10^-scale, are integers. `None` if
/// one of the scales is above 24.
pub(crate) fn common_scale(numbers: impl Iterator<Item = (i128, u8)>) -> Option<u8> {
    let powers: Vec<i128> = (0..=24).filter_map(power_of_ten).collect();
    debug_assert_eq!(powers.len(), SCALE_MAX + 1, "each is a power of ten of 128 bits");
    let mut common = 0;
    for (mantissa, scale) in numbers {
        powers.get(usize::from(scale))?;
        while common < scale && !is_multiple(mantissa, powers[usize::from(scale - common)]) {
            common += 1;
        }
    }
    Some(common)
}

/// The mantissa of a number, mantissa × 10^-scale, at another scale. `None` if it does not fit. At
/// a smaller scale, digits after the point are lost.
pub(crate) fn at_scale((mantissa, scale): (i128, u8), other: u8) -> Option<i128> {
    if scale == other {
        return Some(mantissa);
    }
    if let Some(finer) = other.checked_sub(scale) {
        return mantissa.checked_mul(power_of_ten(finer)?);
    }
    let power = power_of_ten(scale - other)?;
    Some(match short(mantissa, power) {
        Some((mantissa, power)) => i128::from(mantissa / power),
        None => mantissa / power,
    })
}

fn is_multiple(mantissa: i128, power: i128) -> bool {
    match short(mantissa, power) {
        Some((mantissa, power)) => mantissa % power == 0,
        None => mantissa % power == 0,
    }
}

/// Both in 64 bits, if they fit: dividing them takes a fraction of the time.
fn short(mantissa: i128, power: i128) -> Option<(i64, i64)> {
    Some((mantissa.try_into().ok()?, power.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_as_small_as_all_numbers_allow() {
        let common = |numbers: &[(i128, u8)]| common_scale(numbers.iter().copied());
        assert_eq!(common(&[]), Some(0));
        assert_eq!(common(&[(0, 24)]), Some(0));
        assert_eq!(common(&[(2_500_000, 6)]), Some(1));
        assert_eq!(common(&[(2_500_000, 6), (-3, 2), (7, 0)]), Some(2));
        assert_eq!(common(&[(i128::MIN, 24), (1, 0)]), Some(24));
        assert_eq!(common(&[(10_i128.pow(25), 24)]), Some(0));
        assert_eq!(common(&[(1, 25)]), None);
    }

    #[test]
    fn mantissas_are_those_of_the_other_scale() {
        assert_eq!(at_scale((2_500_000, 6), 1), Some(25));
        assert_eq!(at_scale((-25, 1), 3), Some(-2_500));
        assert_eq!(at_scale((10_i128.pow(30), 24), 0), Some(1_000_000));
        assert_eq!(at_scale((i128::MAX, 0), 1), None);
        assert_eq!(at_scale((i128::MAX, 7), 7), Some(i128::MAX));
    }
}
