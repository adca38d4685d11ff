use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    text.parse().expect(text)
}

/// Numbers of every size and form; many are near others or on edges.
fn any_number() -> impl Strategy<Value = Number> {
    let stored = (any::<i64>(), 0u32..63, 0u8..=18).prop_map(|(mantissa, cut, scale)| {
        let decimal = Decimal::new(i128::from(mantissa >> cut), scale);
        Number::from(decimal.expect("in range"))
    });
    let long = (any::<i128>(), 0u32..127, 0u8..=36).prop_filter_map("a scale", |parts| {
        Decimal::new(parts.0 >> parts.1, parts.2).map(Number::from)
    });
    let double =
        any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits)));
    let round = (-99i64..100, -330i32..300)
        .prop_map(|(digits, exponent)| format!("{digits}e{exponent}").parse().expect("a number"));
    let near = (0i64..9, 1u64..1 << 60).prop_map(|(steps, offset)| {
        let start = 1e20 + offset as f64;
        let double = (0..steps).fold(start, |double, _| double.next_up());
        Number::from_f64(double).expect("finite")
    });
    let far = prop_oneof![Just("1e308"), Just("-1.7976931348623157e308"), Just("5e-324")];
    prop_oneof![3 => stored, 1 => long, 2 => double, 2 => round, 1 => near, 1 => far.prop_map(number)]
}

#[test]
fn the_grid_is_the_finest_that_is_few_cells() {
    let of = |min: &str, max: &str, cells_max| {
        let ends = (number(min), number(max));
        let grid = HistogramGrid::covering(ends, cells_max, None);
        (grid.exponent, grid.cell_of(ends.1) - grid.cell_of(ends.0) + 1)
    };
    assert_eq!(of("0", "100", 101), (0, 101));
    assert_eq!(of("0", "100", 100), (1, 11));
    assert_eq!(of("-1", "1", 6), (0, 3));
    assert_eq!(of("999", "1001", 51), (-1, 21));
    assert_eq!(of("0.001", "0.002", 11), (-4, 11));
    assert_eq!(of("1e300", "3e300", 101), (299, 21));
    assert_eq!(of("-1.7976931348623157e308", "1.7976931348623157e308", 51), (307, 36));
    assert_eq!(of("9223372036854775806", "9223372036854775807", 21), (-1, 11));
    // The limits set by the digits of the numbers.
    assert_eq!(of("7", "7", 51), (-36, 1));
    assert_eq!(of("70", "70", 51), (-35, 1));
    assert_eq!(of("0", "0", 51), (-323, 1));
    assert_eq!(of("5e-324", "2e-323", 51), (-323, 3));
    assert_eq!(of("1e300", "1.0000000000000002e300", 51), (286, 1));
}

#[test]
fn edges_belong_to_the_cell_above() {
    let grid = HistogramGrid { exponent: 1 };
    for (text, cell) in
        [("0", 0), ("9.99", 0), ("10", 1), ("-0.01", -1), ("-10", -1), ("-10.1", -2)]
    {
        assert_eq!(grid.cell_of(number(text)), cell, "{text}");
    }
    let grid = HistogramGrid { exponent: 299 };
    for (text, cell) in [("1e300", 10), ("9.999999999999999e299", 9), ("-1e299", -1), ("5", 0)] {
        assert_eq!(grid.cell_of(number(text)), cell, "{text}");
    }
    let (near, far) = (HistogramGrid { exponent: -5 }, HistogramGrid { exponent: -40 });
    assert_eq!(near.cell_of(number("-5e-324")), -1);
    assert_eq!(near.cell_of(number("1e-30")), 0);
    assert_eq!(far.cell_of(number("1e-30")), 10_000_000_000);
    assert_eq!(far.cell_of(number("9.99999999999999e-31")), 9_999_999_999);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_cell_is_between_its_edges(
        numbers in prop::collection::vec(any_number(), 2..5), cells_max in 6usize..5_002,
    ) {
        let ends = (*numbers.iter().min().expect("some"), *numbers.iter().max().expect("some"));
        let grid = HistogramGrid::covering(ends, cells_max, None);
        let (first, last) = (grid.cell_of(ends.0), grid.cell_of(ends.1));
        prop_assert!((0..i128::try_from(cells_max).expect("small")).contains(&(last - first)));
        for &number in &numbers {
            let cell = grid.cell_of(number);
            prop_assert!((first..=last).contains(&cell));
            let (edge, next) = (grid.edge(cell), grid.edge(cell + 1));
            prop_assert!(edge.is_none_or(|edge| edge <= number), "{number} {edge:?}");
            prop_assert!(next.is_none_or(|next| number < next), "{number} {next:?}");
        }
        // A narrower range never has a coarser grid, and the path to a grid does not matter.
        let part = HistogramGrid::covering((ends.0, numbers[0]), cells_max, None);
        prop_assert!(part <= grid);
        prop_assert_eq!(HistogramGrid::covering(ends, cells_max, Some(part)), grid);
        for &number in numbers.iter().filter(|number| **number <= numbers[0]) {
            prop_assert_eq!(part.cell_in(grid, part.cell_of(number)), grid.cell_of(number));
        }
    }

    #[test]
    fn doubles_have_the_cell_of_their_number(
        value in any::<f64>().prop_filter("finite", |value| value.is_finite()),
        other in any::<f64>().prop_filter("finite", |value| value.is_finite()),
        small in -1_000i32..1_000, near in any::<bool>(), cells_max in 6usize..5_002,
    ) {
        let (value, other) = if near { (f64::from(small) / 8.0, other % 1e4) } else { (value, other) };
        let numbers = [value, other].map(|value| Number::from_f64(value).expect("finite"));
        let ends = (numbers[0].min(numbers[1]), numbers[0].max(numbers[1]));
        let grid = HistogramGrid::covering(ends, cells_max, None);
        let cell_of = grid.cells_of_doubles();
        prop_assert_eq!(cell_of(value), grid.cell_of(numbers[0]));
        prop_assert_eq!(cell_of(other), grid.cell_of(numbers[1]));
    }

    #[test]
    fn decimals_have_the_cell_of_their_number(
        mantissas in any::<[i64; 2]>(), cut in 0u32..63, scale in 0u8..=18,
    ) {
        let mantissas = mantissas.map(|mantissa| mantissa >> cut);
        let numbers = mantissas.map(|mantissa| {
            Number::from(Decimal::new(i128::from(mantissa), scale).expect("in range"))
        });
        let ends = (numbers[0].min(numbers[1]), numbers[0].max(numbers[1]));
        let grid = HistogramGrid::covering(ends, 301, None);
        let cells = mantissas.map(|mantissa| grid.cell_of_decimal(mantissa, scale));
        prop_assert_eq!(cells, numbers.map(|number| grid.cell_of(number)));
        let [low, high] = [mantissas[0].min(mantissas[1]), mantissas[0].max(mantissas[1])];
        if let Some(steps) = grid.steps(scale, (low, high)) {
            let steps = i128::try_from(steps.of(high) - steps.of(low)).expect("small");
            prop_assert_eq!(steps, (cells[0] - cells[1]).abs());
        } else {
            prop_assert!(cut == 0, "{mantissas:?}");
        }
    }
}
