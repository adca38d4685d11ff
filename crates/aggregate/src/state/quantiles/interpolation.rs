//! Quantiles between two events.
//!
//! A row of weight w stands for w events. With W events in all, the position of a quantile is
//! p · (W − 1), counted from the first event. The events around it are those at the next lower and
//! the next higher whole number. For whole weights this is PostgreSQL's `percentile_cont` of the
//! repeated rows (type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996).
//! Fractions of events are treated as `wtd.quantile` of Harrell's R package Hmisc treats them.

use hadal_types::{Decimal, Number};

/// Parts of the distance between two events.
const PARTS: i128 = 1_000_000_000_000;
/// The scale of a part.
const PARTS_SCALE: u8 = 12;
const MILLION: i128 = 1_000_000;
/// Significant digits of an interpolated number that is not exact.
const DIGITS: usize = 7;

/// The two events around a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position<T> {
    pub(super) lower: T,
    pub(super) upper: T,
    /// The distance from the lower event, in 10^-12 of the distance of both.
    pub(super) part: i128,
}

impl<T: Copy> Position<T> {
    /// The position of a quantile, below 1,000,000 millionths, among ascending events with weights
    /// in millionths. `None` without events.
    pub(super) fn of(
        events: impl Iterator<Item = (T, i128)> + Clone,
        millionths: u32,
    ) -> Option<Self> {
        let total = events.clone().fold(0i128, |total, (_, weight)| total.saturating_add(weight));
        let last = (total - MILLION).max(0);
        // In whole events and 10^-12 of one, computed without overflow.
        let millionths = i128::from(millionths);
        let (whole, rest) = (last / MILLION, last % MILLION);
        let parts = (whole % MILLION) * millionths * MILLION + rest * millionths;
        let first = (whole / MILLION) * millionths + parts / PARTS;
        let at = |position: i128| {
            let position = position.saturating_mul(MILLION);
            let mut end = 0i128;
            let mut events = events.clone();
            events.find(|(_, weight)| {
                end = end.saturating_add(*weight);
                position < end
            })
        };
        let last = || events.clone().last();
        let (lower, _) = at(first).or_else(last)?;
        let (upper, _) = at(first + 1).or_else(last)?;
        Some(Self { lower, upper, part: parts % PARTS })
    }
}

/// The number at this part of the way, in 10^-12, rounded to a double unless both are equal.
pub(super) fn interpolated(lower: Number, upper: Number, part: i128) -> Number {
    if part == 0 || lower == upper {
        return lower;
    }
    let decimal = || {
        let times = |number: Number, parts: i128| {
            number.to_decimal()?.checked_mul(Decimal::new(parts, PARTS_SCALE)?)
        };
        times(lower, PARTS - part)?.checked_add(times(upper, part)?)
    };
    let double = decimal().map_or_else(
        || {
            let share = |parts: i128| parts as f64 / PARTS as f64;
            lower.to_f64() * share(PARTS - part) + upper.to_f64() * share(part)
        },
        Decimal::to_f64,
    );
    Number::from_f64(double).unwrap_or(lower)
}

/// The number with as many digits as are not only noise.
pub(super) fn rounded(number: Number) -> Number {
    format!("{:.*e}", DIGITS - 1, number.to_f64()).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().expect(text)
    }

    #[test]
    fn little_of_a_large_number_is_not_lost() {
        let between = interpolated(number("-1e300"), number("0.1"), PARTS - 1_000_000);
        assert_eq!(between, number("-1e294"));
    }

    fn position(events: &[(u8, i128)], millionths: u32) -> Option<Position<u8>> {
        Position::of(events.iter().copied(), millionths)
    }

    #[test]
    fn positions_are_between_events() {
        let five: Vec<(u8, i128)> = (0..5).map(|event| (event, MILLION)).collect();
        let at = |lower, upper, part| Some(Position { lower, upper, part });
        assert_eq!(position(&five, 500_000), at(2, 3, 0));
        assert_eq!(position(&five, 990_000), at(3, 4, 960_000_000_000));
        assert_eq!(position(&five, 1), at(0, 1, 4_000_000));
        assert_eq!(position(&[], 500_000), None);
        assert_eq!(position(&[(7, 1)], 500_000), at(7, 7, 0), "less than one event");
    }

    #[test]
    fn a_weight_repeats_its_event() {
        let weighted = [(1, 3 * MILLION), (2, MILLION), (3, 2 * MILLION)];
        let repeated = [1, 1, 1, 2, 3, 3].map(|event| (event, MILLION));
        for millionths in (0..1_000_000).step_by(997) {
            assert_eq!(position(&weighted, millionths), position(&repeated, millionths));
        }
        // Two and a half events: the last one is the third.
        let half = [(1, 2_000_000), (2, 500_000)];
        let at = |lower, upper, part| Some(Position { lower, upper, part });
        assert_eq!(position(&half, 500_000), at(1, 1, 750_000_000_000));
        assert_eq!(position(&half, 999_999), at(1, 2, 499_998_500_000));
    }

    #[test]
    fn the_largest_weights_do_not_overflow() {
        let largest = [(1, i128::MAX / 2), (2, i128::MAX / 2)];
        assert_eq!(position(&largest, 250_000).map(|position| position.lower), Some(1));
        assert_eq!(position(&largest, 750_000).map(|position| position.lower), Some(2));
    }

    #[test]
    fn numbers_are_rounded_once() {
        let part =
            |lower: &str, upper: &str, part| interpolated(number(lower), number(upper), part);
        assert_eq!(part("47", "56", 550_000_000_000), number("51.95"));
        assert_eq!(part("1", "2", 500_000_000_000), number("1.5"));
        assert_eq!(part("0.1", "0.2", 333_333_000_000), number("0.1333333"));
        assert_eq!(part("-1e300", "1e300", 500_000_000_000), Number::ZERO);
        assert_eq!(part("5", "9", 0), number("5"));
        let largest = "1.7976931348623157e308";
        assert_eq!(part(largest, largest, 1), number(largest));
        assert_eq!(rounded(number("12345678.9")), number("12345680"));
    }
}
