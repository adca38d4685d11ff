//! Writes rows of row blocks as one Parquet file.

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::RecordBatch;
use hadal_block::{BlockView, Values};
use hadal_leaf::ArchivePart;
use hadal_types::Micros;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::column_array::array;
use super::columns::columns;
use super::{IsStopping, Upload};

/// Rows of a row group, the unit that readers can skip.
const ROW_GROUP_ROWS: usize = 1 << 17;
/// The key of the file's metadata for the time column's name.
const TIME_COLUMN: &str = "hadal.time_column";

/// Writes the rows of these parts in their order. Returns the complete file, not yet finished.
///
/// # Errors
/// The reason, worded for people.
pub(super) fn write<'a>(
    file: Box<dyn Upload + 'a>,
    parts: &[ArchivePart<'_>],
    is_stopping: IsStopping<'_>,
) -> Result<Box<dyn Upload + 'a>, String> {
    let (columns, schema) = columns(parts);
    let mut writer =
        ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties(parts)?)).map_err(words)?;
    for part in parts {
        if is_stopping() {
            return Err("the server stops".to_owned());
        }
        // A view of its own: columns that it decompresses are freed with it.
        let block = BlockView::parse(part.block.bytes()).map_err(words)?;
        let rows = rows_of(&block, part)?;
        if rows.is_empty() {
            continue;
        }
        let mut arrays = Vec::with_capacity(columns.len());
        for column in &columns {
            let view = block.column(column.name.as_str(), column.kind);
            let data = view.map(|view| view.decode()).transpose().map_err(words)?;
            arrays.push(array(data.as_ref(), column.form, &rows).map_err(words)?);
        }
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(words)?;
        writer.write(&batch).map_err(words)?;
    }
    writer.into_inner().map_err(words)
}

fn properties(parts: &[ArchivePart<'_>]) -> Result<WriterProperties, String> {
    let time = parts.last().map(|part| part.block.time_column().name().to_string());
    Ok(WriterProperties::builder()
        .set_created_by(concat!("hadal ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).map_err(words)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(vec![KeyValue::new(TIME_COLUMN.to_owned(), time)]))
        .build())
}

/// The rows of a part, by their numbers in the block.
fn rows_of(block: &BlockView<'_>, part: &ArchivePart<'_>) -> Result<Vec<u32>, String> {
    let ArchivePart { from, until, .. } = part;
    let all = 0u32..;
    let (first, last) = block.time_range();
    if *from <= first && last < *until {
        return Ok(all.take(block.rows()).collect());
    }
    let times = times(block)?;
    let within = |(_, time): &(u32, i64)| (*from..*until).contains(&Micros(*time));
    Ok(all.zip(times).filter(within).map(|(row, _)| row).collect())
}

fn times(block: &BlockView<'_>) -> Result<Vec<i64>, String> {
    match block.time_column().decode().map_err(words)?.values {
        Values::Decimals { mantissas, .. } => Ok(mantissas),
        _ => Err("the rows' times are no times".to_owned()),
    }
}

fn words(error: impl Display) -> String {
    error.to_string()
}
