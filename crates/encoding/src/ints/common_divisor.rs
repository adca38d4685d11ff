//! Finds a common divisor of all values of a stream: for example of times in microseconds that are
//! all whole seconds, or of prices in cents that are all whole dollars.

/// Values that are sampled before all are tried.
const SAMPLE: usize = 32;

/// The values as `min` + step × k: the largest such step, and each value's k. `None` if the step is
/// 1, or if all values are equal.
///
/// `range` must be the largest value minus the smallest, `min`.
pub(super) fn common_divisor(values: &[i64], min: i64, range: u64) -> Option<(u64, Vec<i64>)> {
    let offset = |value: i64| value.wrapping_sub(min).cast_unsigned();
    let sample = values.iter().step_by(values.len().div_ceil(SAMPLE).max(1));
    let mut step = sample.fold(range, |step, &value| greatest_common_divisor(step, offset(value)));
    while step > 1 {
        match divide_all(values, min, Divisor::new(step, range)) {
            Ok(quotients) => return Some((step, quotients)),
            Err(value) => step = greatest_common_divisor(step, offset(value)),
        }
    }
    None
}

/// All quotients, or the first value that is not a multiple.
fn divide_all(values: &[i64], min: i64, divisor: Divisor) -> Result<Vec<i64>, i64> {
    let mut quotients = Vec::with_capacity(values.len());
    for chunk in values.chunks(256) {
        let start = quotients.len();
        quotients.extend(chunk.iter().map(|value| divisor.quotient(value.wrapping_sub(min))));
        let is_multiple = |&quotient: &i64| quotient.cast_unsigned() <= divisor.most;
        if !quotients[start..].iter().all(is_multiple) {
            let wrong = quotients[start..].iter().position(|quotient| !is_multiple(quotient));
            return Err(chunk[wrong.unwrap_or_default()]);
        }
    }
    Ok(quotients)
}

/// Exact division without a divide instruction. A multiple times the inverse of the odd divisor
/// modulo 2^64 is the quotient; any other number gives a product above all quotients (Granlund and
/// Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994, section 9).
#[derive(Clone, Copy)]
struct Divisor {
    inverse: u64,
    zeros: u32,
    /// The largest quotient.
    most: u64,
}

impl Divisor {
    fn new(divisor: u64, range: u64) -> Self {
        let zeros = divisor.trailing_zeros();
        let odd = divisor >> zeros;
        // Newton iteration: the first estimate has five correct bits, and each round doubles them.
        let mut inverse = odd.wrapping_mul(3) ^ 2;
        for _ in 0..4 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Self { inverse, zeros, most: range / divisor }
    }

    const fn quotient(self, offset: i64) -> i64 {
        let product = offset.cast_unsigned().wrapping_mul(self.inverse);
        product.rotate_right(self.zeros).cast_signed()
    }
}

const fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step_of(values: &[i64]) -> Option<(u64, Vec<i64>)> {
        let min = *values.iter().min().expect("some");
        let range = values.iter().max().expect("some").wrapping_sub(min).cast_unsigned();
        common_divisor(values, min, range)
    }

    #[test]
    fn the_largest_common_factor_is_found() {
        assert_eq!(step_of(&[10, 40, 25]), Some((15, vec![0, 2, 1])));
        assert_eq!(step_of(&[7, 7]), None);
        assert_eq!(step_of(&[i64::MIN, i64::MAX]), Some((u64::MAX, vec![0, 1])));
        assert_eq!(step_of(&[i64::MIN, 0]), Some((1 << 63, vec![0, 1])));
        assert_eq!(step_of(&[1, 2, 4]), None);
        // The one value that is not a multiple of 12 is not in the sample.
        let mut values: Vec<i64> = (0..1_000).map(|k| k * 12).collect();
        values[501] += 4;
        assert_eq!(step_of(&values).map(|(step, _)| step), Some(4));
        values[503] += 1;
        assert_eq!(step_of(&values), None);
    }

    proptest! {
        #[test]
        fn quotients_are_exact(
            ks in prop::collection::vec(0u64..1 << 20, 2..600),
            factor in prop_oneof![1u64..2_000_000, Just(1u64 << 43), Just((1u64 << 43) - 1)],
            base in any::<i64>(),
        ) {
            let value = |&k: &u64| base.checked_add_unsigned(k * factor);
            let values: Option<Vec<i64>> = ks.iter().map(value).collect();
            prop_assume!(values.is_some());
            let values = values.expect("assumed");
            if let Some((step, quotients)) = step_of(&values) {
                let min = *values.iter().min().expect("some");
                prop_assert_eq!(step % factor, 0);
                for (value, quotient) in values.iter().zip(quotients) {
                    let again = min.wrapping_add(quotient.wrapping_mul(step.cast_signed()));
                    prop_assert_eq!(again, *value);
                }
            } else {
                let equal = ks.iter().all(|k| *k == ks[0]);
                prop_assert!(factor == 1 || equal);
            }
        }
    }
}
