use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

fn of(values: &[&str]) -> Comoments {
    let mut state = Comoments::of_one();
    values.iter().for_each(|text| state.add(number(text), Weight::ONE));
    state
}

fn pairs(values: &[(&str, &str)]) -> Comoments {
    let mut state = Comoments::of_pairs();
    values.iter().for_each(|(x, y)| state.add_pair(number(x), number(y), Weight::ONE));
    state
}

fn weight(millionths: i64) -> Weight {
    Weight::from_millionths(millionths).expect("in range")
}

#[test]
fn variances_are_those_of_the_formula() {
    let state = of(&["2", "4", "4", "4", "5", "5", "7", "9"]);
    assert_eq!(state.variance(false), Some(number("4")));
    assert_eq!(state.deviation(false), Some(number("2")));
    assert_eq!(state.variance(true), Number::from_f64(32.0 / 7.0));
    assert_eq!(of(&[]).variance(false), None);
    assert_eq!(of(&["3"]).variance(false), Some(Number::ZERO));
    assert_eq!(of(&["3"]).variance(true), None, "a sample of one");
}

#[test]
fn large_means_cancel_without_loss() {
    assert_eq!(of(&["1000000000", "1000000002"]).variance(false), Some(number("1")));
    let fine = of(&["1000000000.000000001", "1000000000.000000003"]);
    assert_eq!(fine.variance(false), Some(number("0.000000000000000001")));
    // The neighbours of a double beyond the digits of decimals.
    assert_eq!(of(&["1e200", "1e200", "1e200"]).variance(false), Some(Number::ZERO));
    assert_eq!(of(&["1e300", "-1e300"]).deviation(false), Some(number("1e300")));
    assert_eq!(of(&["1e300", "-1e300"]).variance(false), None, "beyond doubles");
    let mixed = of(&["1e-30", "3", "5"]);
    assert_eq!(mixed.variance(false), Number::from_f64(38.0 / 9.0));
}

#[test]
fn weights_are_frequencies() {
    let mut weighted = Comoments::of_one();
    weighted.add(number("1"), weight(3_000_000));
    weighted.add(number("5"), Weight::ONE);
    let repeated = of(&["1", "1", "1", "5"]);
    for of_sample in [false, true] {
        assert_eq!(weighted.variance(of_sample), repeated.variance(of_sample));
    }
    let mut part = Comoments::of_one();
    part.add(number("1"), weight(500_000));
    assert_eq!(part.variance(true), None, "less than an event");
}

#[test]
fn sums_of_rows_are_the_rows() {
    let mut summed = Comoments::of_one();
    let mut count = WeightedCount::default();
    count.add_row(weight(2_500_000));
    count.add_row(Weight::ONE);
    // 1.5 with weight 2.5, and -0.3.
    summed.add_decimals(count, (15 * 2_500_000 - 3_000_000, 225 * 2_500_000 + 9_000_000), 1);
    let mut one_by_one = Comoments::of_one();
    one_by_one.add(number("1.5"), weight(2_500_000));
    one_by_one.add(number("-0.3"), Weight::ONE);
    assert_eq!(summed, one_by_one);
}

#[test]
fn pairs_have_a_line() {
    let state = pairs(&[("3", "1"), ("5", "2"), ("7", "3")]);
    assert_eq!(state.covariance(false), Number::from_f64(4.0 / 3.0));
    assert_eq!(state.covariance(true), Some(number("2")));
    assert_eq!(state.correlation(), Some(number("1")));
    assert_eq!(state.slope(), Some(number("2")));
    assert_eq!(state.intercept(), Some(number("1")));
    let opposed = pairs(&[("1", "2"), ("0", "4"), ("-1", "6")]);
    assert_eq!(opposed.correlation(), Some(number("-1")));
    let flat = pairs(&[("3", "1"), ("5", "1")]);
    assert_eq!((flat.correlation(), flat.slope(), flat.intercept()), (None, None, None));
    assert_eq!(pairs(&[]).covariance(false), None);
    let doubles = pairs(&[("1e30", "1"), ("2e30", "2")]);
    assert_eq!(doubles.slope(), Some(number("1e30")));
}

#[test]
fn parts_from_outside_are_checked() {
    let state = of(&["-1.5", "1e300"]);
    let parts = state.to_parts();
    assert_eq!(Comoments::from_parts(&parts), Some(state));
    let with = |change: &dyn Fn(&mut ComomentsParts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        Comoments::from_parts(&parts)
    };
    assert_eq!(with(&|parts| drop(parts.sums.pop())), None, "one sum");
    assert_eq!(with(&|parts| parts.sums[0][0].push(0xff)), None, "not the shortest");
    assert_eq!(with(&|parts| parts.sums[0][0] = vec![1; 47]), None, "too long a decimal");
    assert_eq!(with(&|parts| parts.sums[0][1] = vec![1; 600]), None, "too long a double");
}

fn any_number() -> impl Strategy<Value = Number> {
    let decimal = (any::<i64>(), 0u8..=18).prop_filter_map("a decimal", |(mantissa, scale)| {
        hadal_types::Decimal::new(mantissa.into(), scale).map(Number::from)
    });
    let double =
        any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits)));
    prop_oneof![3 => decimal, 1 => double, 1 => (-9i64..9).prop_map(Number::integer)]
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        rows in prop::collection::vec((any_number(), any_number(), 1i64..5_000_000), 0..20),
        cut in 0usize..20,
    ) {
        let mut whole = Comoments::of_pairs();
        let (mut left, mut right) = (Comoments::of_pairs(), Comoments::of_pairs());
        for (index, &(x, y, millionths)) in rows.iter().enumerate() {
            whole.add_pair(x, y, weight(millionths));
            let part = if index < cut { &mut left } else { &mut right };
            part.add_pair(x, y, weight(millionths));
        }
        right.merge(&left);
        prop_assert_eq!(&right, &whole);
        prop_assert_eq!(Comoments::from_parts(&whole.to_parts()), Some(whole));
    }
}
