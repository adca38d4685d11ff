//! Weighted sums in the directory, against adding up the rows one by one.

use hadal_types::{Kind, Logical, Micros, Value, Weight};

use super::model::{Random, Row, build, cold, read};
use super::sampling::{one_in, sampled, view, weight};
use crate::weighted_sums::WeightedSums;
use crate::{BlockError, BlockRegion, BlockView, MergeOrder, Zone, merge};

/// Enough rows for weighted sums, and two vectors.
const ROWS: usize = 2_100;

/// Rows with a rate of this list, and numbers of all ways to store null rows.
fn rows(seed: u64, rates: &[&str]) -> Vec<Row> {
    let mut random = Random::new(seed);
    let row = |index: usize| {
        let mut cells = vec![
            ("small", random.pick(&["7", "-3", "0.25", "1000000"])),
            ("large", random.pick(&["9223372036854775807", "-9223372036854775808", "5"])),
            ("double", random.pick(&["1e300", "0.1"])),
            ("sometimes", random.pick(&["12", "null", "1.5"])),
            ("seldom", if index.is_multiple_of(9) { "77" } else { "null" }),
            (Weight::COLUMN, random.pick(rates)),
        ];
        cells.retain(|(_, text)| *text != "null");
        let cell = |(name, text): (&str, &str)| {
            (name.to_owned(), Value::Number(text.parse().expect("a number")))
        };
        let time = Micros(i64::try_from(index).expect("small"));
        Row { time, cells: cells.into_iter().map(cell).collect() }
    };
    (0..ROWS).map(row).collect()
}

/// The sums of a column, row by row.
fn expected(rows: &[Row], column: &str, scale: u8) -> WeightedSums {
    let mut sums = WeightedSums { weight: 0, squares: 0, product: 0 };
    for row in rows {
        if let Some(Value::Number(number)) = row.cells.get(column) {
            let weight = i128::from(weight(row));
            sums.weight += weight;
            sums.squares += weight * weight;
            sums.product += weight * number.to_scaled(scale).expect("at its scale");
        }
    }
    sums
}

/// Asserts that a block has the weighted sums of its rows. Returns the number of columns with sums.
fn assert_sums(bytes: &[u8]) -> usize {
    let block = view(bytes);
    let rows = read(bytes);
    let mut columns = 0;
    for column in block.columns() {
        let Some(sums) = column.weighted_sums() else { continue };
        let Zone::Decimals { scale, .. } = column.zone() else { panic!("not decimals") };
        assert_eq!(column.logical(), Logical::Plain);
        assert_eq!(sums, expected(&rows, column.name().as_str(), scale), "{}", column.name());
        columns += 1;
    }
    assert_eq!(bytes[8], if columns > 0 { 6 } else { bytes[8].min(5) });
    columns
}

#[test]
fn whole_blocks_know_their_weighted_sums() {
    // Doubles have no sums.
    for (seed, rates, columns) in [
        (1, ["1", "10", "1000"].as_slice(), 5),
        (2, &["null", "2.5", "0.000001"], 5),
        (3, &["-4", "0", "1e300", "7"], 0),
        (4, &["-4", "0", "7"], 5),
        (5, &["1000000000"], 5),
        (6, &["0.0000001", "3"], 0),
        (7, &["null"], 0),
    ] {
        let all = rows(seed, rates);
        let bytes = build(&all, None);
        assert_eq!(assert_sums(&bytes), columns, "{rates:?}");
        assert_eq!(assert_sums(&cold(&bytes)), columns, "{rates:?}");
        let (one, other) = (build(&all[..1_000], None), build(&all[1_000..], None));
        assert_eq!((assert_sums(&one), assert_sums(&other)), (0, 0));
        for order in [MergeOrder::Arrival, MergeOrder::Time] {
            let merged = merge(&[view(&one), view(&other)], order, Micros(0)).expect("merges");
            assert_eq!(assert_sums(&merged[0]), columns, "{rates:?}");
        }
    }
    let many = [rows(1, &["1", "20"]), rows(8, &["300"]), rows(9, &["1"])].concat();
    let kept = sampled(&build(&many, None), &one_in(3));
    assert_eq!(assert_sums(&kept), 5);
}

#[test]
fn sums_beyond_128_bits_are_left_out() {
    let (rows, largest) = (20_000, i64::MAX);
    let weights = vec![Weight::MILLIONTHS_MAX; rows];
    let sums = |mantissa| WeightedSums::new(&vec![mantissa; rows], &weights, (0, mantissa));
    assert_eq!(sums(largest), None);
    let half = sums(largest / 2).expect("fits");
    assert_eq!(half.product, half.weight * i128::from(largest / 2));
}

#[test]
fn impossible_sums_are_refused() {
    let bytes = build(&rows(1, &["1", "10"]), None);
    let block = view(&bytes);
    let column = block.column("small", Kind::Number).expect("a column");
    let (sums, region) = (column.weighted_sums().expect("sums"), BlockRegion::Front);
    let check = |sums: WeightedSums| sums.check(ROWS, (-300, 100_000_000), &region);
    check(sums).expect("possible");
    for wrong in [
        WeightedSums { weight: 0, ..sums },
        WeightedSums { weight: ROWS as i128 - 1, ..sums },
        WeightedSums { weight: i128::MAX, ..sums },
        WeightedSums { weight: -sums.weight, ..sums },
        WeightedSums { squares: sums.weight - 1, ..sums },
        WeightedSums { squares: i128::MAX, ..sums },
        WeightedSums { product: sums.weight * 100_000_000 + 1, ..sums },
        WeightedSums { product: sums.weight * -300 - 1, ..sums },
    ] {
        assert!(check(wrong).is_err(), "{wrong:?}");
    }
    let mut older = bytes.clone();
    older[8] = 5;
    super::hostile::seal(&mut older);
    let error = BlockView::parse(&older).expect_err("of another version").to_string();
    assert!(error.ends_with("is not of version 5, expected 6"), "{error}");
    assert!(matches!(BlockView::parse(&older), Err(BlockError::Corrupt { .. })));
}
