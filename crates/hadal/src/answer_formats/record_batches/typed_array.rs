//! Columns of raw rows as Arrow arrays, without a step through single values.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use hadal_aggregate::{TypedValues, ValueColumn};
use hadal_frontend::ColumnForm;
use hadal_types::Value;

/// Doubles hold integers and powers of ten up to these exactly, so their quotient is the nearest
/// double to the decimal (W. Clinger, "How to Read Floating Point Numbers Accurately", 1990).
const WHOLE_MAX: u64 = 1 << 53;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The array of a column; `None` if its values must be appended one by one.
pub(super) fn of(form: ColumnForm, column: &ValueColumn) -> Option<ArrayRef> {
    Some(match (form, column) {
        (ColumnForm::Bool, ValueColumn::Truths(truths)) => {
            let values = BooleanBuffer::from(truths.values());
            Arc::new(BooleanArray::new(values, nulls(truths)))
        }
        (ColumnForm::Whole, ValueColumn::Decimals(numbers, 0)) => {
            Arc::new(primitive::<Int64Type>(numbers))
        }
        (ColumnForm::Time, ValueColumn::Times(times)) => {
            Arc::new(primitive::<TimestampMicrosecondType>(times).with_timezone("UTC"))
        }
        (ColumnForm::Double, ValueColumn::Doubles(doubles)) => {
            let values = ScalarBuffer::from(doubles.values().to_vec());
            Arc::new(Float64Array::new(values, nulls(doubles)))
        }
        (ColumnForm::Double, ValueColumn::Decimals(numbers, scale)) => {
            let values = quotients(numbers, *scale)?;
            Arc::new(Float64Array::new(ScalarBuffer::from(values), nulls(numbers)))
        }
        (ColumnForm::Text, ValueColumn::Coded(codes, values)) => texts(codes, values)?,
        _ => return None,
    })
}

fn nulls<T: Copy + Default>(values: &TypedValues<T>) -> Option<NullBuffer> {
    values.valid().map(NullBuffer::from)
}

fn primitive<T: ArrowPrimitiveType<Native = i64>>(values: &TypedValues<i64>) -> PrimitiveArray<T> {
    PrimitiveArray::new(ScalarBuffer::from(values.values().to_vec()), nulls(values))
}

/// The nearest doubles to mantissas × 10^−scale; `None` if a quotient is not it.
fn quotients(mantissas: &TypedValues<i64>, scale: u8) -> Option<Vec<f64>> {
    let power = POWERS.get(usize::from(scale))?;
    let is_small = |mantissa: &i64| mantissa.unsigned_abs() <= WHOLE_MAX;
    if !mantissas.values().iter().all(is_small) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "up to 2^53")]
    let quotient = |mantissa: &i64| *mantissa as f64 / power;
    Some(mantissas.values().iter().map(quotient).collect())
}

/// Texts by code; `None` if a value is no text.
fn texts(codes: &[u32], values: &[Value]) -> Option<ArrayRef> {
    let text = |value: &Value| match value {
        Value::String(_) | Value::Null => Some(()),
        _ => None,
    };
    values.iter().try_for_each(text)?;
    let length = |code: &u32| match values.get(*code as usize) {
        Some(Value::String(text)) => text.len(),
        _ => 0,
    };
    let mut builder = StringBuilder::with_capacity(codes.len(), codes.iter().map(length).sum());
    for code in codes {
        match values.get(*code as usize) {
            Some(Value::String(text)) => builder.append_value(text),
            _ => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

#[cfg(test)]
mod tests {
    use hadal_frontend::AnswerColumn;
    use proptest::prelude::*;

    use super::super::built;
    use super::*;

    /// The array is the same as that of the values one by one.
    fn agree(form: ColumnForm, column: &ValueColumn) {
        let array = of(form, column).expect("an array");
        let answer = AnswerColumn { name: "c".to_owned(), form };
        let expected = built(&answer, column, column.len()).expect("values that fit");
        assert!(*array == *expected, "{form:?} {column:?}");
    }

    proptest! {
        #[test]
        fn arrays_of_columns_are_those_of_their_values(
            rows in prop::collection::vec(
                (any::<bool>(), -(1_i64 << 53)..=1 << 53, 0u32..4, any::<bool>()), 0..30,
            ),
            scale in 0u8..=22,
            has_nulls in any::<bool>(),
        ) {
            let valid = || has_nulls.then(|| rows.iter().map(|row| row.0).collect::<Vec<bool>>());
            let numbers = || {
                let numbers = rows.iter().map(|row| row.1).collect::<Vec<i64>>();
                TypedValues::new(numbers, valid())
            };
            let truths = TypedValues::new(rows.iter().map(|row| row.3).collect(), valid());
            agree(ColumnForm::Bool, &ValueColumn::Truths(truths));
            agree(ColumnForm::Whole, &ValueColumn::Decimals(numbers(), 0));
            agree(ColumnForm::Time, &ValueColumn::Times(numbers()));
            agree(ColumnForm::Double, &ValueColumn::Decimals(numbers(), scale));
            #[expect(clippy::cast_precision_loss, reason = "up to 2^53")]
            let doubles = rows.iter().map(|row| row.1 as f64 / 3.0).collect();
            let doubles = ValueColumn::Doubles(TypedValues::new(doubles, valid()));
            agree(ColumnForm::Double, &doubles);
            let texts = vec![Value::string("a"), Value::string(""), Value::Null];
            let codes = rows.iter().map(|row| if row.2 < 3 { row.2 } else { u32::MAX });
            agree(ColumnForm::Text, &ValueColumn::Coded(codes.collect(), texts));
        }
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_values() {
        let large = ValueColumn::Decimals(TypedValues::new(vec![(1 << 53) + 1], None), 1);
        assert!(of(ColumnForm::Double, &large).is_none());
        let fine = ValueColumn::Decimals(TypedValues::new(vec![1], None), 23);
        assert!(of(ColumnForm::Double, &fine).is_none());
        let numbers = ValueColumn::Coded(vec![0], vec![Value::integer(1)]);
        assert!(of(ColumnForm::Text, &numbers).is_none());
        assert!(of(ColumnForm::Decimal { scale: 1 }, &large).is_none());
    }
}
