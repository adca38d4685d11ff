//! Answers as Parquet files: a row group for each batch, the summary of the answer in the footer's
//! metadata. A file without its footer is no Parquet file, so an answer that breaks off is refused
//! by every reader.

use std::sync::Arc;

use hadal_aggregate::RowColumns;
use hadal_frontend::AnswerColumn;
use hadal_http::{AnswerEncoder, AnswerFormat, SUMMARY_KEY};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::record_batches::RecordBatches;
use super::words;

/// Parquet.
#[derive(Debug)]
pub(super) struct ParquetFile;

struct ParquetEncoder {
    batches: RecordBatches,
    file: ArrowWriter<Vec<u8>>,
}

impl AnswerFormat for ParquetFile {
    fn media_type(&self) -> &'static str {
        "application/vnd.apache.parquet"
    }

    fn begin(
        &self,
        columns: &[AnswerColumn],
        _summary: &str,
        _out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("hadal ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(words)?))
            .build();
        let batches = RecordBatches::new(columns);
        let schema = Arc::clone(batches.schema());
        let file = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).map_err(words)?;
        Ok(Box::new(ParquetEncoder { batches, file }))
    }
}

impl AnswerEncoder for ParquetEncoder {
    fn batch(&mut self, rows: &RowColumns, out: &mut Vec<u8>) -> Result<(), String> {
        let batch = self.batches.batch(rows)?;
        self.file.write(&batch).map_err(words)?;
        // Ends the row group. The writer counts the bytes, so they can be taken away.
        self.file.flush().map_err(words)?;
        out.append(self.file.inner_mut());
        Ok(())
    }

    fn end(self: Box<Self>, summary: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let Self { mut file, .. } = *self;
        file.append_key_value_metadata(KeyValue::new(SUMMARY_KEY.to_owned(), summary.to_owned()));
        out.append(&mut file.into_inner().map_err(words)?);
        Ok(())
    }
}
