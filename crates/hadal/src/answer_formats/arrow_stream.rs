//! Answers as Arrow IPC streams.
//!
//! A second stream follows the one with the rows. It has no columns and no rows: the metadata of
//! its schema has the summary of the answer, which is known only after the last row. Readers of one
//! stream stop before it. The metadata of the first schema has what is known before the rows.

use std::collections::HashMap;

use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{ArrowError, Schema};
use hadal_aggregate::RowColumns;
use hadal_frontend::AnswerColumn;
use hadal_http::{AnswerEncoder, AnswerFormat, SUMMARY_KEY};

use super::record_batches::RecordBatches;
use super::words;

/// The Arrow IPC streaming format.
#[derive(Debug)]
pub(super) struct ArrowStream;

struct ArrowEncoder {
    batches: RecordBatches,
    stream: StreamEncoder,
}

impl AnswerFormat for ArrowStream {
    fn media_type(&self) -> &'static str {
        "application/vnd.apache.arrow.stream"
    }

    fn begin(
        &self,
        columns: &[AnswerColumn],
        summary: &str,
        _out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String> {
        let batches = RecordBatches::new(columns);
        let schema = with_summary((**batches.schema()).clone(), summary);
        let stream = StreamEncoder::try_new(&schema).map_err(words)?;
        Ok(Box::new(ArrowEncoder { batches, stream }))
    }
}

impl AnswerEncoder for ArrowEncoder {
    fn batch(&mut self, rows: &RowColumns, out: &mut Vec<u8>) -> Result<(), String> {
        let batch = self.batches.batch(rows)?;
        append(self.stream.encode(&batch), out)
    }

    fn end(self: Box<Self>, summary: &str, out: &mut Vec<u8>) -> Result<(), String> {
        append(self.stream.finish(), out)?;
        let schema = with_summary(Schema::empty(), summary);
        append(StreamEncoder::try_new(&schema).and_then(StreamEncoder::finish), out)
    }
}

fn with_summary(schema: Schema, summary: &str) -> Schema {
    schema.with_metadata(HashMap::from([(SUMMARY_KEY.to_owned(), summary.to_owned())]))
}

fn append(written: Result<Vec<Buffer>, ArrowError>, out: &mut Vec<u8>) -> Result<(), String> {
    let buffers = written.map_err(words)?;
    out.reserve(buffers.iter().map(Buffer::len).sum());
    buffers.iter().for_each(|buffer| out.extend_from_slice(buffer));
    Ok(())
}
