use super::*;
use proptest::prelude::*;

use crate::state::quantiles::buckets::{bucket_of, bucket_of_decimal};

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

fn weight(millionths: i64) -> Weight {
    Weight::from_millionths(millionths).expect("in range")
}

fn of(values: impl IntoIterator<Item = (Number, Weight)>) -> Quantiles {
    let mut quantiles = Quantiles::default();
    values.into_iter().for_each(|(value, weight)| quantiles.add(value, weight));
    quantiles
}

fn of_doubles(values: &[f64]) -> Quantiles {
    of(values.iter().map(|&value| (Number::from_f64(value).expect("finite"), Weight::ONE)))
}

const HALF: u32 = 500_000;

#[test]
fn few_values_have_exact_quantiles() {
    assert_eq!(Quantiles::default().quantile(HALF), None);
    let one = of([(number("0.1"), Weight::ONE)]);
    for millionths in [0, 1, HALF, 999_999, 1_000_000, u32::MAX] {
        assert_eq!(one.quantile(millionths), Some(number("0.1")));
    }
    let ten = of((1..=10).rev().map(|value| (Number::integer(value), Weight::ONE)));
    for (millionths, value) in
        [(0, 1), (100_000, 1), (100_001, 2), (HALF, 5), (950_000, 10), (1_000_000, 10)]
    {
        assert_eq!(ten.quantile(millionths), Some(Number::integer(value)), "{millionths}");
    }
}

#[test]
fn weights_count_as_so_many_rows() {
    // Equal to the values 1 1 1 2 3 without weights.
    let weighted = of([
        (number("2"), Weight::ONE),
        (number("1"), weight(3_000_000)),
        (number("3"), Weight::ONE),
    ]);
    for (millionths, value) in [(600_000, "1"), (600_001, "2"), (800_000, "2"), (800_001, "3")] {
        assert_eq!(weighted.quantile(millionths), Some(number(value)), "{millionths}");
    }
    let heavy = of([(number("1"), weight(1)), (number("2"), weight(Weight::MILLIONTHS_MAX))]);
    assert_eq!(heavy.quantile(1), Some(number("2")));
    assert_eq!(heavy.quantile(0), Some(number("1")));
}

#[test]
fn what_is_exact_depends_on_all_rows_alone() {
    let part = |rows: i64| of((0..rows).map(|value| (Number::integer(value), Weight::ONE)));
    let mut quantiles = part(200);
    quantiles.merge(&part(56));
    assert!(quantiles.is_exact());
    quantiles.merge(&part(1));
    assert!(!quantiles.is_exact());
    assert_eq!(quantiles.rows(), 257);
    assert_eq!(quantiles.quantile(0), Some(Number::ZERO));
    assert_eq!(quantiles.quantile(1_000_000), Some(Number::integer(199)));
}

/// A small generator of doubles in 0..1, so that tests need no dependency and have one outcome.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

fn lognormal(seed: u64) -> impl FnMut() -> f64 {
    let mut next = uniform(seed);
    move || {
        let (radius, turn) = ((-2.0 * next().ln()).sqrt(), next() * std::f64::consts::TAU);
        (3.0 + 2.0 * radius * turn.cos()).exp()
    }
}

#[test]
fn sketched_quantiles_are_within_one_percent() {
    const ROWS: usize = 20_000;
    let (mut even, mut long) = (uniform(1), lognormal(2));
    let shapes: [(&str, Vec<f64>); 4] = [
        ("uniform", (0..ROWS).map(|_| 1_000.0 * even()).collect()),
        ("lognormal", (0..ROWS).map(|_| long()).collect()),
        ("around zero", (0..ROWS).map(|_| (even() - 0.5).powi(3) * 1e6).collect()),
        ("negative", (0..ROWS).map(|_| -long()).collect()),
    ];
    for (name, mut values) in shapes {
        let quantiles = of_doubles(&values);
        assert!(!quantiles.is_exact());
        values.sort_by(f64::total_cmp);
        for millionths in [1_000, 10_000, 250_000, HALF, 750_000, 950_000, 990_000, 999_000] {
            let rank = (ROWS * usize::try_from(millionths).expect("small")).div_ceil(1_000_000);
            let exact = values[rank - 1];
            let quantile = quantiles.quantile(millionths).expect("values");
            let error = (quantile.to_f64() / exact - 1.0).abs();
            assert!(error <= 0.010_001_1, "{name} {millionths}: {quantile} is not {exact}");
            let digits = quantile.to_string().trim_matches(['-', '0', '.']).replace('.', "").len();
            let at_an_end =
                [0, 1_000_000].map(|end| quantiles.quantile(end)).contains(&Some(quantile));
            assert!(digits <= 7 || at_an_end, "{name} {millionths}: {quantile}");
        }
        assert_eq!(quantiles.quantile(0).map(Number::to_f64), values.first().copied());
        assert_eq!(quantiles.quantile(1_000_000).map(Number::to_f64), values.last().copied());
    }
}

#[test]
fn zero_stays_zero_in_a_sketch() {
    // A value in the lower half of its bucket.
    let low = |value: &f64| bucket_number(bucket_of(*value)).to_f64() > *value;
    let largest = (0..4).map(|step| 5.0 + f64::from(step) / 40.0).find(low).expect("one of four");
    let mut values = vec![0.0; 400];
    values.extend([largest; 100]);
    let quantiles = of_doubles(&values);
    assert_eq!(quantiles.quantile(800_000), Some(Number::ZERO));
    assert_eq!(quantiles.quantile(900_000), Number::from_f64(largest), "no more than the largest");
}

#[test]
fn quantiles_of_integers_are_integers() {
    let integers = |values: &[i64]| of(values.iter().map(|n| (Number::integer(*n), Weight::ONE)));
    let digits: Vec<i64> = (0..900).map(|row| row % 9 + 1).collect();
    let small = integers(&digits);
    assert!(!small.is_exact());
    for (millionths, value) in [(50_000, 1), (250_000, 3), (HALF, 5), (950_000, 9)] {
        assert_eq!(small.quantile(millionths), Some(Number::integer(value)), "{millionths}");
        assert_eq!(small.quantile_cont(millionths), Some(Number::integer(value)), "{millionths}");
    }
    let mut large = integers(&(1..=1_000).collect::<Vec<_>>());
    for millionths in (1_000..1_000_000).step_by(1_000) {
        let quantile = large.quantile(millionths).and_then(Number::to_i64).expect("an integer");
        let exact = i64::from(millionths / 1_000);
        assert!((quantile - exact).abs() * 100 <= exact, "{quantile} is not {exact}");
    }
    assert!(large.may_be_integers());
    large.merge(&of([(number("0.5"), Weight::ONE)]));
    assert!(!large.may_be_integers(), "one value is no integer");
    let huge = of([(number("1e300"), Weight::ONE)].repeat(300));
    assert!(huge.may_be_integers(), "a double beyond all decimals is an integer");
}

#[test]
fn counting_by_bucket_is_the_same_as_adding_one_by_one() {
    let values: Vec<i64> = (-150..150).map(|value| value * value * value).collect();
    let one_by_one = of(values.iter().map(|&value| {
        (Number::from(hadal_types::Decimal::new(value.into(), 2).expect("in range")), Weight::ONE)
    }));
    let mut buckets: Vec<(i32, i128)> = Vec::new();
    for bucket in values.iter().map(|&value| bucket_of_decimal(value, 2)) {
        match buckets.last_mut().filter(|last| last.0 == bucket) {
            Some(last) => last.1 += 1_000_000,
            None => buckets.push((bucket, 1_000_000)),
        }
    }
    let ends = (number("-33750"), number("33079.49"));
    let mut counted = Quantiles::default();
    assert!(!counted.takes_buckets(256), "few rows are kept exactly");
    assert!(counted.takes_buckets(300));
    counted.add_rows(300, ends).add_weights(buckets.iter().copied());
    assert_ne!(counted, one_by_one, "it is not known that some are no integers");
    counted.note_fraction();
    assert_eq!(counted, one_by_one);
    // Buckets below, between and above the existing ones.
    let mut halves = Quantiles::default();
    halves.add_rows(257, ends).add_weights(buckets.iter().copied().step_by(2));
    halves.note_fraction();
    halves.add_rows(43, ends).add_weights(buckets.iter().copied().skip(1).step_by(2));
    assert_eq!(halves.ends(), Some(ends));
    assert_eq!(halves, one_by_one);
}

#[test]
fn parts_from_outside_are_checked() {
    let sketch = |rows, ends: [&str; 2], buckets: &[(&str, i128)]| {
        let buckets = buckets
            .iter()
            .map(|(text, weight)| (bucket_of_number(number(text)), *weight))
            .collect();
        let [min, max] = ends.map(number);
        let are_integers = false;
        Quantiles::from_parts(QuantilesParts::Sketch { rows, min, max, buckets, are_integers })
    };
    assert!(sketch(300, ["1", "9"], &[("1", 5), ("9", 5)]).is_some());
    assert!(sketch(256, ["1", "9"], &[("1", 5), ("9", 5)]).is_none(), "few rows");
    assert!(sketch(300, ["1", "9"], &[]).is_none(), "no buckets");
    assert!(sketch(300, ["1", "9"], &[("9", 5), ("1", 5)]).is_none(), "not in order");
    assert!(sketch(300, ["1", "9"], &[("1", 5), ("1", 5), ("9", 5)]).is_none(), "twice");
    assert!(sketch(300, ["1", "9"], &[("1", 5), ("9", 0)]).is_none(), "no weight");
    assert!(sketch(300, ["1", "9"], &[("2", 5), ("9", 5)]).is_none(), "smallest not there");
    assert!(sketch(300, ["9", "1"], &[("1", 5), ("9", 5)]).is_none(), "upside down");
    for (min, is_possible) in [("8", true), ("8.5", false)] {
        let (min, max) = (number(min), number("9"));
        let buckets = [min, max].map(|end| (bucket_of_number(end), 5)).to_vec();
        let parts = QuantilesParts::Sketch { rows: 300, min, max, buckets, are_integers: true };
        assert_eq!(Quantiles::from_parts(parts).is_some(), is_possible, "{min}");
    }
    let many = vec![(Number::ZERO, Weight::ONE); 257];
    assert_eq!(Quantiles::from_parts(QuantilesParts::Exact(many)), None);
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        values in prop::collection::vec((-1e6f64..1e6, 1i64..5_000_000), 0..600),
        seed in any::<u64>(), pieces in 1usize..6, fractions in 0usize..3,
    ) {
        let values: Vec<(Number, Weight)> = values
            .into_iter()
            .enumerate()
            .map(|(row, (value, millionths))| {
                let value = if row < fractions { value } else { value.trunc() };
                (Number::from_f64(value).expect("finite"), weight(millionths))
            })
            .collect();
        let whole = of(values.iter().copied());
        let mut next = uniform(seed);
        let mut parts = vec![Quantiles::default(); pieces];
        for &(value, weight) in values.iter().rev() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let piece = (next() * pieces as f64) as usize;
            parts[piece].add(value, weight);
        }
        let merged = parts.into_iter().rev().reduce(|mut merged, part| {
            merged.merge(&part);
            merged
        });
        prop_assert_eq!(merged.as_ref().map(Quantiles::to_parts), Some(whole.to_parts()));
        let are_integers = values.iter().all(|(value, _)| value.is_integer());
        prop_assert!(whole.is_exact() || whole.may_be_integers() == are_integers);
        prop_assert_eq!(whole.is_exact(), values.len() <= QUANTILE_EXACT_ROWS);
        prop_assert_eq!(Quantiles::from_parts(whole.to_parts()), Some(whole));
    }
}

proptest! {
    #[test]
    fn the_weight_up_to_a_value_is_that_of_the_buckets_numbers(
        values in prop::collection::vec(
            prop_oneof![(-300i64..300).prop_map(|value| value as f64), -2.0..2.0f64, 0.0..1e9f64],
            300..900,
        ),
        at in prop::collection::vec(any::<prop::sample::Index>(), 8), offset in -0.03..0.03f64,
    ) {
        let quantiles = of_doubles(&values);
        let sketch = quantiles.sketch.as_deref().expect("a sketch");
        let weights: Vec<(i32, i128)> = sketch.weights.iter().collect();
        for index in at {
            let number = sketch.number(weights[index.index(weights.len())].0).to_f64();
            for value in [number, number * (1.0 + offset), values[index.index(values.len())]] {
                let below = weights.iter().filter(|(bucket, _)| {
                    sketch.number(*bucket).to_f64() <= value
                });
                let below: i128 = below.map(|(_, weight)| weight).sum();
                let (all, up_to) = quantiles.weight_up_to(value);
                prop_assert_eq!((all, up_to), (values.len() as f64, below as f64 / 1e6));
            }
        }
    }
}
