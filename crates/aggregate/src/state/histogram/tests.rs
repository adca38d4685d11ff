use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

fn of(buckets_max: u16, values: impl IntoIterator<Item = (Number, Weight)>) -> Histogram {
    let mut histogram = Histogram::new(buckets_max);
    values.into_iter().for_each(|(value, weight)| histogram.add(value, weight));
    histogram
}

fn of_integers(buckets_max: u16, values: impl IntoIterator<Item = i64>) -> Histogram {
    of(buckets_max, values.into_iter().map(|value| (Number::integer(value), Weight::ONE)))
}

fn buckets(histogram: &Histogram) -> Arc<[HistogramBucket]> {
    match histogram.finish() {
        Value::Histogram(buckets) => buckets,
        other => panic!("{other:?}"),
    }
}

/// The edges of a histogram of some values.
fn edges(values: &[&str], buckets_max: u16) -> String {
    let histogram = of(buckets_max, values.iter().map(|text| (number(text), Weight::ONE)));
    let buckets = buckets(&histogram);
    let tos = buckets.iter().map(|bucket| bucket.to);
    let edges = std::iter::once(buckets[0].from).chain(tos);
    edges.map(|edge| edge.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn edges_are_round_and_enclose_the_values() {
    assert_eq!(edges(&["1", "10"], 5), "0 2 4 6 8 10");
    assert_eq!(edges(&["0.13", "0.97"], 10), "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
    assert_eq!(edges(&["-7", "12"], 4), "-10 0 10 20");
    assert_eq!(edges(&["3"], 10), "3 3");
    assert_eq!(
        edges(&["1000000000000000000", "1000000000000000007"], 2),
        "1000000000000000000 1000000000000000005 1000000000000000010"
    );
    assert_eq!(edges(&["0", "1e300"], 2), "0 5e299 1e300");
    assert_eq!(edges(&["-1e308", "1.5e308"], 5), "-1e308 -5e307 0 5e307 1e308 1.5e308");
    assert_eq!(edges(&["5e-324", "2e-323"], 5), "0 1e-323 2e-323");
    assert_eq!(edges(&["0", "1.2e-323", "4e-323"], 2), "0 2e-323 4e-323");
}

#[test]
fn one_bucket_is_from_the_smallest_to_the_largest_value() {
    assert_eq!(edges(&["-1", "1"], 1), "-1 1");
    assert_eq!(edges(&["1", "9"], 1), "1 9");
    assert_eq!(edges(&["-1", "1"], 2), "-1 0 1");
}

#[test]
fn edges_beyond_all_doubles_give_way_to_the_values() {
    let most = "1.7976931348623157e308";
    assert_eq!(edges(&["0", most], 2), format!("0 1e308 {most}"));
    assert_eq!(edges(&[&format!("-{most}"), most], 2), format!("-{most} 0 {most}"));
}

#[test]
fn edges_belong_to_the_bucket_above_but_for_the_last() {
    let values = ["0", "2", "2", "3.9", "4"].map(|text| (number(text), Weight::ONE));
    assert_eq!(of(2, values).finish().to_string(), "[0–2: 1, 2–4: 4]");
    assert_eq!(Histogram::new(2).finish(), Value::Null);
    // Doubles, on an edge that is a decimal.
    let doubles = ["1e25", "2e25", "3e25"].map(|text| (number(text), Weight::ONE));
    let doubles = buckets(&of(5, doubles));
    assert_eq!(doubles.len(), 4);
    assert_eq!(doubles.iter().map(|bucket| bucket.count.to_string()).collect::<String>(), "1011");
    assert_eq!(doubles[3].to, number("3e25"));
}

#[test]
fn counts_are_exact_however_many_rows_there_are() {
    let hundreds = (1..=10).flat_map(|value| std::iter::repeat_n(100 * value, 100));
    assert_eq!(
        of_integers(10, hundreds).finish().to_string(),
        "[100–200: 100, 200–300: 100, 300–400: 100, 400–500: 100, 500–600: 100, 600–700: 100, \
         700–800: 100, 800–900: 100, 900–1000: 200]"
    );
    let skewed = (0..10_000i64).map(|row| 50 + row * row % 3_000).chain([10_000_000]);
    assert_eq!(
        of_integers(3, skewed).finish().to_string(),
        "[0–5000000: 10000, 5000000–10000000: 1]"
    );
}

#[test]
fn weights_add_up() {
    let weight = |millionths| Weight::from_millionths(millionths).expect("in range");
    let values = [("0", 2_500_000), ("1", 1), ("7", 1_000_000_000_000_000), ("7", 1_000_000)];
    let values = values.map(|(text, millionths)| (number(text), weight(millionths)));
    assert_eq!(of(2, values).finish().to_string(), "[0–5: 2.500001, 5–10: 1000000001]");
}

#[test]
fn what_is_kept_is_bounded() {
    for buckets_max in [1, 2, 3, 10, 1_000] {
        let histogram = of_integers(buckets_max, (0..60_000).map(|row| row * 7_919 % 1_000_003));
        let cells = histogram.to_parts().expect("values").cells;
        assert!(cells.len() <= Histogram::cells_max(buckets_max), "{}", cells.len());
        assert!(buckets(&histogram).len() <= buckets_max.into());
        assert!(buckets(&histogram).len() * 3 >= buckets_max.into());
    }
}

#[test]
fn parts_from_outside_are_checked() {
    let parts = |[min, max]: [&str; 2], cells: &[(u32, i128)]| {
        let parts = HistogramParts { min: number(min), max: number(max), cells: cells.into() };
        Histogram::from_parts(2, Some(parts))
    };
    assert_eq!(Histogram::from_parts(2, None), Some(Histogram::new(2)));
    // Cells 0 to 9 of width one.
    assert!(parts(["0", "9"], &[(0, 5), (9, 5)]).is_some());
    assert!(parts(["0.5", "9.5"], &[(0, 5), (4, 1), (9, 5)]).is_some());
    assert!(parts(["9", "0"], &[(0, 5), (9, 5)]).is_none(), "upside down");
    assert!(parts(["0", "9"], &[]).is_none(), "no cells");
    assert!(parts(["0", "9"], &[(9, 5), (0, 5)]).is_none(), "not in order");
    assert!(parts(["0", "9"], &[(0, 5), (0, 5), (9, 5)]).is_none(), "twice");
    assert!(parts(["0", "9"], &[(0, 5), (9, 0)]).is_none(), "no weight");
    assert!(parts(["0", "9"], &[(0, -5), (9, 5)]).is_none(), "less than no weight");
    assert!(parts(["0", "9"], &[(1, 5), (9, 5)]).is_none(), "the smallest not there");
    assert!(parts(["0", "9"], &[(0, 5), (8, 5)]).is_none(), "the largest not there");
    assert!(parts(["0", "9"], &[(0, 5), (9, 5), (u32::MAX, 5)]).is_none(), "one beyond");
    assert!(parts(["3", "3"], &[(0, 5)]).is_some());
    assert!(parts(["3", "3"], &[(0, 5), (1, 5)]).is_none(), "two for one value");
}

/// Values in one of several forms: equal, far apart, or of every size.
fn values() -> impl Strategy<Value = Vec<(Number, Weight)>> {
    let decimal = |mantissa: i64, scale: u8| {
        let decimal = hadal_types::Decimal::new(mantissa.into(), scale).expect("in range");
        Number::from(decimal)
    };
    let near = (-300i64..300).prop_map(move |mantissa| decimal(mantissa, 1));
    let long = (0i64..10_000_000).prop_map(move |mantissa| decimal(mantissa * mantissa / 77, 2));
    let any_double =
        any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits)));
    let tight = (0u32..9).prop_map(|steps| {
        Number::from_f64((0..steps).fold(1e300, |double: f64, _| double.next_up())).expect("finite")
    });
    let each = |number: BoxedStrategy<Number>| {
        let weight = (1i64..5_000_000).prop_map(|w| Weight::from_millionths(w).expect("in range"));
        prop::collection::vec((number, weight), 0..400)
    };
    let mixed = prop_oneof![near.clone(), long.clone(), any_double.clone(), tight.clone()];
    prop_oneof![
        each(near.boxed()),
        each(long.boxed()),
        each(any_double.boxed()),
        each(tight.boxed()),
        each(mixed.boxed()),
    ]
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        values in values(), seed in any::<u64>(), pieces in 1usize..6,
        buckets_max in prop_oneof![1u16..4, 4u16..50, Just(1_000)],
    ) {
        let whole = of(buckets_max, values.iter().copied());
        let mut parts = vec![Histogram::new(buckets_max); pieces];
        for (row, &(value, weight)) in values.iter().enumerate().rev() {
            let piece = seed.rotate_left(u32::try_from(row % 64).expect("small")) % pieces as u64;
            parts[usize::try_from(piece).expect("small")].add(value, weight);
        }
        let merged = parts.into_iter().rev().reduce(|mut merged, part| {
            merged.merge(&part);
            merged
        });
        prop_assert_eq!(merged.as_ref(), Some(&whole));
        prop_assert_eq!(Histogram::from_parts(buckets_max, whole.to_parts()), Some(whole));
    }

    #[test]
    fn every_bucket_holds_what_is_between_its_edges(
        values in values(), buckets_max in prop_oneof![1u16..4, 4u16..50, Just(1_000)],
    ) {
        prop_assume!(!values.is_empty());
        let buckets = buckets(&of(buckets_max, values.iter().copied()));
        prop_assert!(buckets.len() <= buckets_max.into());
        prop_assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from));
        prop_assert!(buckets.len() == 1 || buckets.iter().all(|bucket| bucket.from < bucket.to));
        let last = buckets.len() - 1;
        let mut all = 0;
        for (at, bucket) in buckets.iter().enumerate() {
            let inside = |value: &Number| {
                bucket.from <= *value && (*value < bucket.to || (at == last && *value == bucket.to))
            };
            let held = values.iter().filter(|(value, _)| inside(value));
            let held = held.map(|(_, weight)| i128::from(weight.millionths())).sum();
            prop_assert_eq!(bucket.count, number_of_weight(held), "{:?}", bucket);
            all += held;
        }
        prop_assert_eq!(all, values.iter().map(|value| i128::from(value.1.millionths())).sum::<i128>());
    }
}
