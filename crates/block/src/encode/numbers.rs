//! Numbers become mantissas at one scale if 64 bits hold all mantissas, or else offsets from a base
//! if 64 bits hold all offsets. Otherwise they become doubles, with exact decimals for the numbers
//! that no double represents.

use std::cmp::Ordering;

use hadal_encoding::{Bitmap, decimal_exceptions, ints, kernels};
use hadal_types::{Decimal, Number, NumberRepr};

use super::{Body, fill_placeholders};
use crate::directory::{Encoding, WIDE_BASE_MAX};
use crate::scale::unit;
use crate::weighted_sums::WeightedSums;

/// Which rows have a value, and the weights of the rows; `None`: all, and no weighted sums.
type Counted<'c> = (Option<&'c Bitmap>, Option<&'c [i64]>);

pub(super) fn encode_decimals(
    mut mantissas: Vec<i64>,
    mut scale: u8,
    (validity, weights): Counted<'_>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut mantissas, validity);
    while scale > 0 && mantissas.iter().all(|mantissa| mantissa % 10 == 0) {
        mantissas.iter_mut().for_each(|mantissa| *mantissa /= 10);
        scale -= 1;
    }
    let (min, max) = kernels::min_max_i64(&mantissas).unwrap_or_default();
    let sum = match validity {
        None => kernels::sum_i64(&mantissas),
        Some(validity) => kernels::sum_i64_where(&mantissas, validity.words()),
    };
    body.section(|out| ints::encode(&mantissas, out));
    let weighted = weights.and_then(|weights| WeightedSums::new(&mantissas, weights, (min, max)));
    Encoding::Decimals { scale, min, max, sum, weighted }
}

/// Encodes numbers of any scale: as decimals if one scale holds all of them, else as doubles, with
/// exact decimals for the numbers that no double represents.
pub(super) fn encode_numbers(
    mut numbers: Vec<Number>,
    (validity, weights): Counted<'_>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut numbers, validity);
    if let Some((mantissas, scale)) = at_one_scale(&numbers) {
        return encode_decimals(mantissas, scale, (validity, weights), body);
    }
    let doubles: Vec<f64> = numbers.iter().map(|number| number.to_f64()).collect();
    let mut min = doubles.iter().copied().fold(f64::INFINITY, f64::min);
    let mut max = doubles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut others: Vec<(u32, Decimal)> = Vec::new();
    for (row, (&number, &double)) in numbers.iter().zip(&doubles).enumerate() {
        if validity.is_none_or(|validity| validity.get(row))
            && let Some(decimal) = not_of_double(number, double)
        {
            let side = || Number::from_f64(double).map(|meant| number.cmp(&meant));
            if double == min && side() == Some(Ordering::Less) {
                min = min.next_down();
            }
            if double == max && side() == Some(Ordering::Greater) {
                max = max.next_up();
            }
            others.push((u32::try_from(row).unwrap_or(u32::MAX), decimal));
        }
    }
    if !others.is_empty()
        && let Some((offsets, scale, base)) = at_one_base(&numbers)
    {
        body.section(|out| ints::encode(&offsets, out));
        return Encoding::Wide { scale, base, min, max };
    }
    body.section(|out| {
        doubles.iter().for_each(|double| out.extend_from_slice(&double.to_le_bytes()));
    });
    if others.is_empty() {
        return Encoding::Doubles { min, max };
    }
    body.section(|out| decimal_exceptions::encode(&others, out));
    Encoding::Mixed { min, max }
}

/// The number as a decimal, if [`Number::from_f64`] of its nearest double is another number.
pub(crate) fn not_of_double(number: Number, double: f64) -> Option<Decimal> {
    match number.form() {
        NumberRepr::Decimal(decimal) if is_rounded(number, double) => Some(decimal),
        _ => None,
    }
}

/// Whether the nearest double represents a different number than the decimal.
fn is_rounded(number: Number, double: f64) -> bool {
    /// Mantissas below this, of up to 15 digits, survive in any double.
    const SAFE: u64 = 1_000_000_000_000_000;
    match number.to_stored() {
        Some((mantissa, _)) if mantissa.unsigned_abs() < SAFE => false,
        // The cheap test first: it decides nearly all identifiers.
        Some((mantissa, _)) => {
            has_more_than_17_digits(mantissa.unsigned_abs())
                || Number::from_f64(double) != Some(number)
        }
        // A decimal that needs 128 bits is not represented by a double: otherwise it would be a
        // double.
        None => true,
    }
}

/// Whether a mantissa, without trailing zeros, has more digits than the shortest form of any
/// double.
const fn has_more_than_17_digits(mantissa: u64) -> bool {
    const DIGITS_17: u64 = 100_000_000_000_000_000;
    mantissa >= DIGITS_17 && !mantissa.is_multiple_of(10)
        || mantissa >= 10 * DIGITS_17 && !mantissa.is_multiple_of(100)
}

fn at_one_scale(numbers: &[Number]) -> Option<(Vec<i64>, u8)> {
    let stored: Option<Vec<(i64, u8)>> = numbers.iter().map(|number| number.to_stored()).collect();
    let stored = stored?;
    let scale = stored.iter().map(|&(_, scale)| scale).max()?;
    let raise = |(mantissa, from_scale): (i64, u8)| mantissa.checked_mul(unit(scale - from_scale)?);
    let mantissas: Option<Vec<i64>> = stored.into_iter().map(raise).collect();
    Some((mantissas?, scale))
}

/// The numbers as (base + offset) × 10^−scale, if all are within 64 bits of each other, as unsigned
/// integers are. Returns offsets, scale and base.
fn at_one_base(numbers: &[Number]) -> Option<(Vec<i64>, u8, i128)> {
    let decimals: Option<Vec<Decimal>> = numbers.iter().map(|number| number.to_decimal()).collect();
    let decimals = decimals?;
    let scale = decimals.iter().map(|decimal| decimal.scale()).max()?;
    let raise = |decimal: &Decimal| decimal.mantissa_at(scale);
    let mantissas: Option<Vec<i128>> = decimals.iter().map(raise).collect();
    let mantissas = mantissas?;
    let (min, max) = (*mantissas.iter().min()?, *mantissas.iter().max()?);
    let range = u64::try_from(max.checked_sub(min)?).ok()?;
    // Offsets begin at 0 if the range fits a signed integer.
    let base = if i64::try_from(range).is_ok() { min } else { min.checked_add(1 << 63)? };
    let offset = |mantissa: &i128| i64::try_from(mantissa - base).ok();
    let offsets: Option<Vec<i64>> = mantissas.iter().map(offset).collect();
    (base.unsigned_abs() <= WIDE_BASE_MAX).then_some((offsets?, scale, base))
}
