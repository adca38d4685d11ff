//! Arrow IPC: streams are read from front to back, files by the footer at their end.
//!
//! The formats:
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use arrow_ipc::reader::{FileReader, StreamReader};

use super::catch_panic::catching_panics;
use super::{ColumnarRows, failed};
use crate::error::Error;
use crate::input::Reader;
use crate::input::seekable::Seekable;

/// The rows of a file (also called Feather, version 2).
pub(crate) fn file(file: &Seekable, place: &str) -> Result<ColumnarRows, Error> {
    catching_panics(place, || {
        let reader = FileReader::try_new(file.cursor(), None).map_err(failed(place))?;
        ColumnarRows::new(&reader.schema(), Box::new(reader), place)
    })
}

/// The rows of a stream.
pub(crate) fn stream(reader: Reader, place: &str) -> Result<ColumnarRows, Error> {
    catching_panics(place, || {
        let reader = StreamReader::try_new(reader, None).map_err(failed(place))?;
        ColumnarRows::new(&reader.schema(), Box::new(reader), place)
    })
}
