//! Answers are read back with the readers of Arrow and Parquet.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use hadal_aggregate::{RowColumns, SparseRow};
use hadal_frontend::{AnswerColumn, ColumnForm};
use hadal_http::{AnswerFormat, SUMMARY_KEY};
use hadal_types::value::HistogramBucket;
use hadal_types::{Micros, Number, Value};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_stream::ArrowStream;
use super::parquet_file::ParquetFile;

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect("a number"))
}

fn columns() -> Vec<AnswerColumn> {
    let forms = [
        ("bool", ColumnForm::Bool),
        ("whole", ColumnForm::Whole),
        ("double", ColumnForm::Double),
        ("decimal", ColumnForm::Decimal { scale: 2 }),
        ("time", ColumnForm::Time),
        ("text", ColumnForm::Text),
        ("texts", ColumnForm::Texts),
        ("histogram", ColumnForm::Histogram),
    ];
    forms.map(|(name, form)| AnswerColumn { name: name.to_owned(), form }).into()
}

fn rows() -> Vec<SparseRow> {
    let bucket =
        HistogramBucket { from: Number::ZERO, to: Number::integer(1), count: Number::integer(2) };
    let full = vec![
        Value::Bool(true),
        Value::integer(-7),
        number("0.5"),
        number("12345678901234567890.12"),
        Value::Time(Micros(1_500_000)),
        Value::string("é"),
        Value::set(["b", "a"]),
        Value::Histogram(Arc::new([bucket])),
        Value::string("beyond the columns"),
    ];
    vec![SparseRow::from(full), SparseRow::new(9)]
}

fn columns_of(rows: &[SparseRow]) -> RowColumns {
    RowColumns::of_rows(rows, rows.first().map_or(0, SparseRow::len))
}

/// An answer of two batches.
fn answer(format: &dyn AnswerFormat) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = format.begin(&columns(), "{\"ended\":false}", &mut out).expect("begun");
    encoder.batch(&columns_of(&rows()), &mut out).expect("a batch");
    encoder.batch(&columns_of(&rows()[..1]), &mut out).expect("a batch");
    encoder.end("{\"ended\":true}", &mut out).expect("an end");
    out
}

fn check(batch: &RecordBatch) {
    assert_eq!(batch.num_columns(), 8);
    let column = |index: usize| batch.column(index);
    assert!(column(0).as_boolean().value(0));
    assert_eq!(column(1).as_primitive::<Int64Type>().value(0), -7);
    assert!((column(2).as_primitive::<Float64Type>().value(0) - 0.5).abs() < f64::EPSILON);
    let decimals = column(3).as_primitive::<Decimal128Type>();
    assert_eq!(decimals.value_as_string(0), "12345678901234567890.12");
    let times = column(4).as_primitive::<TimestampMicrosecondType>();
    assert_eq!((times.value(0), times.timezone()), (1_500_000, Some("UTC")));
    assert_eq!(column(5).as_string::<i32>().value(0), "é");
    let list = column(6).as_list::<i32>().value(0);
    let texts: Vec<_> = list.as_string::<i32>().iter().flatten().collect();
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(column(7).as_string::<i32>().value(0), "[[0,1,2]]");
    if batch.num_rows() == 2 {
        assert!((0..8).all(|index| column(index).is_null(1)), "nulls");
    }
}

#[test]
fn arrow_streams_are_read_back_and_the_summary_follows() {
    let mut bytes = Cursor::new(answer(&ArrowStream));
    let mut reader = StreamReader::try_new(&mut bytes, None).expect("a stream");
    assert_eq!(reader.schema().metadata()[SUMMARY_KEY], "{\"ended\":false}");
    let batches: Vec<RecordBatch> = reader.by_ref().map(|batch| batch.expect("a batch")).collect();
    batches.iter().for_each(check);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
    drop(reader);
    let second = StreamReader::try_new(&mut bytes, None).expect("a second stream");
    assert_eq!(second.schema().metadata()[SUMMARY_KEY], "{\"ended\":true}");
    assert_eq!(second.count(), 0);
}

#[test]
fn parquet_files_are_read_back_with_the_summary_in_their_footer() {
    let bytes = bytes::Bytes::from(answer(&ParquetFile));
    let broken = bytes.slice(..bytes.len() - 9);
    assert!(ParquetRecordBatchReaderBuilder::try_new(broken).is_err(), "it has no end");
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("a file");
    let metadata = builder.metadata();
    assert_eq!(metadata.num_row_groups(), 2);
    let pairs = metadata.file_metadata().key_value_metadata().expect("metadata");
    let summary = pairs.iter().find(|pair| pair.key == SUMMARY_KEY).expect("a summary");
    assert_eq!(summary.value.as_deref(), Some("{\"ended\":true}"));
    let batches: Vec<RecordBatch> =
        builder.build().expect("a reader").map(|batch| batch.expect("a batch")).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
    check(&batches[0]);
}

#[test]
fn an_answer_without_rows_has_its_columns() {
    for format in [&ArrowStream as &dyn AnswerFormat, &ParquetFile] {
        let mut out = Vec::new();
        let encoder = format.begin(&columns(), "{}", &mut out).expect("begun");
        encoder.end("{}", &mut out).expect("an end");
        if format.media_type().ends_with("parquet") {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(out));
            assert_eq!(builder.expect("a file").schema().fields().len(), 8);
        } else {
            let reader = StreamReader::try_new(Cursor::new(out), None).expect("a stream");
            assert_eq!(reader.schema().fields().len(), 8);
            assert_eq!(reader.count(), 0);
        }
    }
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let columns = [AnswerColumn { name: "x".to_owned(), form: ColumnForm::Whole }];
    let row = SparseRow::from([number("0.5")]);
    for format in [&ArrowStream as &dyn AnswerFormat, &ParquetFile] {
        let mut out = Vec::new();
        let mut encoder = format.begin(&columns, "{}", &mut out).expect("begun");
        let reason =
            encoder.batch(&columns_of(std::slice::from_ref(&row)), &mut out).expect_err("refused");
        assert!(reason.contains("\"x\"") && reason.contains("0.5"), "{reason}");
    }
}
