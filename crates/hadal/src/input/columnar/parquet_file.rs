//! Parquet: row group after row group, page after page.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::SchemaDescriptor;

use super::catch_panic::catching_panics;
use super::{BATCH_ROWS, ColumnarRows, failed};
use crate::error::Error;
use crate::input::seekable::Seekable;

/// The rows of a file.
pub(crate) fn open(file: Seekable, place: &str) -> Result<ColumnarRows, Error> {
    catching_panics(place, || read(file, place))
}

fn read(file: Seekable, place: &str) -> Result<ColumnarRows, Error> {
    let load = |options| ArrowReaderMetadata::load(&file, options).map_err(failed(place));
    let mut metadata = load(ArrowReaderOptions::new())?;
    let old = old_times(metadata.parquet_schema());
    if !old.is_empty() {
        let schema = with_micros(metadata.schema(), &old);
        metadata = load(ArrowReaderOptions::new().with_schema(schema))?;
    }
    let schema = Arc::clone(metadata.schema());
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(failed(place))?;
    let batches = Box::new(reader.map(|batch| batch.map_err(|error: ArrowError| error)));
    let mut rows = ColumnarRows::new(&schema, batches, place)?;
    let note = |name| format!("column {name}: INT96 times are read to the microsecond");
    rows.notes = old.into_iter().map(note).collect();
    Ok(rows)
}

/// Columns of type INT96, in which old programs store times.
fn old_times(schema: &SchemaDescriptor) -> Vec<String> {
    let columns = schema.columns().iter();
    let old = columns.filter(|column| column.physical_type() == PhysicalType::INT96);
    old.filter_map(|column| match column.path().parts() {
        [name] => Some(name.clone()),
        _ => None,
    })
    .collect()
}

/// The schema with these columns as microseconds. Nanoseconds would overflow outside the years 1677
/// to 2262, and such times are common there.
fn with_micros(schema: &Schema, columns: &[String]) -> SchemaRef {
    let columns: HashSet<&str> = columns.iter().map(String::as_str).collect();
    let field = |field: &Arc<Field>| {
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        match columns.contains(field.name().as_str()) {
            true => Arc::new(field.as_ref().clone().with_data_type(micros)),
            false => Arc::clone(field),
        }
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
