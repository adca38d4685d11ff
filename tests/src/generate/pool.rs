//! Values that rows and queries share, so that filters match rows.

use std::sync::Arc;

use hadal_types::{Decimal, Micros, Number, Value};

use super::random::Random;

/// The center of generated times: 2023-11-14T22:13:20Z.
pub(super) const NOW: Micros = Micros(1_700_000_000 * Micros::SECOND);

/// Words with the difficult cases of strings: empty, case, folds, signs of patterns, line breaks.
const WORDS: [&str; 24] = [
    "",
    "a",
    "A",
    "b",
    "ab",
    "ba",
    "abc",
    "aab",
    "é",
    "É",
    "ß",
    "straße",
    "Σίσυφος",
    "ς",
    "\u{212a}",
    "日本語",
    "🦀",
    "a\nb",
    "100%",
    "a_b",
    "\\",
    "it's",
    "null",
    "İ",
];
/// Strings that are numbers, or nearly.
const NUMERALS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "1.50",
    " 12 ",
    "1e3",
    "1e400",
    "0x10",
    "+5",
    ".5",
    "9223372036854775808",
    "-",
];
/// LIKE patterns.
const LIKES: [&str; 14] =
    ["", "%", "_", "__", "a%", "%b", "%b%", "%a%b%", "É%", "100\\%", "a\\_b", "id-%1%", "%\\", "k"];
/// Regular expressions.
const REGEXES: [&str; 12] = [
    "",
    "^a",
    "b+$",
    "[0-9]+",
    "É",
    "a|b",
    "^$",
    ".",
    "\\d\\.\\d",
    "^(ab|ba)+$",
    "\\bid-",
    "\\p{L}{3}",
];

/// Picks a word.
pub(super) fn word(random: &mut Random) -> &'static str {
    if random.percent(8) { random.pick::<&str>(&NUMERALS) } else { random.pick::<&str>(&WORDS) }
}

/// Picks a string that is a number, or nearly.
pub(super) fn numeral(random: &mut Random) -> &'static str {
    random.pick::<&str>(&NUMERALS)
}

/// Picks a LIKE pattern.
pub(super) fn like(random: &mut Random) -> &'static str {
    random.pick::<&str>(&LIKES)
}

/// Picks a regular expression.
pub(super) fn regex(random: &mut Random) -> &'static str {
    random.pick::<&str>(&REGEXES)
}

/// Generates the words of a list: mostly a few, at times none or many.
pub(super) fn words(random: &mut Random) -> Vec<Arc<str>> {
    let length = match random.below(20) {
        0..4 => 0,
        19 => random.below(200),
        _ => 1 + random.below(5),
    };
    (0..length).map(|_| word(random).into()).collect()
}

/// `mantissa` × 10^−`scale`.
pub(super) fn decimal(mantissa: i64, scale: u8) -> Number {
    Decimal::new(mantissa.into(), scale).map_or(Number::ZERO, Number::from)
}

/// Generates a double that few decimals can hold: huge, tiny, or any bits.
pub(super) fn double(random: &mut Random) -> Number {
    let double = match random.below(10) {
        0 => 1e300,
        1 => -1e300,
        2 => f64::MIN_POSITIVE,
        3 => 5e-324,
        4 => 9.3e18,
        5 => 0.1,
        6 => 1.0 / 3.0,
        7 => -1e-30,
        _ => f64::from_bits(random.next_u64()),
    };
    Number::from_f64(double).unwrap_or(Number::ZERO)
}

/// Picks an integer at the edge of 64 bits, at the edge of exact doubles, or near zero.
pub(super) fn extreme(random: &mut Random) -> i64 {
    const LAST: i64 = 1 << 53;
    *random.pick(&[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX, LAST, LAST + 1])
}

/// Generates numbers that together fit neither one scale nor doubles: identifiers of 64 bits and
/// more, decimals of 30 digits, small decimals, huge doubles.
pub(super) fn mixed(random: &mut Random) -> Number {
    let decimal =
        |mantissa: i128, scale| Decimal::new(mantissa, scale).map_or(Number::ZERO, Number::from);
    let step = i128::from(random.between(-2, 2));
    match random.below(10) {
        0 => decimal((1 << 53) + step, 0),
        1 => decimal((1 << 63) + step, 0),
        2 => decimal((1 << 64) + step, 0),
        3 => decimal(10i128.pow(29) + step, 12),
        4 => decimal(step, *random.pick(&[3, 20, 36])),
        5 => double(random),
        6 => decimal(-(123 << 100) + step, *random.pick(&[0, 30])),
        7 => decimal(i128::from(random.next_u64()), 0),
        _ => decimal(i128::from(random.between(-2_000, 2_000)), 3),
    }
}

/// Generates an identifier of 64 bits: any, one of a few, or one that rounds to the same double as
/// others.
pub(super) fn identifier(random: &mut Random) -> Number {
    let step = i128::from(random.between(0, 2));
    let whole = match random.below(8) {
        0..4 => i128::from(random.next_u64()),
        4..6 => i128::from(u64::MAX) - step,
        6 => 18_446_744_073_709_552_000 - 1_000 * step,
        _ => 10i128.pow(19) + step,
    };
    Decimal::new(whole, 0).map_or(Number::ZERO, Number::from)
}

/// Generates a decimal of about 30 digits, 12 or 30 of them after the point.
pub(super) fn long_decimal(random: &mut Random) -> Number {
    let upper = match random.percent(50) {
        true => i128::from(random.next_u64()),
        false => i128::from(random.between(-3, 3)),
    };
    let mantissa = upper * 10i128.pow(11) + i128::from(random.between(-2, 2));
    Decimal::new(mantissa, *random.pick(&[12, 30])).map_or(Number::ZERO, Number::from)
}

/// Generates a number for a query.
pub(super) fn number(random: &mut Random) -> Number {
    match random.below(10) {
        0..5 => Number::integer(random.between(-5, 20)),
        5..7 => decimal(random.between(-2_000, 2_000), 2),
        7 => decimal(random.between(-1_000_000_000, 1_000_000_000), 9),
        8 => Number::integer(extreme(random)),
        _ => match random.below(4) {
            0 => mixed(random),
            1 => identifier(random),
            2 => long_decimal(random),
            _ => double(random),
        },
    }
}

/// Generates a time for a query.
pub(super) fn time(random: &mut Random) -> Micros {
    match random.below(12) {
        0 => Micros::MIN,
        1 => Micros::MAX,
        2..5 => Micros(random.between(Micros::MIN.0, Micros::MAX.0)),
        5..8 => Micros(NOW.0 + random.between(-100, 100) * Micros::SECOND),
        _ => Micros(NOW.0 + random.between(-10_000_000_000, 10_000_000_000)),
    }
}

/// Generates a set of words.
pub(super) fn set(random: &mut Random) -> Value {
    Value::set(words(random))
}

/// Generates a vector of words.
pub(super) fn vector(random: &mut Random) -> Value {
    Value::vector(words(random))
}
