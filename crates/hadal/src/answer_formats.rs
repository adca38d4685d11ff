//! Answers as Arrow and Parquet.

mod arrow_stream;
mod parquet_file;
mod record_batches;

use std::fmt::Display;
use std::sync::Arc;

use hadal_http::AnswerFormat;

use arrow_stream::ArrowStream;
use parquet_file::ParquetFile;

/// The formats of answers that need heavy libraries.
pub(crate) fn heavy() -> [Arc<dyn AnswerFormat>; 2] {
    [Arc::new(ArrowStream), Arc::new(ParquetFile)]
}

fn words(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
