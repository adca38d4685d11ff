//! Rows of an answer as Arrow record batches.
//!
//! | column | Arrow |
//! |---|---|
//! | string, null | Utf8 |
//! | bool | Boolean |
//! | whole numbers | Int64 |
//! | other numbers | Float64; Decimal128 if they have more digits |
//! | time | Timestamp in microseconds, UTC |
//! | set, vector | List of Utf8 |
//! | histogram | Utf8: a JSON array of `[from, to, count]` |

mod typed_array;

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Decimal128Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use hadal_aggregate::{RowColumns, ValueColumn};
use hadal_frontend::{AnswerColumn, ColumnForm};
use hadal_http::json_text;
use hadal_types::Value;

use super::words;

/// Digits of a decimal of 16 bytes.
const DECIMAL_DIGITS: u8 = 38;

/// Makes record batches of the rows of one answer.
pub(super) struct RecordBatches {
    columns: Vec<AnswerColumn>,
    schema: SchemaRef,
}

impl RecordBatches {
    /// Batches with these columns, whose names differ.
    pub(super) fn new(columns: &[AnswerColumn]) -> Self {
        let fields =
            columns.iter().map(|column| Field::new(&column.name, data_type(column.form), true));
        let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        Self { columns: columns.to_vec(), schema }
    }

    /// The columns of all batches.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// A batch of these rows.
    ///
    /// # Errors
    /// Names the column and the value that does not fit it.
    pub(super) fn batch(&self, rows: &RowColumns) -> Result<RecordBatch, String> {
        let columns = self.columns.iter().zip(rows.columns());
        let arrays = columns.map(|(column, values)| match typed_array::of(column.form, values) {
            Some(array) => Ok(array),
            None => built(column, values, rows.rows()),
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, String>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(words)
    }
}

/// A column whose values are appended one by one.
fn built(column: &AnswerColumn, values: &ValueColumn, rows: usize) -> Result<ArrayRef, String> {
    let mut builder = ColumnBuilder::new(column.form, rows);
    for row in 0..rows {
        let value = values.get(row);
        if !builder.append(&value) {
            return Err(unfit(column, &value));
        }
    }
    builder.finish()
}

fn unfit(column: &AnswerColumn, value: &Value) -> String {
    let data_type = data_type(column.form);
    format!("column {:?} has the value {value}, which is no {data_type}", column.name)
}

fn data_type(form: ColumnForm) -> DataType {
    match form {
        ColumnForm::Bool => DataType::Boolean,
        ColumnForm::Whole => DataType::Int64,
        ColumnForm::Double => DataType::Float64,
        ColumnForm::Decimal { scale } => DataType::Decimal128(DECIMAL_DIGITS, scale.cast_signed()),
        ColumnForm::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnForm::Text | ColumnForm::Histogram => DataType::Utf8,
        ColumnForm::Texts => DataType::List(Arc::new(element())),
    }
}

/// The elements of lists.
fn element() -> Field {
    Field::new_list_field(DataType::Utf8, false)
}

/// A column of one batch.
enum ColumnBuilder {
    Bool(BooleanBuilder),
    Whole(Int64Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, u8),
    Time(TimestampMicrosecondBuilder),
    Text(StringBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl ColumnBuilder {
    fn new(form: ColumnForm, rows: usize) -> Self {
        match form {
            ColumnForm::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            ColumnForm::Whole => Self::Whole(Int64Builder::with_capacity(rows)),
            ColumnForm::Double => Self::Double(Float64Builder::with_capacity(rows)),
            ColumnForm::Decimal { scale } => {
                Self::Decimal(Decimal128Builder::with_capacity(rows), scale)
            }
            ColumnForm::Time => {
                let times = TimestampMicrosecondBuilder::with_capacity(rows);
                Self::Time(times.with_timezone("UTC"))
            }
            ColumnForm::Text | ColumnForm::Histogram => {
                Self::Text(StringBuilder::with_capacity(rows, 0))
            }
            ColumnForm::Texts => {
                Self::Texts(ListBuilder::new(StringBuilder::new()).with_field(element()))
            }
        }
    }

    /// Appends a value; returns whether it fits.
    fn append(&mut self, value: &Value) -> bool {
        match (self, value) {
            (Self::Bool(truths), Value::Bool(truth)) => truths.append_value(*truth),
            (Self::Bool(truths), Value::Null) => truths.append_null(),
            (Self::Whole(numbers), Value::Number(number)) => match number.to_i64() {
                Some(number) => numbers.append_value(number),
                None => return false,
            },
            (Self::Whole(numbers), Value::Null) => numbers.append_null(),
            (Self::Double(numbers), Value::Number(number)) => numbers.append_value(number.to_f64()),
            (Self::Double(numbers), Value::Null) => numbers.append_null(),
            (Self::Decimal(numbers, scale), Value::Number(number)) => {
                match ColumnForm::mantissa(*number, *scale) {
                    Some(mantissa) => numbers.append_value(mantissa),
                    None => return false,
                }
            }
            (Self::Decimal(numbers, _), Value::Null) => numbers.append_null(),
            (Self::Time(times), Value::Time(time)) => times.append_value(time.0),
            (Self::Time(times), Value::Null) => times.append_null(),
            (Self::Text(texts), Value::String(text)) => texts.append_value(text),
            (Self::Text(texts), Value::Null) => texts.append_null(),
            (Self::Text(texts), histogram @ Value::Histogram(_)) => {
                texts.append_value(json_text(histogram));
            }
            (Self::Text(texts), other) => texts.append_value(other.to_string()),
            (Self::Texts(lists), Value::Set(elements) | Value::Vector(elements)) => {
                elements.iter().for_each(|element| lists.values().append_value(element));
                lists.append(true);
            }
            (Self::Texts(lists), Value::Null) => lists.append(false),
            _ => return false,
        }
        true
    }

    fn finish(self) -> Result<ArrayRef, String> {
        Ok(match self {
            Self::Bool(mut truths) => Arc::new(truths.finish()),
            Self::Whole(mut numbers) => Arc::new(numbers.finish()),
            Self::Double(mut numbers) => Arc::new(numbers.finish()),
            Self::Decimal(mut numbers, scale) => {
                let numbers = numbers.finish();
                let scale = scale.cast_signed();
                let numbers = numbers.with_precision_and_scale(DECIMAL_DIGITS, scale);
                Arc::new(numbers.map_err(words)?)
            }
            Self::Time(mut times) => Arc::new(times.finish()),
            Self::Text(mut texts) => Arc::new(texts.finish()),
            Self::Texts(mut lists) => Arc::new(lists.finish()),
        })
    }
}
