//! Files are written with the same crates' writers, and read as any file is.

use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringRunBuilder,
};
use arrow_array::types::{Float16Type, Int32Type, IntervalMonthDayNano};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal32Array,
    Decimal128Array, Decimal256Array, DictionaryArray, DurationMillisecondArray,
    FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, IntervalYearMonthArray, LargeListArray, LargeStringArray,
    ListViewArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt64Array, UnionArray,
};
use arrow_buffer::i256;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema, UnionFields};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use super::super::{Reading, Rows, all_lines, open_bytes};
use crate::error::Error;

/// A column of two rows.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .expect("a batch")
}

fn as_parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(1_000))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
    writer.write(batch).expect("a row group");
    writer.close().expect("a file");
    bytes
}

fn as_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("a batch");
    writer.into_inner().expect("a file")
}

fn as_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("a batch");
    writer.into_inner().expect("a stream")
}

fn opened(bytes: Vec<u8>) -> Result<Box<dyn Rows>, Error> {
    open_bytes(bytes, Reading::default())
}

/// The rows of an Arrow stream, and the notes on them.
fn read(batch: &RecordBatch, time: Option<&str>) -> (Vec<String>, Vec<String>) {
    let mut rows = opened(as_stream(batch)).expect("opens");
    rows.set_time_column(time);
    let lines = all_lines(&mut *rows).expect("rows");
    (lines, rows.notes())
}

/// The rows of one column `x`, and the notes on it.
fn read_column(array: impl Array + 'static) -> (Vec<String>, Vec<String>) {
    read(&batch(vec![("x", Arc::new(array))]), None)
}

/// The rows of one column that loses nothing.
fn lines(array: impl Array + 'static) -> Vec<String> {
    let (lines, notes) = read_column(array);
    assert!(notes.is_empty(), "{notes:?}");
    lines
}

fn rows<const N: usize>(values: [&str; N]) -> [String; N] {
    values.map(|value| match value {
        "" => "{}".to_owned(),
        value => format!("{{\"x\":{value}}}"),
    })
}

#[test]
fn numbers_and_truths_keep_their_digits() {
    assert_eq!(lines(NullArray::new(2)), rows(["", ""]));
    assert_eq!(
        lines(BooleanArray::from(vec![Some(true), None, Some(false)])),
        rows(["true", "", "false"])
    );
    assert_eq!(lines(Int8Array::from(vec![Some(-128), None])), rows(["-128", ""]));
    assert_eq!(
        lines(Int64Array::from(vec![i64::MIN, i64::MAX])),
        rows(["-9223372036854775808", "9223372036854775807"])
    );
    let (large, notes) = read_column(UInt64Array::from(vec![u64::MAX, 1 << 63]));
    assert_eq!(large, rows(["18446744073709551615", "9223372036854775808"]));
    assert!(notes.is_empty(), "{notes:?}");
    let half = arrow_array::PrimitiveArray::<Float16Type>::from_iter_values(
        [1.5_f32, -2.0].map(serde_half),
    );
    assert_eq!(lines(half), rows(["1.5", "-2.0"]));
    assert_eq!(lines(Float32Array::from(vec![0.1, 1e30])), rows(["0.1", "1e+30"]));
    let (doubles, notes) = read_column(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY]));
    assert_eq!(doubles, rows(["0.1", "", ""]));
    assert_eq!(notes, ["column x: NaN and infinity became null, 2 values"]);
}

/// A half-precision number of the crate `half`, without a dependency on it.
fn serde_half(value: f32) -> <Float16Type as arrow_array::ArrowPrimitiveType>::Native {
    <Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_f32(value)
}

#[test]
fn decimals_are_exact() {
    let of = |array: Decimal128Array, scale| {
        array.with_precision_and_scale(38, scale).expect("a decimal")
    };
    assert_eq!(
        lines(of(Decimal128Array::from(vec![Some(-12_345), None, Some(5)]), 2)),
        rows(["-123.45", "", "0.05"])
    );
    assert_eq!(lines(of(Decimal128Array::from(vec![12]), -3)), rows(["12000"]));
    let small = Decimal32Array::from(vec![150]).with_precision_and_scale(9, 1).expect("a decimal");
    assert_eq!(lines(small), rows(["15.0"]));
    let (wide, notes) = read_column(of(Decimal128Array::from(vec![i128::MAX / 10]), 30));
    assert_eq!(wide, rows(["17014118.346046923173168730371588410572"]));
    assert!(notes.is_empty(), "{notes:?}");
    let digits = "123456789012345678901234567890123456789012345";
    let wide = Decimal256Array::from(vec![i256::from_string(digits).expect("a number")]);
    let (wide, notes) = read_column(wide.with_precision_and_scale(76, 40).expect("a decimal"));
    assert_eq!(wide, rows(["12345.6789012345678901234567890123456789012345"]));
    assert!(notes[0].starts_with("column x: more digits"), "{notes:?}");
}

#[test]
fn texts_and_bytes_are_strings() {
    assert_eq!(
        lines(StringArray::from(vec![Some("a\"\n\u{e9}"), None, Some("")])),
        rows(["\"a\\\"\\n\u{e9}\"", "", "\"\""])
    );
    assert_eq!(lines(LargeStringArray::from(vec!["a"])), rows(["\"a\""]));
    assert_eq!(
        lines(StringViewArray::from(vec!["a", "longer than twelve bytes"])),
        rows(["\"a\"", "\"longer than twelve bytes\""])
    );
    let (bytes, notes) = read_column(BinaryArray::from(vec![&b"text"[..], b"\xff\x00"]));
    assert_eq!(bytes, rows(["\"text\"", "\"\\\\xff00\""]));
    assert_eq!(notes, ["column x: bytes that are no text became hexadecimal digits, 1 value"]);
}

#[test]
fn sixteen_bytes_are_a_uuid_where_the_file_says_so() {
    let mut builder = FixedSizeBinaryBuilder::new(16);
    builder.append_value([0xab; 16]).expect("a value");
    let array: ArrayRef = Arc::new(builder.finish());
    let name = ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
    let plain = Field::new("x", array.data_type().clone(), true);
    let uuid = plain.clone().with_metadata([name]);
    for (field, expected) in [
        (plain, format!("{{\"x\":\"\\\\x{}\"}}", "ab".repeat(16))),
        (uuid, "{\"x\":\"abababab-abab-abab-abab-abababababab\"}".to_owned()),
    ] {
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![Arc::clone(&array)]).expect("a batch");
        assert_eq!(read(&batch, None).0, std::slice::from_ref(&expected));
        let parquet = opened(as_parquet(&batch, Compression::UNCOMPRESSED));
        assert_eq!(all_lines(&mut *parquet.expect("opens")).expect("rows"), [expected]);
    }
}

#[test]
fn times_are_iso_and_lengths_of_time_numbers() {
    assert_eq!(lines(Date32Array::from(vec![0, -1])), rows(["\"1970-01-01\"", "\"1969-12-31\""]));
    assert_eq!(
        lines(Date64Array::from(vec![86_400_000, 1])),
        rows(["\"1970-01-02\"", "\"1970-01-01T00:00:00.001\""])
    );
    assert_eq!(lines(Time32MillisecondArray::from(vec![61_500])), rows(["\"00:01:01.5\""]));
    assert_eq!(lines(Time64NanosecondArray::from(vec![1])), rows(["\"00:00:00.000000001\""]));
    assert_eq!(lines(DurationMillisecondArray::from(vec![1_500, -1])), rows(["1.500", "-0.001"]));
    assert_eq!(lines(IntervalYearMonthArray::from(vec![14])), rows(["\"P14M\""]));
    let interval = IntervalMonthDayNano::new(1, -2, 500_000_000);
    assert_eq!(lines(IntervalMonthDayNanoArray::from(vec![interval])), rows(["\"P1M-2DT0.5S\""]));
    let seconds = TimestampSecondArray::from(vec![978_307_260]);
    assert_eq!(lines(seconds.clone()), rows(["\"2001-01-01T00:01:00\""]));
    assert_eq!(lines(seconds.clone().with_timezone("UTC")), rows(["\"2001-01-01T00:01:00Z\""]));
    let (zoned, notes) = read_column(seconds.with_timezone("Europe/Berlin"));
    assert_eq!(zoned, rows(["\"2001-01-01T00:01:00Z\""]));
    assert_eq!(notes, ["column x: its zone Europe/Berlin is not kept, times are in UTC"]);
    let (far, notes) = read_column(TimestampMicrosecondArray::from(vec![i64::MAX]));
    assert_eq!(far, rows(["\"9223372036854775807 us\""]));
    assert_eq!(notes, ["column x: times outside the years 1 to 9999 became strings, 1 value"]);
}

#[test]
fn only_the_time_column_loses_nanoseconds() {
    let times: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1, 1_000, 2_001]));
    let batch = batch(vec![("a", Arc::clone(&times)), ("b", times)]);
    let (lines, notes) = read(&batch, Some("b"));
    let time = "\"1970-01-01T00:00:00.000000001\"";
    assert_eq!(lines[0], format!("{{\"a\":{time},\"b\":{time}}}"));
    assert_eq!(notes, ["column b: nanoseconds cut to microseconds, 2 values"]);
}

#[test]
fn lists_are_arrays() {
    let mut builder = ListBuilder::new(StringBuilder::new());
    builder.append_value([Some("a"), Some("b")]);
    builder.append_value([None, Some("c")]);
    builder.append_null();
    builder.append_value([None::<&str>; 0]);
    let (list, notes) = read_column(builder.finish());
    assert_eq!(list, rows(["[\"a\",\"b\"]", "[null,\"c\"]", "", "[]"]));
    assert_eq!(notes, ["column x: nulls within lists were left out, 1 element"]);
    let ints = |lists: Vec<Option<Vec<Option<i32>>>>| lists;
    let pair = ints(vec![Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])]);
    let large = LargeListArray::from_iter_primitive::<Int32Type, _, _>(pair.clone());
    assert_eq!(lines(large), rows(["[1,2]", "[3,4]"]));
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pair.clone(), 2);
    assert_eq!(lines(fixed.slice(1, 1)), rows(["[3,4]"]));
    let views = ListViewArray::from_iter_primitive::<Int32Type, _, _>(pair);
    assert_eq!(lines(views), rows(["[1,2]", "[3,4]"]));
}

#[test]
fn elements_are_texts_and_lose_nothing() {
    let mut builder = ListBuilder::new(arrow_array::builder::Float64Builder::new());
    builder.append_value([Some(0.5), Some(f64::NAN)]);
    assert_eq!(lines(builder.finish()), rows(["[0.5,\"NaN\"]"]));
    let mut builder = ListBuilder::new(arrow_array::builder::UInt64Builder::new());
    builder.append_value([Some(u64::MAX)]);
    assert_eq!(lines(builder.finish()), rows(["[18446744073709551615]"]));
}

#[test]
fn lists_of_lists_are_json_text() {
    let mut builder = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
    builder.values().append_value([Some(1), None]);
    builder.append(true);
    let (nested, notes) = read_column(builder.finish());
    assert_eq!(nested, rows(["[[1,null]]"]));
    assert_eq!(notes, ["column x: lists of lists or objects became JSON text, 1 value"]);
}

fn point(values: Vec<Option<i32>>, nulls: Vec<bool>) -> StructArray {
    let fields = vec![Field::new("n", arrow_schema::DataType::Int32, true)];
    let array: ArrayRef = Arc::new(Int32Array::from(values));
    StructArray::new(fields.into(), vec![array], Some(nulls.into()))
}

#[test]
fn structs_are_spread_to_dotted_names() {
    let inner = point(vec![Some(1), Some(2), None], vec![true, false, true]);
    let fields = vec![
        Field::new("p", inner.data_type().clone(), true),
        Field::new("s", arrow_schema::DataType::Utf8, true),
    ];
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let outer = StructArray::new(fields.into(), vec![Arc::new(inner), texts], None);
    assert_eq!(lines(outer), [r#"{"x.p.n":1,"x.s":"a"}"#, r#"{"x.s":"b"}"#, r#"{"x.s":"c"}"#]);
}

#[test]
fn names_are_made_distinct() {
    let one: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let fields = ["a", "", "a"].map(|name| Field::new(name, arrow_schema::DataType::Int32, true));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let batch = RecordBatch::try_new(schema, vec![one; 3]).expect("a batch");
    assert_eq!(read(&batch, None).0, [r#"{"a":1,"column_2":1,"a_2":1}"#]);
}

#[test]
fn maps_and_structs_in_lists_are_objects() {
    let mut builder = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new());
    builder.keys().append_value(7);
    builder.values().append_value("a");
    builder.keys().append_value(8);
    builder.values().append_null();
    builder.append(true).expect("a map");
    builder.append(false).expect("a null");
    assert_eq!(lines(builder.finish()), rows(["{\"7\":\"a\"}", ""]));
    let values = point(vec![Some(1), None], vec![true, true]);
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let offsets = arrow_buffer::OffsetBuffer::new(vec![0, 2].into());
    let list = arrow_array::ListArray::new(field, offsets, Arc::new(values), None);
    assert_eq!(read_column(list).0, rows(["[{\"n\":1},{}]"]));
}

#[test]
fn dictionaries_runs_and_unions_are_their_values() {
    let words: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("a")].into_iter().collect();
    assert_eq!(lines(words), rows(["\"a\"", "", "\"a\""]));
    let none: DictionaryArray<Int32Type> = vec![None::<&str>; 2].into_iter().collect();
    assert_eq!(lines(none), rows(["", ""]));
    let mut runs = StringRunBuilder::<Int32Type>::new();
    runs.extend([Some("a"), Some("a"), None, Some("b")]);
    assert_eq!(lines(runs.finish()), rows(["\"a\"", "\"a\"", "", "\"b\""]));
    let fields = UnionFields::try_new(
        [3, 5],
        [
            Field::new("i", arrow_schema::DataType::Int32, true),
            Field::new("s", arrow_schema::DataType::Utf8, true),
        ],
    );
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), None])),
        Arc::new(StringArray::from(vec!["a"])),
    ];
    let offsets = Some(vec![0, 0, 1].into());
    let union =
        UnionArray::try_new(fields.expect("fields"), vec![3, 5, 3].into(), offsets, children);
    assert_eq!(lines(union.expect("a union")), rows(["1", "\"a\"", ""]));
}

/// Two columns of `count` rows.
fn numbered(count: i32) -> RecordBatch {
    batch(vec![
        ("n", Arc::new((0..count).map(Some).collect::<Int32Array>())),
        ("s", Arc::new((0..count).map(|n| Some(format!("s{}", n % 7))).collect::<StringArray>())),
    ])
}

#[test]
fn every_container_gives_the_same_rows() {
    let batch = numbered(2_500);
    let expected = read(&batch, None).0;
    assert_eq!(expected.len(), 2_500);
    assert_eq!(expected[2_499], r#"{"n":2499,"s":"s0"}"#);
    let mut files = vec![as_file(&batch)];
    files.extend(
        [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::BROTLI(parquet::basic::BrotliLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
        ]
        .map(|compression| as_parquet(&batch, compression)),
    );
    files.push(zstd::encode_all(&*as_parquet(&batch, Compression::SNAPPY), 0).expect("zstd"));
    files.push(zstd::encode_all(&*as_file(&batch), 0).expect("zstd"));
    for file in files {
        assert_eq!(all_lines(&mut *opened(file).expect("opens")).expect("rows"), expected);
    }
}

#[test]
fn the_time_column_is_told_by_name_and_type() {
    let time = || Arc::new(TimestampSecondArray::from(vec![0])) as ArrayRef;
    let day = || Arc::new(Date32Array::from(vec![0])) as ArrayRef;
    let number = || Arc::new(Int64Array::from(vec![0])) as ArrayRef;
    for (columns, expected) in [
        (vec![("a", number()), ("b", time()), ("c", time())], Some("b")),
        (vec![("a", day()), ("ts", number())], Some("a")),
        (vec![("a", time()), ("date", day()), ("time", number())], Some("date")),
        (vec![("t", time()), ("timestamp", time())], Some("timestamp")),
        (vec![("a", number())], None),
    ] {
        let rows = opened(as_stream(&batch(columns))).expect("opens");
        assert_eq!(rows.time_column(), expected);
    }
}

#[test]
fn what_is_broken_says_so_and_gives_what_came_before() {
    let whole = as_stream(&numbered(3));
    let mut rows = opened(whole[..whole.len() - 100].to_vec()).expect("opens");
    assert!(all_lines(&mut *rows).is_err());
    for (bytes, reason) in [
        (b"PAR1 and no more".to_vec(), "test: "),
        (b"ARROW1\0\0 and no more".to_vec(), "test: "),
        (b"\xff\xff\xff\xff\0".to_vec(), "test: "),
    ] {
        let Err(error) = opened(bytes) else { panic!("opened {reason}") };
        assert!(error.to_string().starts_with(reason), "{error}");
    }
}

proptest! {
    /// Files come from anywhere: a wrong byte gives an error or another value, but never ends the
    /// program.
    #[test]
    fn hostile_bytes_do_no_harm(
        kind in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = match kind {
            0 => as_parquet(&numbered(20), Compression::SNAPPY),
            1 => as_file(&numbered(20)),
            _ => as_stream(&numbered(20)),
        };
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(mut rows) = opened(bytes) {
            // With another first byte it may be a text.
            let mut out = Vec::new();
            while let Ok(true) = rows.next(&mut out) {}
        }
    }
}
