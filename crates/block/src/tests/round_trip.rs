//! Rows that are written are read back unchanged.

use hadal_types::limits::{BLOCK_ROWS_MAX, LIST_ELEMENTS_MAX, STRING_BYTES_MAX};
use hadal_types::{BatchId, Decimal, Kind, Logical, Micros, Number, Value};

use super::model::{Random, Row, assert_same, build, name, random_rows, read};
use crate::{BatchRows, BlockBuilder, BlockView, Values, Zone};

fn assert_survives(rows: &[Row]) -> Vec<u8> {
    let bytes = build(rows, None);
    assert_same(&read(&bytes), rows);
    bytes
}

/// Rows with one column `x`; `None` is null.
fn column(values: impl IntoIterator<Item = Option<Value>>) -> Vec<Row> {
    let row = |(index, value): (i64, Option<Value>)| Row {
        time: Micros(index),
        cells: value.map(|value| ("x".to_owned(), value)).into_iter().collect(),
    };
    (0i64..).zip(values).map(row).collect()
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect(text))
}

fn encoding_of(bytes: &[u8], kind: Kind) -> &'static str {
    let block = BlockView::parse(bytes).expect("parses");
    block.column("x", kind).expect("exists").encoding_name()
}

#[test]
fn random_shapes_survive() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let count = random.pick(&[1, 1, 2, 3, 100, 1_023, 1_024, 1_025, 2_049]);
        println!("seed {seed}, {count} rows");
        assert_survives(&random_rows(&mut random, count));
    }
}

#[test]
fn full_blocks_survive() {
    for seed in 1_000..1_003 {
        println!("seed {seed}");
        let mut rows = random_rows(&mut Random::new(seed), BLOCK_ROWS_MAX);
        // Sorted, as large blocks are.
        rows.sort_by_key(|row| row.time);
        assert_survives(&rows);
    }
}

#[test]
fn the_same_rows_make_the_same_bytes() {
    let rows = random_rows(&mut Random::new(5), 700);
    assert_eq!(build(&rows, None), build(&rows, None));
}

#[test]
fn one_scale_holds_all_decimals() {
    let rows = column(["1.50", "-0.001", "7", "9e15"].map(|text| Some(number(text))));
    let bytes = assert_survives(&rows);
    let block = BlockView::parse(&bytes).expect("parses");
    let zone = block.column("x", Kind::Number).expect("exists").zone();
    let (min, max) = (-1, 9_000_000_000_000_000_000);
    assert_eq!(zone, Zone::Decimals { scale: 3, min, max, sum: i128::from(max) + 8_499 });
    assert_eq!(read(&bytes), rows);
}

#[test]
fn what_no_scale_holds_becomes_doubles() {
    let numbers = [Some(number("1e300")), None, Some(number("0.5")), Some(number("-1e-300"))];
    let bytes = assert_survives(&column(numbers));
    let block = BlockView::parse(&bytes).expect("parses");
    let x = block.column("x", Kind::Number).expect("exists");
    assert_eq!(
        (x.encoding_name(), x.zone()),
        ("doubles", Zone::Doubles { min: -1e-300, max: 1e300 })
    );
    assert_eq!(bytes[8..10], [1, 0], "the version that all releases read");
    assert!(matches!(x.decode().expect("decodes").values, Values::Doubles(d) if d[2] == 0.5));
}

#[test]
fn what_no_double_means_is_kept_beside_them() {
    let id = 9_007_199_254_740_993; // 2^53 + 1 becomes 2^53 as a double
    let numbers =
        [Some(Value::integer(id)), None, Some(number("0.0005")), Some(Value::integer(-id))];
    let bytes = assert_survives(&column(numbers));
    let block = BlockView::parse(&bytes).expect("parses");
    let x = block.column("x", Kind::Number).expect("exists");
    assert_eq!(x.encoding_name(), "mixed");
    assert_eq!(bytes[8..10], [2, 0], "older releases refuse it by name");
    // A zone covers numbers that are beyond their doubles.
    let (min, max) = (-9_007_199_254_740_994.0, 9_007_199_254_740_994.0);
    assert_eq!(x.zone(), Zone::Doubles { min, max });
}

#[test]
fn zones_cover_all_numbers() {
    let mut mixed = 0;
    for seed in 0..150 {
        println!("seed {seed}");
        let bytes = build(&random_rows(&mut Random::new(seed), 40), None);
        let block = BlockView::parse(&bytes).expect("parses");
        for column in block.columns().iter().filter(|column| column.logical() == Logical::Plain) {
            let Zone::Doubles { min, max } = column.zone() else { continue };
            let zone = [min, max].map(|end| Value::Number(Number::from_f64(end).expect("finite")));
            let data = column.decode().expect("decodes");
            let covered = |value: &Value| value.is_null() || zone[0] <= *value && *value <= zone[1];
            for row in 0..block.rows() {
                let value = data.value(row);
                assert!(covered(&value), "row {row}: {value:?} is beyond {zone:?}");
            }
            mixed += usize::from(column.encoding_name() == "mixed");
        }
    }
    assert!(mixed > 20, "only {mixed} mixed columns");
}

#[test]
fn every_number_survives_beside_any_other() {
    let texts = ["0.001", "123456789012345678", "1e300", "-9007199254740993", "5e-324", "0"];
    let wide = [(i128::MAX, 36), (i128::MIN, 0), (1 << 64, 0), (10i128.pow(29) + 1, 12), (1, 36)];
    let wide = wide.map(|(mantissa, scale)| {
        Value::Number(Decimal::new(mantissa, scale).expect("in range").into())
    });
    let all: Vec<Value> = texts.into_iter().map(number).chain(wide).collect();
    for left in &all {
        for right in &all {
            assert_survives(&column([Some(left.clone()), None, Some(right.clone())]));
        }
    }
    assert_survives(&column(all.into_iter().map(Some)));
}

#[test]
fn the_extremes_survive_exactly() {
    let extremes = [i64::MIN, i64::MAX, 0, -1].map(|value| Some(Value::integer(value)));
    let rows = column(extremes);
    assert_eq!(read(&build(&rows, None)), rows);
    let tiny = Decimal::new(1, 18).map(Number::from).expect("in range");
    let rows = column([Some(Value::Number(tiny)), None]);
    assert_eq!(read(&build(&rows, None)), rows);
}

#[test]
fn a_column_of_truths_is_bool_and_of_others_is_not() {
    let logical = |values: [Value; 2]| {
        let bytes = build(&column(values.map(Some)), None);
        BlockView::parse(&bytes).expect("parses").column("x", Kind::Number).expect("x").logical()
    };
    assert_eq!(logical([Value::Bool(true), Value::Bool(false)]), Logical::Bool);
    assert_eq!(logical([Value::Bool(true), Value::integer(1)]), Logical::Plain);
    assert_eq!(logical([Value::integer(0), Value::integer(1)]), Logical::Plain);
}

#[test]
fn strings_are_stored_the_cheaper_way() {
    let few = (0..5_000).map(|i| Some(Value::string(&format!("entry {}", i % 50))));
    let bytes = assert_survives(&column(few));
    assert_eq!(encoding_of(&bytes, Kind::String), "dictionary");
    let many = (0..5_000).map(|i| {
        (i % 3 > 0).then(|| Value::string(&format!("GET /users/{i}/orders/{} 200", i * i)))
    });
    let bytes = assert_survives(&column(many));
    assert_eq!(encoding_of(&bytes, Kind::String), "templates");
    let words = ["a", "big", "cat", "does", "every", "fine", "game", "here", "in", "joy"];
    let prose = |i: usize| (0..6).map(move |k| words[(i * 7_919 + 13) / 10usize.pow(k) % 10]);
    let many = (0..5_000)
        .map(|i| (i % 3 > 0).then(|| Value::string(&prose(i).collect::<Vec<_>>().join(" "))));
    let bytes = assert_survives(&column(many));
    assert_eq!(encoding_of(&bytes, Kind::String), "pages");
    let huge = "é".repeat(STRING_BYTES_MAX / 2);
    let bytes = assert_survives(&column(["", &huge, "", "b"].map(|s| Some(Value::string(s)))));
    assert_eq!(encoding_of(&bytes, Kind::String), "pages");
}

#[test]
fn dictionaries_are_sorted_and_codes_are_dense() {
    let rows = column(["b", "a", "c", "a"].map(|text| Some(Value::string(text))));
    let bytes = build(&rows, None);
    let block = BlockView::parse(&bytes).expect("parses");
    let data = block.column("x", Kind::String).expect("exists").decode().expect("decodes");
    let Values::Strings { codes, dictionary } = data.values else { panic!("strings") };
    assert_eq!(dictionary.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(codes, [1, 0, 2, 0]);
}

#[test]
fn lists_are_stored_the_cheaper_way() {
    let stack = |i: usize| Value::vector((0..20).map(|frame| format!("{} {frame}", i % 7)));
    let bytes = assert_survives(&column((0..2_000).map(|i| Some(stack(i)))));
    assert_eq!(encoding_of(&bytes, Kind::Vector), "list-dictionary");
    let set = |i: usize| Value::set([format!("{}", i % 40), format!("{}", i / 40)]);
    let bytes = assert_survives(&column((0..1_600).map(|i| (i % 9 > 0).then(|| set(i)))));
    assert_eq!(encoding_of(&bytes, Kind::Set), "lists");
}

#[test]
fn empty_lists_are_not_null() {
    let empty = Value::set::<&str>([]);
    let rows = column([Some(empty.clone()), None, Some(empty), Some(Value::set(["b", "a", "b"]))]);
    assert_eq!(read(&build(&rows, None)), rows);
    let only = column([Some(Value::vector::<&str>([])), None]);
    assert_eq!(read(&build(&only, None)), only);
    let long = Value::vector((0..LIST_ELEMENTS_MAX).map(|i| (i % 10).to_string()));
    assert_survives(&column([Some(long), Some(Value::vector(["z", "a", "z"]))]));
}

#[test]
fn a_name_may_have_all_kinds() {
    let values = [
        number("1"),
        Value::string("1"),
        Value::set(["1"]),
        Value::vector(["1"]),
        Value::string("2"),
    ];
    let rows = column(values.map(Some));
    let bytes = build(&rows, None);
    assert_eq!(read(&bytes), rows);
    let block = BlockView::parse(&bytes).expect("parses");
    let kinds: Vec<Kind> = block.columns().iter().map(|column| column.kind()).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Number, Kind::String, Kind::Set, Kind::Vector]);
    assert_eq!(block.column("x", Kind::String).expect("exists").null_count(), 3);
    assert!(block.column("y", Kind::String).is_none());
}

#[test]
fn a_block_says_what_it_is() {
    let batch = BatchId::new("batch-1").expect("valid");
    let mut rows = column([Some(Value::string("four")), None]);
    rows[0].time = Micros(-5);
    let bytes = build(&rows, Some(&batch));
    let block = BlockView::parse(&bytes).expect("parses");
    assert_eq!(block.rows(), 2);
    assert_eq!(block.time_range(), (Micros(-5), Micros(1)));
    assert_eq!(block.created_at(), Micros(77));
    assert_eq!(block.raw_bytes(), 8 + 8 + 4 + 4);
    let batch_rows = BatchRows { id: batch, content_hash: 0xc0_ffee, first_row: 0, rows: 2 };
    assert_eq!(block.batches(), [batch_rows]);
    assert_eq!(block.time_column().name(), &name("time"));
    assert_eq!(block.bytes().len() % 8, 0);
    let bodies: usize = block.columns().iter().map(|column| column.encoded_bytes()).sum();
    assert!(bodies < block.bytes().len());
}

#[test]
fn one_row_of_18_columns_is_at_most_a_kibibyte() {
    let mut builder = BlockBuilder::new(name("time"));
    for index in 0..17 {
        let column = name(&format!("column{index:02}"));
        if index % 2 == 0 {
            let id = builder.column(&column, Kind::Number);
            builder.push_number(id, number_of(index)).expect("taken");
        } else {
            let id = builder.column(&column, Kind::String);
            builder.push_string(id, &format!("value-{index}.example.com")).expect("taken");
        }
    }
    builder.end_row(Micros(1_790_000_000_123_456));
    let batch = BatchId::new("0f8fad5b-d9cb-469f-a165-70867728950e").expect("valid");
    let bytes = builder.finish(Micros(1_790_000_000_200_000), Some((&batch, 1))).expect("fits");
    println!("{} bytes", bytes.len());
    assert!(bytes.len() <= 1_024, "{} bytes", bytes.len());
}

fn number_of(index: i64) -> Number {
    format!("{}.25", index * 12_345).parse().expect("a number")
}

#[test]
fn rows_without_columns_survive() {
    let rows = column([None, None, None]);
    assert_eq!(read(&build(&rows, None)), rows);
    assert_same(&read(&build(&rows, None)), &rows);
}

/// A block written by version 1 of the frame and of the encodings. As long as that version exists,
/// the block must be readable, and the same rows must encode to the same bytes.
#[test]
fn version_1_is_frozen() {
    const FROZEN: &str = "\
        8948444c424c4b0101000000e8000000030000000400000002000000010000004e0000000d000000\
        000000000000000002000000000000004d000000000000003800000000000000016c02000402050b\
        021574ddea7467751a02016e000000020202bde1025bb0586245011d001d0474696d650002000006\
        2f0f9a9a275f6c3900000206017801000201050502aa4ed0e6b0a8b25802026964eeffc000000000\
        00000300000000005e47c2ab8e992672020002707105010000022001000001020004000000000000\
        001d000200000000010100020002000001000001030200026162000500000000";
    let mut rows = column([Some(Value::string("b")), None, Some(Value::string("a"))]);
    rows[1].cells.insert("n".to_owned(), number("-1.5"));
    rows[2].cells.insert("l".to_owned(), Value::set(["q", "p"]));
    let bytes = build(&rows, BatchId::new("id").as_ref());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, FROZEN);
    assert_eq!(read(&bytes), rows);
}

/// The same for version 2 of the encodings: code 6.
#[test]
fn version_2_is_frozen() {
    const FROZEN: &str = "\
        8948444c424c4b0102000000d8000000050000000200000000000000000000003700000000000000\
        000000000000000004000000000000004d0000000000000048000000000000000474696d65000200\
        0006bb1c101a05084eb600000414017800000601281a0246a3959b3194362a49afbc9af2d71ac49c\
        7500883ce4377e0093d5be72f552545801010004000200009c7500883ce4377e0000000000004043\
        000000000000d0bf000000000000d0bf48afbc9af2d71ac402010082808080808080200207ffffff\
        ffffffffffffffffff7f001700000000";
    let numbers = ["1e300", "9007199254740993", "-0.25"];
    let wide = Decimal::new(-(1 << 90), 7).expect("in range");
    let rows = column(
        numbers
            .map(|text| Some(number(text)))
            .into_iter()
            .chain([None, Some(Value::Number(wide.into()))]),
    );
    let bytes = build(&rows, None);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, FROZEN);
    assert_eq!(read(&bytes), rows);
}
