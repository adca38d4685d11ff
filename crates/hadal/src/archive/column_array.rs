//! The values of one column in some rows of a block, as an Arrow array.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Decimal128Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{ArrowError, Field};
use hadal_block::{ColumnData, Values};
use hadal_types::{Decimal, Kind, Number};

use super::columns::Form;

/// Returns the values of these rows. All are null if the block has no such column.
pub(super) fn array(
    data: Option<&ColumnData<'_>>,
    form: Form,
    rows: &[u32],
) -> Result<ArrayRef, ArrowError> {
    let Some(data) = data else { return Ok(new_null_array(&form.data_type(), rows.len())) };
    let rows = || rows.iter().map(|&row| row as usize);
    let mantissas = || rows().map(|row| mantissa(data, row));
    Ok(match form {
        Form::Time => {
            let mut times = TimestampMicrosecondBuilder::new().with_timezone("UTC");
            mantissas().for_each(|time| times.append_option(time.map(|(time, _)| time)));
            Arc::new(times.finish())
        }
        Form::Bool => {
            let mut truths = BooleanBuilder::new();
            mantissas().for_each(|truth| truths.append_option(truth.map(|(truth, _)| truth != 0)));
            Arc::new(truths.finish())
        }
        Form::Whole => {
            let mut numbers = Int64Builder::new();
            mantissas().for_each(|number| numbers.append_option(number.map(|(number, _)| number)));
            Arc::new(numbers.finish())
        }
        Form::Decimal { digits, scale } => {
            let mut numbers = Decimal128Builder::new();
            let scaled = |(mantissa, value_scale): (i64, u8)| {
                i128::from(mantissa) * 10i128.pow(scale.saturating_sub(value_scale).into())
            };
            mantissas().for_each(|number| numbers.append_option(number.map(scaled)));
            let numbers = numbers.finish();
            Arc::new(numbers.with_precision_and_scale(digits, scale.cast_signed())?)
        }
        Form::Double => {
            let mut numbers = Float64Builder::new();
            rows().for_each(|row| numbers.append_option(number(data, row).map(Number::to_f64)));
            Arc::new(numbers.finish())
        }
        Form::Text => {
            let mut texts = StringBuilder::new();
            rows().for_each(|row| texts.append_option(text(data, row)));
            Arc::new(texts.finish())
        }
        Form::Texts => {
            let field = Field::new_list_field(arrow_schema::DataType::Utf8, false);
            let mut lists = ListBuilder::new(StringBuilder::new()).with_field(field);
            for row in rows() {
                let list = list(data, row);
                let is_there = list.is_some();
                list.into_iter().flatten().for_each(|text| lists.values().append_value(text));
                lists.append(is_there);
            }
            Arc::new(lists.finish())
        }
    })
}

/// The mantissa and the scale of a row's decimal.
fn mantissa(data: &ColumnData<'_>, row: usize) -> Option<(i64, u8)> {
    let Values::Decimals { mantissas, scale } = &data.values else { return None };
    let mantissa = *mantissas.get(row)?;
    data.has_value(row).then_some((mantissa, *scale))
}

fn number(data: &ColumnData<'_>, row: usize) -> Option<Number> {
    if !data.has_value(row) {
        return None;
    }
    match &data.values {
        Values::Decimals { mantissas, scale } => {
            Decimal::new((*mantissas.get(row)?).into(), *scale).map(Number::from)
        }
        Values::Doubles(doubles) => Number::from_f64(*doubles.get(row)?),
        Values::Mixed { doubles, exacts } => Some(exacts.number(row, *doubles.get(row)?)),
        Values::Strings { .. } | Values::Lists { .. } => None,
    }
}

fn text<'d>(data: &'d ColumnData<'_>, row: usize) -> Option<&'d str> {
    let Values::Strings { codes, dictionary } = &data.values else { return None };
    let code = *codes.get(row)?;
    data.has_value(row).then(|| dictionary.get(code)).flatten()
}

fn list<'d>(data: &'d ColumnData<'_>, row: usize) -> Option<impl Iterator<Item = &'d str>> {
    let Values::Lists { codes, lists } = &data.values else { return None };
    debug_assert!(matches!(data.kind, Kind::Set | Kind::Vector), "lists are of lists");
    let code = *codes.get(row)?;
    data.has_value(row).then(|| lists.strings(code))
}
