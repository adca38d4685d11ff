use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

fn weight(millionths: i64) -> Weight {
    Weight::from_millionths(millionths).expect("in range")
}

fn sum(values: &[(Number, Weight)]) -> Sum {
    let mut sum = Sum::default();
    values.iter().for_each(|&(value, weight)| sum.add(value, weight));
    sum
}

fn plain(texts: &[&str]) -> Result<Number, SumOverflow> {
    let values: Vec<(Number, Weight)> =
        texts.iter().map(|text| (number(text), Weight::ONE)).collect();
    sum(&values).total()
}

#[test]
fn decimals_are_summed_exactly() {
    assert_eq!(plain(&[]), Ok(Number::ZERO));
    assert_eq!(plain(&["0.1", "0.2"]), Ok(number("0.3")));
    assert_eq!(plain(&["1e18", "0.000000000000000001", "-1e18"]), Ok(number("1e-18")));
    let weighted = sum(&[(number("1.5"), weight(2_500_000)), (number("-1"), weight(1))]);
    assert_eq!(weighted.total(), Ok(number("3.749999")));
}

#[test]
fn the_largest_integers_are_summed_exactly_any_number_of_times() {
    let mut sum = Sum::default();
    let row = i128::from(i64::MAX) * i128::from(Weight::MILLIONTHS_MAX);
    for _ in 0..100_000 {
        sum.add_decimal(row, 0);
    }
    let total = i128::from(i64::MAX) * 1_000_000_000 * 100_000;
    let exact = hadal_types::Decimal::new(total, 0).expect("fits");
    assert_eq!(sum.total(), Ok(Number::from(exact)));
    // Doubled 64 times, as for 2^64 · 100,000 rows, the sum is only rounded, never wrong.
    for _ in 0..64 {
        sum.merge(&sum.clone());
    }
    let expected = total as f64 * 2f64.powi(64);
    assert_eq!(sum.total(), Ok(Number::from_f64(expected).expect("finite")));
}

#[test]
fn a_fine_block_does_not_spoil_a_large_sum() {
    // A simpler sum at a common scale in 128 bits would overflow here.
    let large = [(number("9e18"), weight(Weight::MILLIONTHS_MAX)); 10];
    let mut total = sum(&large);
    total.merge(&sum(&[(number("0.000000000000000001"), Weight::ONE)]));
    total.merge(&sum(&[(number("-9e18"), weight(Weight::MILLIONTHS_MAX)); 10]));
    assert_eq!(total.total(), Ok(number("1e-18")));
}

#[test]
fn decimals_and_doubles_meet_exactly() {
    assert_eq!(plain(&["1e300", "1"]), Ok(number("1e300")));
    assert_eq!(plain(&["1e300", "-1e300", "9007199254740993"]), Ok(number("9007199254740992")));
    assert_eq!(plain(&["1e20", "0.25", "-1e20"]), Ok(number("0.25")));
    assert_eq!(plain(&["1e20", "-0.25", "-1e20"]), Ok(number("-0.25")));
    assert_eq!(plain(&["1e20", "-1e20", "-7.5", "8"]), Ok(number("0.5")));
    assert_eq!(plain(&["1e-30", "1e-30"]), Ok(number("2e-30")));
}

#[test]
fn overflow_is_told_and_stays() {
    assert_eq!(plain(&["1e308", "1e308"]), Err(SumOverflow));
    assert_eq!(plain(&["1e308", "1e308", "-1e308"]), Ok(number("1e308")));
    let mut total = sum(&[(number("1e308"), weight(1_000_000_000))]);
    assert_eq!(total.total(), Err(SumOverflow));
    total.merge(&Sum::default());
    assert_eq!(total.total(), Err(SumOverflow));
    let mut small = sum(&[(number("1"), Weight::ONE)]);
    small.merge(&total);
    assert_eq!(small.total(), Err(SumOverflow));
    let mut scale = Sum::default();
    scale.add_decimal(1, 19);
    assert_eq!(scale.total(), Err(SumOverflow));
}

#[test]
fn parts_from_outside_are_checked() {
    let good = sum(&[(number("-1.5"), Weight::ONE), (number("1e300"), Weight::ONE)]);
    let parts = good.to_parts();
    assert_eq!(Sum::from_parts(&parts), Some(good));
    assert_eq!(Sum::from_parts(&SumParts::default()), Some(Sum::default()));
    let wide = SumParts { decimals: [0x7f; 32], ..parts.clone() };
    assert_eq!(Sum::from_parts(&wide), None);
    let short = SumParts { doubles: vec![0; 67], ..parts.clone() };
    assert_eq!(Sum::from_parts(&short), None);
    let long = SumParts { doubles: vec![0; 69], ..parts };
    assert_eq!(Sum::from_parts(&long), None);
}

fn value() -> impl Strategy<Value = (Number, Weight)> {
    let decimal = (any::<i64>(), 0u8..=18, 0u32..63).prop_map(|(mantissa, scale, cut)| {
        let mantissa = i128::from(mantissa >> cut);
        Number::from(hadal_types::Decimal::new(mantissa, scale).expect("in range"))
    });
    // Small enough that weights cannot lift a product out of the range.
    let double = any::<f64>().prop_filter_map("small enough", |double| {
        Number::from_f64(double).filter(|number| number.to_f64().abs() < 1e290)
    });
    (prop_oneof![decimal, double], 1..=Weight::MILLIONTHS_MAX)
        .prop_map(|(number, millionths)| (number, weight(millionths)))
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        mut values in prop::collection::vec(value(), 0..30),
        cuts in prop::array::uniform2(0usize..30),
    ) {
        let forward = sum(&values);
        let cut = cuts.map(|cut| cut.min(values.len()));
        let (first, last) = (cut[0].min(cut[1]), cut[0].max(cut[1]));
        let mut merged = sum(&values[last..]);
        merged.merge(&sum(&values[..first]));
        merged.merge(&sum(&values[first..last]));
        prop_assert_eq!(merged.to_parts(), forward.to_parts());
        values.reverse();
        prop_assert_eq!(sum(&values).to_parts(), forward.to_parts());
        prop_assert_eq!(Sum::from_parts(&forward.to_parts()), Some(forward));
    }

    #[test]
    fn hostile_parts_never_panic(
        decimals in any::<[u8; 32]>(),
        digits in prop::collection::vec(any::<i64>(), 66..70),
        pass in any::<bool>(),
    ) {
        // Random digits are rejected at once. These digits pass, so that merging is tested too.
        let tame = || digits.iter().map(|digit| digit & 0xffff_ffff).cycle().take(DIGITS);
        let digits = if pass { tame().collect() } else { digits };
        let parts = SumParts { decimals, doubles: digits, overflow: false };
        if let Some(mut sum) = Sum::from_parts(&parts) {
            sum.merge(&sum.clone());
            let _ = sum.total();
        }
    }
}
