use hadal_aggregate::DISTINCT_REGISTERS;

use super::*;

/// The first step to the bucket of zero.
const ZERO: u128 = 134_335;

fn refused(state: state::State, kind: StateKind) -> String {
    let state = proto::State { state: Some(state) };
    let functions = FunctionRegistry::default();
    let memory = &mut MemoryLimit::new(1 << 20);
    decode_state(state, (kind, &functions), memory).expect_err("refused").to_string()
}

fn distinct(distinct: distinct::Distinct) -> String {
    let version = DISTINCT_VERSION;
    let state = state::State::Distinct(proto::Distinct { distinct: Some(distinct), version });
    refused(state, StateKind::Distinct)
}

fn quantiles(quantiles: quantiles::Quantiles) -> String {
    let state = state::State::Quantiles(proto::Quantiles { quantiles: Some(quantiles) });
    refused(state, StateKind::Quantiles)
}

#[test]
fn sums_have_a_fixed_number_of_digits() {
    let sum = |sum: proto::Sum| decode_sum(sum).expect_err("refused").to_string();
    let decimals = Bytes::from_static(&[0; 32]);
    let short = proto::Sum { decimals: decimals.slice(1..), ..Default::default() };
    assert_eq!(sum(short), ": found 31 bytes of decimals, expected 32");
    let digits = ": found digits out of range, expected an exact sum";
    let few = proto::Sum { decimals: decimals.clone(), doubles: vec![0; 67], overflow: false };
    assert_eq!(sum(few), digits);
    let wide = proto::Sum { decimals, doubles: vec![1 << 32; 68], overflow: false };
    assert_eq!(sum(wide), digits);
    let large = proto::Sum { decimals: Bytes::from_static(&[0x7f; 32]), ..Default::default() };
    assert_eq!(sum(large), digits);
}

#[test]
fn distributions_are_such_as_rows_make() {
    let weighted = proto::WeightedNumber {
        number: Some(encode_number(Number::ZERO)),
        weight: Weight::ONE.millionths().unsigned_abs(),
    };
    let exact = proto::WeightedNumbers { values: vec![weighted; QUANTILE_EXACT_ROWS + 1] };
    assert_eq!(
        quantiles(quantiles::Quantiles::Exact(exact)),
        ": 257 values; at most 256 are allowed"
    );
    let zero = Some(encode_number(Number::ZERO));
    let sketch = |steps: &[u128], weights: &[u128]| {
        quantiles(quantiles::Quantiles::Sketch(proto::QuantileSketch {
            rows: 300,
            min: zero,
            max: zero,
            buckets: numbers::encode(steps.iter().copied()),
            weights: numbers::encode(weights.iter().copied()),
            version: QUANTILES_VERSION,
            are_integers: false,
        }))
    };
    let cases: [(&[u128], &[u128]); 4] =
        [(&[], &[]), (&[ZERO], &[0]), (&[ZERO + 1], &[1]), (&[ZERO, 0], &[1, 1])];
    for (steps, weights) in cases {
        let error = sketch(steps, weights);
        assert_eq!(error, ": found buckets out of order or range, expected a distribution");
    }
    let cases: [(&[u128], &[u128], &str); 5] = [
        (&[ZERO, ZERO + 1], &[1, 1], "buckets: found bad number 1"),
        (&[u128::MAX], &[1], "buckets: found bad number 0"),
        (&[ZERO], &[u128::MAX], "weights: found bad number 0"),
        (&[ZERO], &[], "weights: found 0 bytes"),
        (&[ZERO], &[1, 1], "weights: found 1 more bytes"),
    ];
    for (steps, weights, error) in cases {
        assert!(sketch(steps, weights).starts_with(error), "{}", sketch(steps, weights));
    }
}

#[test]
fn sketches_take_no_more_memory_than_is_allowed() {
    let sketch = proto::QuantileSketch {
        buckets: numbers::encode(std::iter::repeat_n(1, 100_000)),
        weights: numbers::encode(std::iter::repeat_n(1, 100_000)),
        rows: 100_000,
        min: Some(encode_number(Number::ZERO)),
        max: Some(encode_number(Number::ZERO)),
        version: QUANTILES_VERSION,
        are_integers: true,
    };
    let error = quantiles(quantiles::Quantiles::Sketch(sketch));
    assert!(error.contains("1048576"), "{error}");
}

#[test]
fn sketches_keep_whether_they_are_of_integers() {
    for last in ["300", "300.5"] {
        let mut quantiles = Quantiles::default();
        (0..300).for_each(|value| quantiles.add(Number::integer(value), Weight::ONE));
        quantiles.add(last.parse().expect("a number"), Weight::ONE);
        let encoded = encode_quantiles(&quantiles);
        let decoded = decode_quantiles(encoded, &mut MemoryLimit::new(1 << 20)).expect("decodes");
        assert_eq!((decoded.may_be_integers(), &decoded), (last == "300", &quantiles));
    }
}

#[test]
fn sketches_of_an_unknown_version_are_refused() {
    for version in [0, 2, u32::MAX] {
        let sketch = proto::QuantileSketch { version, ..Default::default() };
        let error = quantiles(quantiles::Quantiles::Sketch(sketch));
        let expected = format!("version: found quantile sketch version {version}, expected 1");
        assert_eq!(error, expected);
        let exact = distinct::Distinct::Exact(proto::Hashes::default());
        let set = proto::Distinct { distinct: Some(exact), version };
        let error = refused(state::State::Distinct(set), StateKind::Distinct);
        assert_eq!(error, format!("version: found distinct set version {version}, expected 1"));
    }
}

#[test]
fn histograms_are_such_as_rows_make() {
    let refuse = |cells| refused(state::State::Histogram(cells), StateKind::Histogram(2));
    let number = |number| Some(encode_number(Number::integer(number)));
    let cell = |cell, weight| proto::HistogramCell { cell, weight: Some(encode_integer(weight)) };
    let (min, max) = (number(0), number(9));
    for cells in [
        vec![],
        vec![cell(0, 1)],
        vec![cell(9, 1)],
        vec![cell(0, 1), cell(9, 0)],
        vec![cell(0, -1), cell(9, 1)],
        vec![cell(9, 1), cell(0, 1)],
        vec![cell(0, 1), cell(0, 1), cell(9, 1)],
        vec![cell(0, 1), cell(8, 1)],
        vec![cell(0, 1), cell(10, 1)],
        vec![cell(0, 1), cell(9, 1), cell(u32::MAX, 1)],
    ] {
        let error = refuse(proto::HistogramCells { min, max, cells });
        assert_eq!(error, ": found cells out of order or range, expected those from min to max");
    }
    let cells = vec![cell(0, 1), cell(9, 1)];
    let upside_down = refuse(proto::HistogramCells { min: max, max: min, cells: cells.clone() });
    assert!(upside_down.starts_with(": found cells out of order or range"), "{upside_down}");
    let no_max = refuse(proto::HistogramCells { min, max: None, cells: cells.clone() });
    assert_eq!(no_max, "max: is missing");
    let no_min = refuse(proto::HistogramCells { min: None, max: None, cells: cells.clone() });
    assert_eq!(no_min, "min: is missing");
    let no_weight = proto::HistogramCell { cell: 0, weight: None };
    let weightless = refuse(proto::HistogramCells { min, max, cells: vec![no_weight] });
    assert_eq!(weightless, "cells[0]: is missing");
    let many = refuse(proto::HistogramCells { min, max, cells: vec![cell(0, 1); 12] });
    assert_eq!(many, ": 12 cells; at most 11 are allowed");
    let other = proto::HistogramCells { min, max, cells };
    assert_eq!(
        refused(state::State::Histogram(other), StateKind::Moments),
        ": found Histogram, expected Moments"
    );
}

#[test]
fn hashes_are_a_set_and_registers_are_all() {
    let hashes = |hashes| distinct(distinct::Distinct::Exact(proto::Hashes { hashes }));
    assert_eq!(
        hashes(vec![1, 1]),
        ": found hashes out of order, expected ascending hashes, each once"
    );
    assert_eq!(hashes((0..1_025).collect()), ": 1025 hashes; at most 1024 are allowed");
    for registers in [vec![0; DISTINCT_REGISTERS - 1], vec![52; DISTINCT_REGISTERS]] {
        assert_eq!(
            distinct(distinct::Distinct::Registers(registers.into())),
            ": found registers of another number or size, expected a set of hashes"
        );
    }
}

#[test]
fn sums_of_powers_are_two_or_five_exact_ones() {
    let zero = || Bytes::from_static(&[0]);
    let sum = |decimals: Bytes| proto::ExactSum { decimals, doubles: zero() };
    let refuse = |rows, sums: Vec<proto::ExactSum>| {
        let (weight, squares) = (Some(encode_integer(1)), Some(encode_integer(1)));
        let comoments = proto::Comoments { rows, weight, weight_squares: squares, sums };
        refused(state::State::Comoments(comoments), StateKind::Covariance)
    };
    let sums = ": found sums of another number or size, expected two or five exact sums";
    assert_eq!(refuse(1, vec![]), sums);
    assert_eq!(refuse(1, vec![sum(zero()); 6]), sums);
    assert_eq!(refuse(1, vec![sum(Bytes::new()); 5]), sums, "not a byte");
    assert_eq!(refuse(1, vec![sum(Bytes::from_static(&[1; 49])); 5]), sums, "too long");
    assert_eq!(refuse(1, vec![sum(zero()); 2]), ": found Variance, expected Covariance");
    let weights = ": found a negative sum, or weights without rows, expected a count of rows";
    assert_eq!(refuse(0, vec![sum(zero()); 5]), weights);
}

#[test]
fn ends_have_a_value_each() {
    let value = |number| Some(encode_value(&hadal_types::Value::integer(number)));
    let refuse = |ends| refused(state::State::ArgMinMax(ends), StateKind::ArgMinMax);
    let ends = proto::ArgMinMax {
        min_key: value(1),
        at_min: value(5),
        max_key: value(2),
        at_max: value(6),
    };
    let upside_down = proto::ArgMinMax { min_key: value(3), ..ends.clone() };
    assert!(refuse(upside_down).starts_with(": found ends upside down or of null"));
    let two = proto::ArgMinMax { min_key: value(2), ..ends.clone() };
    assert!(refuse(two).starts_with(": found ends upside down or of null"));
    assert_eq!(refuse(proto::ArgMinMax { at_max: None, ..ends }), "at_max: is missing");
}

#[test]
fn frequent_values_are_in_order() {
    let entry = |number, weight| proto::WeightedValue {
        value: Some(encode_value(&hadal_types::Value::integer(number))),
        weight: Some(encode_integer(weight)),
    };
    let refuse = |values, error| {
        let error = Some(encode_integer(error));
        refused(state::State::TopValues(proto::TopValues { values, error }), StateKind::TopValues)
    };
    let unfit = ": found values out of order or without weight, expected ascending values";
    assert_eq!(refuse(vec![entry(2, 1), entry(1, 1)], 0), unfit);
    assert_eq!(refuse(vec![entry(1, 0)], 0), unfit);
    assert_eq!(refuse(vec![entry(1, 1)], -1), unfit);
    let many = (0..=8_192).map(|number| entry(number, 1)).collect();
    assert_eq!(refuse(many, 0), ": 8193 values; at most 8192 are allowed");
}

#[test]
fn cells_and_edges_are_in_order() {
    let cell =
        |cell, weight| proto::LogHistogramCell { cell, weight: Some(encode_integer(weight)) };
    let refuse =
        |cells, kind| refused(state::State::LogHistogram(proto::LogHistogramCells { cells }), kind);
    let unfit = ": found cells out of order or range, expected ascending cells of powers";
    let ten = StateKind::LogHistogram(10);
    for cells in [vec![cell(2, 1), cell(1, 1)], vec![cell(1, 0)], vec![cell(i32::MIN, 1)]] {
        assert_eq!(refuse(cells, ten), unfit);
    }
    assert_eq!(refuse(vec![], StateKind::Moments), ": found LogHistogram, expected Moments");
    let number = |number| encode_number(Number::integer(number));
    let edges = |edges: &[i64], weights: &[i128]| {
        let cells = proto::EdgeHistogramCells {
            edges: edges.iter().map(|edge| number(*edge)).collect(),
            weights: weights.iter().map(|weight| encode_integer(*weight)).collect(),
            min: Some(number(0)),
            max: Some(number(0)),
        };
        refused(state::State::EdgeHistogram(cells), StateKind::EdgeHistogram)
    };
    let unfit = ": found edges or weights out of order or range, expected those from min to max";
    assert_eq!(edges(&[1, 0], &[0, 1, 0, 0]), unfit);
    assert_eq!(edges(&[0, 1], &[0, 1, 0]), unfit);
    assert_eq!(edges(&[0, 1], &[1, 0, 0, 0]), unfit);
    assert_eq!(edges(&[0, 1], &[0, -1, 0, 0]), unfit);
    let many: Vec<i64> = (0..1_001).collect();
    assert_eq!(edges(&many, &[]), ": 1001 edges; at most 1000 are allowed");
}
