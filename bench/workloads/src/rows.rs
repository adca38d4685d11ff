//! Rows of a table as values, and as row blocks.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use hadal_block::BlockBuilder;
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{
    ColumnName, ColumnPart, ColumnSchema, Kind, Logical, Micros, Number, TableName, TableSchema,
    Value,
};

use crate::error::Error;

/// Rows in the order of their times, as after a leaf's merge.
pub(crate) struct Rows {
    pub(crate) times: Vec<Micros>,
    /// All columns but the time.
    pub(crate) columns: Vec<Column>,
}

/// The values of one column: null, or of its kind.
pub(crate) struct Column {
    pub(crate) name: ColumnName,
    pub(crate) kind: Kind,
    pub(crate) values: Vec<Value>,
}

/// The column of every table that has the rows' times, in seconds.
const TIME: &str = "time";

impl Rows {
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, Error> {
        let seconds = batch.column_by_name(TIME).map(|times| times.as_primitive::<Int64Type>());
        let seconds = seconds.map(|times| &times.values()[..]).unwrap_or_default();
        let mut order: Vec<usize> = (0..seconds.len()).collect();
        order.sort_by_key(|row| seconds[*row]);
        let mut columns = Vec::new();
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            if field.name() != TIME {
                let (kind, values) = values(field.name(), array)?;
                let values = order.iter().map(|row| values[*row].clone()).collect();
                columns.push(Column { name: ColumnName::new(field.name())?, kind, values });
            }
        }
        let times = order.iter().map(|row| Micros(1_000_000 * seconds[*row])).collect();
        Ok(Self { times, columns })
    }

    /// Builds blocks of all rows, each but the last as full as possible.
    pub(crate) fn blocks(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut builder = BlockBuilder::new(ColumnName::new(TIME)?);
        let ids = self.columns.iter().map(|column| builder.column(&column.name, column.kind));
        let ids: Vec<_> = ids.collect();
        let mut blocks = Vec::new();
        for (row, time) in self.times.iter().enumerate() {
            for (id, column) in ids.iter().zip(&self.columns) {
                match &column.values[row] {
                    Value::Number(number) => builder.push_number(*id, *number)?,
                    Value::String(text) => builder.push_string(*id, text)?,
                    _ => {}
                }
            }
            builder.end_row(*time);
            if (row + 1) % BLOCK_ROWS_MAX == 0 || row + 1 == self.times.len() {
                blocks.push(builder.cut(Micros(0), None)?);
            }
        }
        Ok(blocks)
    }

    /// The schema of a table with such rows.
    pub(crate) fn schema(&self, name: &str) -> Result<TableSchema, Error> {
        let rows = self.times.len() as u64;
        let part = |kind, logical| vec![ColumnPart { kind, logical, rows }];
        let schemas = self.columns.iter().map(|column| ColumnSchema {
            name: column.name.clone(),
            parts: part(column.kind, Logical::Plain),
        });
        let time_column = ColumnName::new(TIME)?;
        let time =
            ColumnSchema { name: time_column.clone(), parts: part(Kind::Number, Logical::Time) };
        let mut columns: Vec<ColumnSchema> = schemas.chain([time]).collect();
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        let time_range = self.times.first().copied().zip(self.times.last().copied());
        Ok(TableSchema { name: TableName::new(name)?, time_column, columns, rows, time_range })
    }
}

fn values(name: &str, array: &Arc<dyn Array>) -> Result<(Kind, Vec<Value>), Error> {
    let integer = |value: Option<i64>| value.map_or(Value::Null, Value::integer);
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::string);
    Ok(match array.data_type() {
        DataType::Int64 => {
            (Kind::Number, array.as_primitive::<Int64Type>().iter().map(integer).collect())
        }
        DataType::Int32 => {
            let wide = array.as_primitive::<Int32Type>().iter().map(|value| value.map(i64::from));
            (Kind::Number, wide.map(integer).collect())
        }
        DataType::Float64 => {
            let number = |value: Option<f64>| value.and_then(Number::from_f64);
            let doubles = array.as_primitive::<Float64Type>().iter().map(number);
            (
                Kind::Number,
                doubles.map(|number| number.map_or(Value::Null, Value::Number)).collect(),
            )
        }
        DataType::Utf8 => (Kind::String, array.as_string::<i32>().iter().map(text).collect()),
        DataType::Dictionary(..) => {
            let codes = array.as_dictionary::<Int32Type>();
            let words: Vec<Value> = codes.values().as_string::<i32>().iter().map(text).collect();
            let keys = codes.keys().iter().map(|key| key.and_then(|key| usize::try_from(key).ok()));
            let word = |key: Option<usize>| key.map_or(Value::Null, |key| words[key].clone());
            (Kind::String, keys.map(word).collect())
        }
        data_type => {
            return Err(Error::Type { name: name.to_owned(), data_type: data_type.clone() });
        }
    })
}
