use hadal_aggregate::DISTINCT_REGISTERS;

use super::*;

fn refused(state: state::State, kind: StateKind) -> String {
    let state = proto::State { state: Some(state) };
    decode_state(state, kind, &FunctionRegistry::default()).expect_err("refused").to_string()
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
    let bucket =
        |bucket, weight| proto::QuantileBucket { bucket, weight: Some(encode_integer(weight)) };
    let zero = Some(encode_number(Number::ZERO));
    for buckets in [
        vec![],
        vec![bucket(0, 0)],
        vec![bucket(0, -1)],
        vec![bucket(1, 1)],
        vec![bucket(0, 1), bucket(0, 1)],
        vec![bucket(0, 1), bucket(i32::MAX, 1), bucket(0, 1)],
    ] {
        let version = QUANTILES_VERSION;
        let sketch = proto::QuantileSketch { rows: 300, min: zero, max: zero, buckets, version };
        let error = quantiles(quantiles::Quantiles::Sketch(sketch));
        assert_eq!(error, ": found buckets out of order or range, expected a distribution");
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
