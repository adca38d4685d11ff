//! A file or standard input, decompressed if needed, and the number of bytes read from it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Reader;
use super::decompress::{Compression, Remarks, decompress, read_head};
use super::download::download;
use super::locate::Input;
use super::seekable::Seekable;
use crate::error::Error;

/// The number of bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// How pages for people begin.
const PAGES: [&[u8]; 2] = [b"<!doctype html", b"<html"];

/// An opened input, which may be compressed.
pub(crate) struct Source {
    pub(crate) reader: Reader,
    /// Its name in messages.
    pub(crate) place: String,
    /// The size of the file in bytes, if it is known.
    pub(crate) total_bytes: Option<u64>,
    /// The number of bytes of the file read so far.
    pub(crate) read_bytes: Arc<AtomicU64>,
    /// The file of `reader`, if it is uncompressed and has random access.
    file: Option<File>,
    /// What was found besides the data.
    pub(crate) remarks: Remarks,
}

impl Source {
    /// Opens an input.
    pub(crate) fn of(input: &Input) -> Result<Self, Error> {
        match input {
            Input::File(path) => Self::open(path),
            Input::Url(url) => {
                let (reader, length) = download(url)?;
                let mut source = Self::new(reader, url, None)?;
                let start = source.reader.fill_buf().map_err(Error::io("read", url))?;
                let is_page = |page: &&[u8]| {
                    let text = start.trim_ascii_start().get(..page.len());
                    text.is_some_and(|text| text.eq_ignore_ascii_case(page))
                };
                if PAGES.iter().any(is_page) {
                    let reason =
                        "is a page for people (HTML), not data; name the address of the file";
                    return Err(Error::Input { place: url.clone(), reason: reason.to_owned() });
                }
                source.total_bytes = length;
                Ok(source)
            }
        }
    }

    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Self::open_stdin();
        }
        let place = path.display().to_string();
        let file = File::open(path).map_err(Error::io("open", &place))?;
        let metadata = file.metadata().map_err(Error::io("open", &place))?;
        if metadata.is_dir() {
            return Err(Error::Input { place, reason: "is a folder".to_owned() });
        }
        let whole = if metadata.is_file() { file.try_clone().ok() } else { None };
        Self::new(file, &place, whole)
    }

    /// Opens standard input. `hadal import - < file` has random access too.
    fn open_stdin() -> Result<Self, Error> {
        let place = "standard input";
        let fd = io::stdin().as_fd().try_clone_to_owned().map_err(Error::io("open", place))?;
        let mut file = File::from(fd);
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let is_whole = is_file && file.stream_position().is_ok_and(|at| at == 0);
        Self::new(io::stdin(), place, is_whole.then_some(file))
    }

    pub(super) fn new(
        input: impl Read + Send + 'static,
        place: &str,
        mut file: Option<File>,
    ) -> Result<Self, Error> {
        let total_bytes = file.as_ref().and_then(|file| Some(file.metadata().ok()?.len()));
        let read_bytes = Arc::new(AtomicU64::new(0));
        let counting = Counting { input, bytes: Arc::clone(&read_bytes) };
        let mut raw = BufReader::with_capacity(BUFFER_BYTES, counting);
        let magic = raw.fill_buf().map_err(Error::io("read", place))?;
        let remarks = Remarks::default();
        let reader: Reader = match Compression::of(magic) {
            Some(compression) => {
                file = None;
                let plain = decompress(raw, compression, place, &remarks);
                let plain = plain.map_err(Error::io("decompress", place))?;
                Box::new(BufReader::with_capacity(BUFFER_BYTES, plain))
            }
            None => Box::new(raw),
        };
        Ok(Self { reader, place: place.to_owned(), total_bytes, read_bytes, file, remarks })
    }

    /// Reads up to `length` bytes. An error after the first bytes comes with the bytes after them.
    pub(super) fn head(&mut self, length: u64) -> Result<Vec<u8>, Error> {
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let read = read_head(reader, length).map_err(Error::io("read", &self.place))?;
        let (head, reader) = read;
        self.reader = reader;
        Ok(head)
    }

    /// Returns the whole input with random access. `head` has been taken from the reader already.
    ///
    /// Anything but a plain file is copied to the disk first.
    pub(super) fn into_seekable(self, head: Vec<u8>) -> Result<Seekable, Error> {
        let seekable = match self.file {
            Some(file) => {
                self.read_bytes.store(0, Ordering::Relaxed);
                Seekable::new(file, self.read_bytes)
            }
            None => Seekable::copy(io::Cursor::new(head).chain(self.reader)),
        };
        seekable.map_err(Error::io("read", self.place))
    }
}

/// Counts the bytes read.
struct Counting<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: Vec<u8>) -> Result<String, Error> {
        let mut text = String::new();
        Source::new(io::Cursor::new(bytes), "test", None)?
            .reader
            .read_to_string(&mut text)
            .map_err(Error::io("read", "test"))?;
        Ok(text)
    }

    #[test]
    fn compression_is_told_by_magic_bytes() {
        let text = "a\nb\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).expect("gzip");
        let zstd = zstd::encode_all(text.as_bytes(), 0).expect("zstd");
        for bytes in [text.as_bytes().to_vec(), gzip.finish().expect("gzip"), zstd] {
            assert_eq!(read(bytes).expect("text"), text);
        }
        assert_eq!(read(Vec::new()).expect("text"), "");
        assert!(read(b"\x1f\x8bgarbage".to_vec()).is_err());
    }
}
