//! A file, or standard input, inflated where it is compressed, and how far it has been read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Reader;
use crate::error::Error;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// Magic bytes: what a file is, whatever its name says.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const ZIP: &[u8] = b"PK\x03\x04";
const PARQUET: &[u8] = b"PAR1";

/// An opened input.
pub(crate) struct Source {
    pub(crate) reader: Reader,
    /// What it is called in messages.
    pub(crate) place: String,
    /// Bytes of the file, if they are known.
    pub(crate) total_bytes: Option<u64>,
    /// Bytes of the file that were read so far.
    pub(crate) read_bytes: Arc<AtomicU64>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Self::new(io::stdin(), "standard input", None);
        }
        let place = path.display().to_string();
        let file = File::open(path).map_err(Error::io("open", &place))?;
        let metadata = file.metadata().map_err(Error::io("open", &place))?;
        if metadata.is_dir() {
            return Err(Error::Input { place, reason: "is a folder".to_owned() });
        }
        let total = metadata.is_file().then_some(metadata.len());
        Self::new(file, &place, total)
    }

    fn new(
        input: impl Read + Send + 'static,
        place: &str,
        total_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        let read_bytes = Arc::new(AtomicU64::new(0));
        let counting = Counting { input, bytes: Arc::clone(&read_bytes) };
        let mut raw = BufReader::with_capacity(BUFFER_BYTES, counting);
        let magic = raw.fill_buf().map_err(Error::io("read", place))?;
        let reader: Reader = if magic.starts_with(GZIP) {
            let inflated = flate2::bufread::MultiGzDecoder::new(raw);
            Box::new(BufReader::with_capacity(BUFFER_BYTES, inflated))
        } else if magic.starts_with(ZSTD) {
            let inflated = zstd::Decoder::with_buffer(raw).map_err(Error::io("inflate", place))?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, inflated))
        } else {
            refuse(magic, place)?;
            Box::new(raw)
        };
        Ok(Self { reader, place: place.to_owned(), total_bytes, read_bytes })
    }
}

/// Refuses what is known and cannot be read, with the way out.
fn refuse(magic: &[u8], place: &str) -> Result<(), Error> {
    const SUPPORTED: &str = "JSON lines, JSON, CSV and plain text can be read, also with gzip or \
        zstd";
    let reason = if magic.starts_with(ZIP) {
        format!(
            "is a zip archive; unpack it first: unzip -p {place} | hadal import - ({SUPPORTED})"
        )
    } else if magic.starts_with(PARQUET) {
        format!("is a Parquet file, which this version does not read; {SUPPORTED}")
    } else {
        return Ok(());
    };
    Err(Error::Input { place: place.to_owned(), reason })
}

/// Counts what is read.
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

/// A file's name without folders and endings, as a table's name: `logs/web.csv.gz` is `web`.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = if name == "-" { "stdin".into() } else { name };
    let stem = name.trim_start_matches(['.', '_']).split('.').next().unwrap_or_default();
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let table: String = stem.chars().map(allowed).take(100).collect();
    // Names that begin with an underscore are Hadal's own.
    let table = table.trim_start_matches('_');
    if table.is_empty() { "data".to_owned() } else { table.to_owned() }
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
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let parquet = read(b"PAR1....".to_vec()).expect_err("not supported").to_string();
        assert!(parquet.contains("Parquet") && parquet.contains("CSV"), "{parquet}");
        let zip = read(b"PK\x03\x04...".to_vec()).expect_err("not supported").to_string();
        assert!(zip.contains("unzip -p"), "{zip}");
        assert!(read(b"\x1f\x8bgarbage".to_vec()).is_err());
    }

    #[test]
    fn tables_are_named_after_files() {
        for (path, table) in [
            ("logs/web.csv.gz", "web"),
            ("-", "stdin"),
            ("flights-3m.parquet", "flights-3m"),
            ("_own.json", "own"),
            ("été 1.csv", "t__1"),
            (".hidden", "hidden"),
            ("...", "data"),
        ] {
            assert_eq!(stem(Path::new(path)), table, "{path}");
        }
    }
}
