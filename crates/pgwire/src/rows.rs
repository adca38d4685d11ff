//! The rows of an answer on their way to the client.

use std::vec::IntoIter;

use bytes::{BufMut, BytesMut};
use hadal_aggregate::SparseRow;
use hadal_frontend::{NumberClass, QueryResult};
use hadal_types::{MemoryReservation, Value};
use jiff::tz::TimeZone;

use crate::backend_message::{Field, Notice, Output};
use crate::column_type::ColumnType;
use crate::failure::Failure;
use crate::frontend_message::{Format, format_of};
use crate::notices::notices_of;
use crate::value_binary::put_value;
use crate::value_text::write_value;

/// An answer. A part of it may have been sent.
pub(crate) struct Rows {
    pub(crate) fields: Vec<Field>,
    rows: IntoIter<SparseRow>,
    /// The command of the tag at the end.
    pub(crate) tag: &'static str,
    /// What the client should know of the answer.
    pub(crate) notices: Vec<Notice>,
    _reservation: MemoryReservation,
}

impl Rows {
    /// The rows of a statement's result. If the client was promised types, the rows have these.
    ///
    /// # Errors
    /// When a value does not fit a promised type.
    pub(crate) fn of_result(
        mut result: QueryResult,
        promised: Option<&[ColumnType]>,
    ) -> Result<Self, Failure> {
        let rows = std::mem::take(&mut result.rows);
        let of_column = |(index, (name, value_type)): (usize, &(String, hadal_query::Type))| {
            let numbers = result.numbers.get(index).copied().unwrap_or(NumberClass::Any);
            let values = || rows.iter().map(move |row| row.get(index));
            let column_type = match promised {
                Some(types) => promised_type(types, index, values(), name)?,
                None => ColumnType::of_values(*value_type, numbers, values()),
            };
            Ok::<_, Failure>(Field { name: name.clone(), column_type })
        };
        if promised.is_some_and(|types| types.len() != result.columns.len()) {
            return Err(changed("the answer has another number of columns".to_owned()));
        }
        let fields =
            result.columns.iter().enumerate().map(of_column).collect::<Result<_, Failure>>()?;
        Ok(Self {
            fields,
            tag: "SELECT",
            notices: notices_of(&result),
            rows: rows.into_iter(),
            _reservation: std::mem::take(&mut result.reservation),
        })
    }

    /// Rows that are made here, without a reservation of memory.
    pub(crate) fn new(tag: &'static str, fields: Vec<Field>, rows: Vec<Vec<Value>>) -> Self {
        let rows: Vec<SparseRow> = rows.into_iter().map(SparseRow::from).collect();
        Self {
            fields,
            rows: rows.into_iter(),
            tag,
            notices: Vec::new(),
            _reservation: MemoryReservation::default(),
        }
    }

    /// The rows that are not sent.
    #[cfg(test)]
    pub(crate) fn remaining(&self) -> &[SparseRow] {
        self.rows.as_slice()
    }

    /// Whether no row is left.
    pub(crate) fn is_done(&self) -> bool {
        self.rows.as_slice().is_empty()
    }

    /// Appends the next row; returns whether there was one.
    pub(crate) fn put_next(
        &mut self,
        output: &mut Output,
        formats: &[Format],
        zone: &TimeZone,
    ) -> bool {
        let Some(row) = self.rows.next() else { return false };
        output.data_row(self.fields.len(), |body| {
            for (index, field) in self.fields.iter().enumerate() {
                let format = format_of(formats, index).unwrap_or(Format::Text);
                put_field(body, row.get(index), field.column_type, format, zone);
            }
        });
        true
    }
}

/// Appends the length of a value and the value.
fn put_field(
    body: &mut BytesMut,
    value: &Value,
    column_type: ColumnType,
    format: Format,
    zone: &TimeZone,
) {
    if value.is_null() {
        body.put_i32(-1);
        return;
    }
    let start = body.len();
    body.put_i32(0);
    match format {
        Format::Binary => put_value(body, value, column_type),
        Format::Text => {
            let mut text = String::new();
            write_value(&mut text, value, column_type, zone);
            body.put_slice(text.as_bytes());
        }
    }
    let length = i32::try_from(body.len() - start - 4).unwrap_or(i32::MAX);
    body[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// The promised type of a column, if all values fit it.
fn promised_type<'v>(
    types: &[ColumnType],
    index: usize,
    mut values: impl Iterator<Item = &'v Value>,
    name: &str,
) -> Result<ColumnType, Failure> {
    let promised = types.get(index).copied();
    let promised = promised.filter(|promised| values.all(|value| promised.holds(value)));
    promised.ok_or_else(|| changed(format!("column {name} has another type")))
}

/// The error by which clients know that they must prepare a statement again.
fn changed(detail: String) -> Failure {
    Failure {
        detail: Some(detail),
        ..Failure::new("0A000", "cached plan must not change result type")
    }
    .hint("prepare the statement again: columns change with the rows that are logged")
}

#[cfg(test)]
mod tests {
    use hadal_query::Type;

    use super::*;

    fn result(values: Vec<Value>, value_type: Type) -> QueryResult {
        QueryResult {
            columns: vec![("a".to_owned(), value_type)],
            rows: values.into_iter().map(|value| SparseRow::from(vec![value])).collect(),
            ..QueryResult::default()
        }
    }

    #[test]
    fn rows_are_sent_one_by_one() {
        let values = vec![Value::integer(7), Value::Null];
        let mut rows = Rows::of_result(result(values, Type::Number), None).expect("rows");
        assert_eq!(rows.fields[0].column_type, ColumnType::Int8);
        let mut output = Output::default();
        assert!(rows.put_next(&mut output, &[], &TimeZone::UTC));
        assert_eq!(&output.bytes[..], b"D\0\0\0\x0b\0\x01\0\0\0\x017");
        output.bytes.clear();
        assert!(!rows.is_done());
        assert!(rows.put_next(&mut output, &[Format::Binary], &TimeZone::UTC));
        assert_eq!(&output.bytes[..], b"D\0\0\0\x0a\0\x01\xff\xff\xff\xff");
        assert!(rows.is_done() && !rows.put_next(&mut output, &[], &TimeZone::UTC));
    }

    #[test]
    fn a_promise_of_types_is_kept_or_refused() {
        let half = Value::Number("0.5".parse().expect("a number"));
        let of = |value: &Value, value_type, types: &[ColumnType]| {
            Rows::of_result(result(vec![value.clone()], value_type), Some(types)).map(drop)
        };
        assert!(of(&half, Type::Number, &[ColumnType::Numeric]).is_ok());
        let refused = of(&half, Type::Number, &[ColumnType::Int8]).expect_err("refused");
        assert_eq!(refused.sqlstate, "0A000");
        assert!(of(&half, Type::Number, &[]).is_err());
        assert!(of(&Value::string("x"), Type::String, &[ColumnType::Numeric]).is_err());
    }
}
