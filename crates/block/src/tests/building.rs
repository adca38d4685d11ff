//! The builder's rules.

use std::time::Instant;

use hadal_types::limits::{BLOCK_ROWS_MAX, LIST_ELEMENTS_MAX, STRING_BYTES_MAX};
use hadal_types::{Kind, Logical, Micros, Number, Value};

use super::model::{Random, Row, assert_same, build, name, push, random_rows, read};
use crate::{BlockBuilder, BlockError, BlockView, PushError};

#[test]
fn an_abandoned_row_leaves_nothing() {
    let mut builder = BlockBuilder::new(name("time"));
    let push_all = |builder: &mut BlockBuilder, values: [&Value; 4]| {
        for (column, value) in ["a", "b", "c", "d"].into_iter().zip(values) {
            push(builder, column, value);
        }
    };
    let first = [&Value::Bool(true), &Value::string("s"), &Value::set(["e"]), &Value::integer(1)];
    push_all(&mut builder, first);
    builder.end_row(Micros(1));
    let raw_bytes = builder.raw_bytes();
    let tiny = Value::Number("0.000000000000000001".parse().expect("a number"));
    let bad = [&tiny, &Value::string("gone"), &Value::set(["gone"]), &Value::integer(i64::MAX)];
    push_all(&mut builder, bad);
    push(&mut builder, "only here", &Value::integer(1));
    builder.abandon_row();
    assert_eq!(builder.raw_bytes(), raw_bytes);
    push_all(&mut builder, first);
    builder.end_row(Micros(2));
    // A pending row when the block is finished.
    push(&mut builder, "b", &Value::string("also gone"));
    let bytes = builder.finish(Micros(77), None).expect("fits");

    let row = |time| Row {
        time: Micros(time),
        cells: ["a", "b", "c", "d"]
            .map(str::to_owned)
            .into_iter()
            .zip(first.map(Clone::clone))
            .collect(),
    };
    let expected = [row(1), row(2)];
    assert_eq!(read(&bytes), expected);
    assert_eq!(bytes, build(&expected, None));
    let block = BlockView::parse(&bytes).expect("parses");
    assert_eq!(block.column("a", Kind::Number).expect("a").logical(), Logical::Bool);
}

#[test]
fn rows_of_a_large_block_are_in_the_order_of_their_times() {
    for seed in [3, 5, 8] {
        let rows = random_rows(&mut Random::new(seed), BLOCK_ROWS_MAX / 2 + 1);
        let mut expected = rows.clone();
        expected.sort_by_key(|row| row.time);
        assert_same(&read(&build(&rows, None)), &expected);
        let some = &rows[1..];
        assert_same(&read(&build(some, None)), some);
    }
}

#[test]
fn a_builder_goes_on_after_a_block() {
    let mut builder = BlockBuilder::new(name("time"));
    let mut cut = |rows: &[Row]| {
        for row in rows {
            for (column, value) in &row.cells {
                push(&mut builder, column, value);
            }
            builder.end_row(row.time);
        }
        // The pending row is dropped.
        push(&mut builder, "c1", &Value::integer(1));
        let is_empty = rows.is_empty();
        let block = builder.cut(Micros(77), None);
        assert_eq!((builder.rows(), builder.raw_bytes()), (0, 0));
        if is_empty {
            assert_eq!(block, Err(BlockError::Empty))
        } else {
            assert_eq!(block, Ok(build(rows, None)))
        }
    };
    for seed in 0..30 {
        // Columns appear, are missing and appear again, with values of other kinds.
        cut(&random_rows(
            &mut Random::new(seed % 7),
            1 + 40 * usize::try_from(seed % 3).expect("few"),
        ));
        cut(&[]);
    }
}

#[test]
fn texts_that_hardly_repeat_are_stored_right_in_any_encoding() {
    let text = |index: usize| format!("{:016x}", index.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let row = |index: usize| Row {
        time: Micros(i64::try_from(index).expect("fits")),
        cells: [("s".to_owned(), Value::string(&text(index)))].into_iter().collect(),
    };
    // All strings distinct; then each a second time; then few strings many times.
    for numbers in [
        (0..20_000).collect::<Vec<usize>>(),
        (0..20_000).chain(0..20_000).collect(),
        (0..6_000).chain((0..50_000).map(|index| index % 6_000)).collect(),
    ] {
        let rows: Vec<Row> = numbers.into_iter().map(row).collect();
        let mut expected = rows.clone();
        if rows.len() > BLOCK_ROWS_MAX / 2 {
            expected.sort_by_key(|row| row.time);
        }
        assert_same(&read(&build(&rows, None)), &expected);
    }
}

#[test]
fn a_row_has_one_value_per_name() {
    let mut builder = BlockBuilder::new(name("time"));
    let time = builder.column(&name("time"), Kind::Number);
    let time_text = builder.column(&name("time"), Kind::String);
    let number = builder.column(&name("x"), Kind::Number);
    let string = builder.column(&name("x"), Kind::String);
    assert_eq!(builder.column(&name("x"), Kind::String), string);
    assert_eq!(builder.push_number(time, Number::ZERO), Err(PushError::SecondValue));
    assert_eq!(builder.push_string(time_text, ""), Err(PushError::SecondValue));
    assert_eq!(builder.push_string(number, ""), Err(PushError::Kind(Kind::Number)));
    assert_eq!(builder.push_list(string, &[]), Err(PushError::Kind(Kind::String)));
    assert_eq!(builder.push_number(number, Number::ZERO), Ok(()));
    assert_eq!(builder.push_number(number, Number::ZERO), Err(PushError::SecondValue));
    assert_eq!(builder.push_string(string, "0"), Err(PushError::SecondValue));
    builder.end_row(Micros(0));
    assert_eq!(builder.push_string(string, "0"), Ok(()));
    builder.end_row(Micros(0));
    assert_eq!(read(&builder.finish(Micros(0), None).expect("fits")).len(), 2);
}

#[test]
fn what_is_too_long_is_refused() {
    let mut builder = BlockBuilder::new(name("time"));
    let string = builder.column(&name("s"), Kind::String);
    let set = builder.column(&name("l"), Kind::Set);
    let long = "x".repeat(STRING_BYTES_MAX + 1);
    let too_long = Err(PushError::StringTooLong(STRING_BYTES_MAX + 1));
    assert_eq!(builder.push_string(string, &long), too_long);
    assert_eq!(builder.push_list(set, &["", &long]), too_long);
    let many = vec![""; LIST_ELEMENTS_MAX + 1];
    assert_eq!(builder.push_list(set, &many), Err(PushError::ListTooLong(LIST_ELEMENTS_MAX + 1)));
    assert_eq!(builder.push_list(set, &many[1..]), Ok(()));
}

#[test]
fn a_block_has_between_one_and_65536_rows() {
    let builder = BlockBuilder::new(name("time"));
    assert_eq!(builder.finish(Micros(0), None), Err(BlockError::Empty));
    let mut builder = BlockBuilder::new(name("time"));
    for row in 0..BLOCK_ROWS_MAX {
        assert!(!builder.is_full(), "{row}");
        builder.end_row(Micros(0));
    }
    assert!(builder.is_full());
    builder.end_row(Micros(0));
    let too_many = Err(BlockError::TooManyRows(BLOCK_ROWS_MAX + 1));
    assert_eq!(builder.finish(Micros(0), None), too_many);
}

#[test]
fn a_builder_is_full_before_a_block_is_too_large() {
    let mut builder = BlockBuilder::new(name("time"));
    let id = builder.column(&name("s"), Kind::String);
    let text = "x".repeat(STRING_BYTES_MAX);
    while !builder.is_full() {
        builder.push_string(id, &text).expect("taken");
        builder.end_row(Micros(0));
    }
    assert!(builder.rows() < 3_000);
    assert!(builder.finish(Micros(0), None).expect("fits").len() < 70_000);
}

#[test]
fn a_hundred_thousand_columns_stay_small() {
    let start = Instant::now();
    let mut builder = BlockBuilder::new(name("time"));
    for row in 0..10_000 {
        for column in row * 10..row * 10 + 10 {
            push(&mut builder, &format!("column {column}"), &Value::string("v"));
        }
        builder.end_row(Micros(0));
    }
    let bytes = builder.finish(Micros(0), None).expect("fits");
    println!("{} bytes after {:?}", bytes.len(), start.elapsed());
    assert!(bytes.len() < 100_000 * 100, "{} bytes", bytes.len());
    let block = BlockView::parse(&bytes).expect("parses");
    assert_eq!(block.columns().len(), 100_001);
    let last = block.column("column 99999", Kind::String).expect("exists");
    assert_eq!(last.decode().expect("decodes").value(9_999), Value::string("v"));
}
