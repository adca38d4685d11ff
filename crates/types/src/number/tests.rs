use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

#[test]
fn spellings_of_one_number_are_one_value() {
    assert_eq!(number("1.50"), number("15e-1"));
    assert_eq!(number("1e3"), Number::integer(1_000));
    assert_eq!(Number::from_f64(0.1), Some(number("0.1")));
    assert_eq!(Number::from_f64(-0.0), Some(Number::ZERO));
    assert_eq!(number("0e999999"), Number::ZERO);
    assert_eq!(number("-0.000e99999999999999999999"), Number::ZERO);
    assert_eq!(number("9223372036854775807").to_i64(), Some(i64::MAX));
    assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
    for (text, same) in [
        ("18446744073709551615", "+018446744073709551615.000"),
        ("18446744073709551615", "1844674407370955161500000000000000000000000000000e-29"),
        ("10000000000000000000", "1e19"),
        ("0.000000000000000000000012", ".12E-22"),
        ("1.000000000000000000000000000000000000000000000", "1."),
    ] {
        let (left, right) = (number(text), number(same));
        assert_eq!((left, left.to_string()), (right, right.to_string()), "{text} {same}");
    }
}

#[test]
fn digits_are_kept_as_long_as_a_decimal_holds_them() {
    for exact in [
        "18446744073709551615",
        "-18446744073709551617",
        "340282366920938463463374607431768211.45",
        "170141183460469231731687303715884105727",
        "-170141183460469231731687303715884105728",
        "12345678901234567890123456789012345678",
        "0.123456789012345678901234567890123456",
        "10000000000000000000",
        "18446744073709552000",
        "0.1",
    ] {
        let (number, rounded) = Number::read(exact).expect(exact);
        assert_eq!((number.to_string(), rounded), (exact.to_owned(), false));
    }
}

#[test]
fn what_is_rounded_is_told() {
    for (text, shown, rounded) in [
        ("1e300", "1e300", false),
        ("100e-400", "0", true),
        ("1e-999", "0", true),
        ("-1e-99999999999999999999", "0", true),
        ("5e-324", "5e-324", false),
        ("4.9e-324", "5e-324", true),
        ("1e39", "1e39", false),
        ("1.5e-37", "1.5e-37", false),
        ("170141183460469231731687303715884105729", "1.7014118346046923e38", true),
        ("0.1234567890123456789012345678901234567", "0.12345678901234568", true),
        ("0.10000000000000000000000000000000000000000001", "0.1", true),
    ] {
        let (number, is_rounded) = Number::read(text).expect(text);
        let shown =
            if shown.ends_with("e38") { "170141183460469230000000000000000000000" } else { shown };
        assert_eq!((number.to_string(), is_rounded), (shown.to_owned(), rounded), "{text}");
    }
}

#[test]
fn the_form_is_the_first_that_holds_the_number() {
    for text in ["1e300", "1e-30", "10000000000000000000", "18446744073709552000", "1e19"] {
        assert!(matches!(number(text).form(), NumberRepr::Double(_)), "{text}");
    }
    for text in ["1e18", "18446744073709551615", "18446744073709551616", "0.1", "1.5e-17"] {
        assert!(matches!(number(text).form(), NumberRepr::Decimal(_)), "{text}");
    }
    assert_eq!(number("1e300").to_string(), "1e300");
    assert_eq!(number("1e-30").to_string(), "1e-30");
}

#[test]
fn what_is_no_number_says_so() {
    for large in ["1e400", "1e99999999999999999999", "-9e308"] {
        assert!(matches!(large.parse::<Number>(), Err(NumberError::Range(_))), "{large}");
    }
    for bad in [
        "", "-", "nan", "inf", "1x", "0x10", "1e", "--1", ".", "1e+", "1.2.3", "e5", "1e5e5", "1_0",
    ] {
        assert!(matches!(bad.parse::<Number>(), Err(NumberError::Spelling(_))), "{bad}");
    }
    assert_eq!(Number::from_f64(f64::NAN), None);
}

#[test]
fn numbers_of_one_double_are_in_order() {
    let texts = [
        "-18446744073709551617",
        "-18446744073709551616",
        "9223372036854775806",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551614",
        "18446744073709551616",
        "18446744073709551999.9",
        "18446744073709552000",
        "18446744073709552000.1",
        "170141183460469229999999999999999999999",
        "170141183460469230000000000000000000000",
        "170141183460469231731687303715884105727",
        "1.7014118346046927e38",
        "1e300",
    ];
    let numbers = texts.map(number);
    for (at, left) in numbers.iter().enumerate() {
        for (other, right) in numbers.iter().enumerate() {
            assert_eq!(left.cmp(right), at.cmp(&other), "{left} {right}");
        }
    }
    // No decimal holds the number that this double stands for.
    let (largest, double) = (number(texts[12]), Number::from_f64(1.7014118346046927e38));
    assert!(largest < double.expect("finite"));
}

#[test]
fn scaling_is_exact() {
    let scaled = |text: &str, scale| number(text).to_scaled(scale);
    assert_eq!(scaled("1.5", 0), Some(2));
    assert_eq!(scaled("-1.5", 0), Some(-2));
    assert_eq!(scaled("5e-37", 36), Some(1));
    assert_eq!(scaled("4.9e-37", 36), Some(0));
    assert_eq!(scaled("1e-300", 6), Some(0));
    assert_eq!(scaled("18446744073709552000", 1), Some(184_467_440_737_095_520_000));
    assert_eq!(scaled("1e300", 6), None);
    assert_eq!(scaled("170141183460469231731687303715884105.727", 2), Some(i128::MAX / 10 + 1));
}

fn hash_of(number: Number) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

/// Decimals of every size, many of them near a double.
fn decimals() -> impl Strategy<Value = Decimal> {
    let near = (any::<f64>(), -3i128..=3).prop_filter_map("in range", |(double, step)| {
        let decimal = decimal_of(double)?;
        Decimal::new(decimal.mantissa().checked_add(step)?, decimal.scale())
    });
    let whole = (60u32..127, -2i128..=2).prop_map(|(bits, step)| (1i128 << bits) + step);
    prop_oneof![
        near,
        whole.prop_filter_map("fits", |whole| Decimal::new(whole, 0)),
        (any::<i128>(), 0u32..127, 0u8..=36)
            .prop_filter_map("fits", |(mantissa, cut, scale)| Decimal::new(mantissa >> cut, scale)),
        (1i128..1000, 0u8..=36, 0i32..=35).prop_filter_map("fits", |(digits, scale, up)| {
            Decimal::of_digits(digits, up - i32::from(scale))
        }),
    ]
}

proptest! {
    #[test]
    fn doubles_survive(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let number = Number::from_f64(double).expect("finite");
        prop_assert_eq!(number.to_f64(), double);
        prop_assert_eq!(Number::read(&number.to_string()), Ok((number, false)));
    }

    #[test]
    fn decimals_survive_every_way(decimal in decimals()) {
        let number = Number::from(decimal);
        prop_assert_eq!(number.to_decimal(), Some(decimal));
        prop_assert_eq!(Number::read(&decimal.to_string()), Ok((number, false)));
        prop_assert_eq!(Number::read(&number.to_string()), Ok((number, false)));
        let spelled = format!("{}e-{}", decimal.mantissa(), decimal.scale());
        prop_assert_eq!(Number::read(&spelled), Ok((number, false)));
        prop_assert_eq!(number.to_f64(), decimal.to_f64());
        let near = Number::from_f64(decimal.to_f64()).expect("finite");
        if near == number {
            // The same number is the same value, however it was made.
            prop_assert_eq!(hash_of(near), hash_of(number));
            prop_assert_eq!(format!("{near:?}"), format!("{number:?}"));
        }
    }

    #[test]
    fn order_is_that_of_the_digits(left in decimals(), right in decimals()) {
        prop_assert_eq!(Number::from(left).cmp(&Number::from(right)), left.cmp(&right));
        let double = Number::from_f64(left.to_f64()).expect("finite");
        prop_assert_eq!(double.cmp(&Number::from(right)), match double.to_decimal() {
            Some(double) => double.cmp(&right),
            None => double.to_f64().total_cmp(&right.to_f64()),
        });
    }

    #[test]
    fn order_agrees_with_doubles(left in any::<f64>(), right in any::<f64>()) {
        prop_assume!(left.is_finite() && right.is_finite());
        let [a, b] = [left, right].map(|double| Number::from_f64(double).expect("finite"));
        prop_assert_eq!(a.cmp(&b), left.partial_cmp(&right).expect("finite"));
    }

    #[test]
    fn any_text_is_read_like_a_double(
        text in "[-+]?[0-9]{0,25}(\\.[0-9]{0,25})?(e[-+]?[0-9]{0,3})?",
    ) {
        match (Number::read(&text), text.parse::<f64>()) {
            (Ok((number, _)), Ok(double)) => prop_assert_eq!(number.to_f64(), double + 0.0),
            (Err(NumberError::Range(_)), Ok(double)) => prop_assert!(double.is_infinite()),
            (Err(NumberError::Spelling(_)), Err(_)) => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

proptest! {
    /// The standard library finds them by another algorithm. Of two that are equally near, it takes
    /// the larger one.
    #[test]
    fn shortest_digits_are_those_of_the_standard_library(
        double in prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (any::<i64>(), 0i32..40).prop_map(|(digits, power)| digits as f64 / 10f64.powi(power)),
            any::<u64>().prop_map(|bits| (bits >> 11) as f64 / 64.0),
            (-999i64..999, -320i32..300).prop_map(|(digits, power)| {
                format!("{digits}e{power}").parse().expect("a double")
            }),
        ].prop_filter("finite", |double| double.is_finite()),
    ) {
        let (digits, exponent) = super::shortest_digits(double);
        prop_assert_eq!(format!("{digits}e{exponent}").parse::<f64>(), Ok(double));
        let spelled = format!("{double:e}");
        let (mantissa, power) = spelled.split_once('e').expect("an exponent");
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let expected: i128 = format!("{whole}{fraction}").parse().expect("digits");
        let places = i32::try_from(fraction.len()).expect("few");
        let is_tie = digits.abs() + 1 == expected.abs() && digits % 2 == 0;
        prop_assert!(digits == expected || is_tie, "{} for {}", digits, spelled);
        prop_assert_eq!(exponent, power.parse::<i32>().expect("a power") - places);
    }
}

/// JavaScript and Python print the even one of two that are equally near.
#[test]
fn of_two_equally_near_decimals_the_even_one_is_meant() {
    let double = Number::from_f64(244_008_023_683_509.0 + 0.125).expect("finite");
    assert_eq!(double, number("244008023683509.12"));
}
