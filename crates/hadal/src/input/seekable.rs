//! A file with random access, for formats whose table of contents is at their end.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// The number of bytes that a reader takes at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A file of known length, and the number of its bytes that were read.
#[derive(Clone)]
pub(super) struct Seekable {
    file: Arc<File>,
    bytes: u64,
    read_bytes: Arc<AtomicU64>,
}

/// A reader at a position of the file.
pub(super) struct Cursor {
    file: Seekable,
    at: u64,
}

impl Seekable {
    /// Uses a file directly. Bytes that are read from it are added to `read_bytes`.
    pub(super) fn new(file: File, read_bytes: Arc<AtomicU64>) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), bytes, read_bytes })
    }

    /// Copies an input without random access to an unnamed file on disk.
    pub(super) fn copy(mut reader: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut reader, &mut file)?;
        // The bytes of the original have been counted already.
        Self::new(file, Arc::default())
    }

    /// Returns a reader from the beginning.
    pub(super) fn cursor(&self) -> BufReader<Cursor> {
        self.cursor_at(0)
    }

    fn cursor_at(&self, at: u64) -> BufReader<Cursor> {
        BufReader::with_capacity(BUFFER_BYTES, Cursor { file: self.clone(), at })
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        self.file.read_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Length for Seekable {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Seekable {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.cursor_at(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // The length comes from the file: it is refused before the allocation if it exceeds the
        // file.
        let fits = start.checked_add(length as u64).is_some_and(|end| end <= self.bytes);
        if !fits {
            let place = format!("bytes {start} and {length} more lie beyond its end");
            return Err(ParquetError::EOF(place));
        }
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, start)?;
        self.read_bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(buffer.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_place_is_read_and_none_beyond_the_end() {
        let file = Seekable::copy(&b"0123456789"[..]).expect("a copy");
        assert_eq!(file.get_bytes(3, 4).expect("bytes"), "3456");
        assert!(file.get_bytes(3, 8).is_err());
        assert!(file.get_bytes(u64::MAX, 1).is_err());
        let mut cursor = file.cursor();
        let mut text = String::new();
        cursor.seek(SeekFrom::End(-3)).expect("a place");
        cursor.read_to_string(&mut text).expect("text");
        assert_eq!(text, "789");
        assert!(cursor.seek(SeekFrom::End(-11)).is_err());
    }
}
