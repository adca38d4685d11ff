//! Decompression of files, also of files with several members, padding, or a missing end.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use parking_lot::Mutex;

/// Magic bytes of the compression formats. They count, not the name.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The last three magic bytes of a frame of zstd that is skipped; the first is `5x`.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Words of errors by which zstd says that a frame needs more memory, and that there is no frame.
const ZSTD_WINDOW: &str = "too much memory";
const ZSTD_NO_FRAME: &str = "Unknown frame descriptor";

/// What was found in an input besides its data, for the report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks(Arc<Mutex<Vec<String>>>);

impl Remarks {
    fn add(&self, remark: String) {
        self.0.lock().push(remark);
    }

    /// The remarks so far.
    pub(crate) fn list(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Returns the compression of an input by its first bytes.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let is_skippable = bytes.first().is_some_and(|byte| byte & 0xf0 == 0x50)
            && bytes.get(1..4) == Some(ZSTD_SKIPPABLE);
        if bytes.starts_with(GZIP) {
            Some(Self::Gzip)
        } else if bytes.starts_with(ZSTD) || is_skippable {
            Some(Self::Zstd)
        } else {
            None
        }
    }
}

/// Returns a reader of the decompressed bytes of `raw`, whose name is `place`.
pub(super) fn decompress<R: BufRead + Send + 'static>(
    raw: R,
    compression: Compression,
    place: &str,
    remarks: &Remarks,
) -> io::Result<Box<dyn Read + Send>> {
    let remarks = remarks.clone();
    Ok(match compression {
        Compression::Gzip => Box::new(Gunzip { state: Gzip::first(raw), has_data: false, remarks }),
        Compression::Zstd => {
            let decoder = zstd::Decoder::with_buffer(raw)?;
            Box::new(Unzstd {
                decoder,
                has_data: false,
                is_over: false,
                place: place.to_owned(),
                remarks,
            })
        }
    })
}

/// Reads the members of gzip, one after the other.
struct Gunzip<R> {
    state: Gzip<R>,
    /// Whether the current member has given data.
    has_data: bool,
    remarks: Remarks,
}

enum Gzip<R> {
    Member { decoder: Box<GzDecoder<R>>, is_first: bool },
    Between(R),
    Over,
}

impl<R: BufRead> Gzip<R> {
    fn first(raw: R) -> Self {
        Self::Member { decoder: Box::new(GzDecoder::new(raw)), is_first: true }
    }

    /// The state after the end of a member: padding of zeros is skipped.
    fn after_member(mut raw: R, remarks: &Remarks) -> io::Result<Self> {
        loop {
            let bytes = raw.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            match bytes.get(zeros) {
                Some(&byte) if byte == GZIP[0] => {
                    raw.consume(zeros);
                    let decoder = Box::new(GzDecoder::new(raw));
                    return Ok(Self::Member { decoder, is_first: false });
                }
                Some(_) => {
                    remarks.add(trailing("gzip"));
                    return Ok(Self::Over);
                }
                None if bytes.is_empty() => return Ok(Self::Over),
                None => raw.consume(zeros),
            }
        }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            self.state = match std::mem::replace(&mut self.state, Gzip::Over) {
                Gzip::Over => return Ok(0),
                Gzip::Between(raw) => Gzip::after_member(raw, &self.remarks)?,
                Gzip::Member { mut decoder, is_first } => match decoder.read(buffer) {
                    Ok(0) => {
                        self.has_data = false;
                        Gzip::Between(decoder.into_inner())
                    }
                    Ok(count) => {
                        self.has_data = true;
                        self.state = Gzip::Member { decoder, is_first };
                        return Ok(count);
                    }
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        return Err(broken_off("gzip"));
                    }
                    // Not the header of a member.
                    Err(_) if !is_first && !self.has_data => {
                        self.remarks.add(trailing("gzip"));
                        Gzip::Over
                    }
                    Err(error) => return Err(error),
                },
            };
        }
        Ok(0)
    }
}

/// Reads the frames of zstd.
struct Unzstd<R: BufRead> {
    decoder: zstd::Decoder<'static, R>,
    has_data: bool,
    is_over: bool,
    place: String,
    remarks: Remarks,
}

impl<R: BufRead> Read for Unzstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let error = match self.decoder.read(buffer) {
            Ok(count) => {
                self.has_data |= count > 0;
                return Ok(count);
            }
            Err(error) => error,
        };
        let text = error.to_string();
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Err(broken_off("zstd"));
        }
        if text.contains(ZSTD_WINDOW) {
            return Err(io::Error::other(format!(
                "it was compressed with a long window; unpack it first: zstd -d --long=31 -c {} | \
                 hadal import -",
                self.place
            )));
        }
        if self.has_data && text.contains(ZSTD_NO_FRAME) {
            self.is_over = true;
            self.remarks.add(trailing("zstd"));
            return Ok(0);
        }
        Err(error)
    }
}

fn trailing(format: &str) -> String {
    format!("what comes after the end of the {format} data is no {format}, and was left out")
}

fn broken_off(format: &str) -> io::Error {
    let reason = format!("the {format} data breaks off: rows may be missing after the last one");
    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
}

/// Reads up to `length` bytes. An error after the first bytes is left to the next reader.
pub(super) fn read_head(
    reader: Box<dyn BufRead + Send>,
    length: u64,
) -> io::Result<(Vec<u8>, Box<dyn BufRead + Send>)> {
    let (mut reader, mut head) = (reader, Vec::new());
    match (&mut reader).take(length).read_to_end(&mut head) {
        Ok(_) => Ok((head, reader)),
        Err(error) if head.is_empty() => Err(error),
        Err(error) => Ok((head, Box::new(BufReader::with_capacity(1, Failed(Some(error)))))),
    }
}

/// Fails once with an error that came too early.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).expect("gzip");
        gzip.finish().expect("gzip")
    }

    fn zstd_frame(text: &str) -> Vec<u8> {
        zstd::encode_all(text.as_bytes(), 0).expect("zstd")
    }

    fn read(bytes: &[u8]) -> (String, Vec<String>, Option<String>) {
        let compression = Compression::of(bytes).expect("compressed");
        let remarks = Remarks::default();
        // A small buffer: marks may be at its end.
        let raw = BufReader::with_capacity(3, io::Cursor::new(bytes.to_vec()));
        let mut reader = decompress(raw, compression, "x", &remarks).expect("a reader");
        let mut text = Vec::new();
        let error = reader.read_to_end(&mut text).err().map(|error| error.to_string());
        (String::from_utf8(text).expect("utf-8"), remarks.list(), error)
    }

    #[test]
    fn members_padding_and_what_follows_are_told_apart() {
        let (one, two) = (gzip("one "), gzip("two"));
        for (bytes, text, remarks) in [
            ([&*one, &two].concat(), "one two", 0),
            ([&*one, &[0; 700], &two].concat(), "one two", 0),
            ([&*one, &[0; 512]].concat(), "one ", 0),
            ([&*one, b"garbage"].concat(), "one ", 1),
            ([&*one, b"\x1fgarbage that is longer"].concat(), "one ", 1),
            ([&*one, b"\0\0garbage"].concat(), "one ", 1),
        ] {
            let read = read(&bytes);
            assert_eq!((read.0.as_str(), read.1.len(), read.2), (text, remarks, None));
        }
    }

    #[test]
    fn frames_of_zstd_may_be_skipped() {
        let (one, two) = (zstd_frame("one "), zstd_frame("two"));
        let skipped = b"\x5a\x2a\x4d\x18\x02\0\0\0xx";
        for (bytes, text, remarks) in [
            ([skipped, &*one, skipped, &two].concat(), "one two", 0),
            ([&*one, &two].concat(), "one two", 0),
            ([&*one, b"garbage"].concat(), "one ", 1),
        ] {
            let read = read(&bytes);
            assert_eq!((read.0.as_str(), read.1.len(), read.2), (text, remarks, None));
        }
    }

    #[test]
    fn what_breaks_off_is_said_after_the_text() {
        let text: String = (0..9_999u32).map(|n| format!("{} ", n * 7_919 % 65_521)).collect();
        for (bytes, name) in [(gzip(&text), "gzip"), (zstd_frame(&text), "zstd")] {
            let (part, _, error) = read(&bytes[..bytes.len() - 5]);
            assert!(name == "zstd" || text.starts_with(&part) && part.len() > 1_000);
            let expected =
                format!("the {name} data breaks off: rows may be missing after the last one");
            assert_eq!(error, Some(expected));
        }
        let garbage = read(b"\x1f\x8bgarbage");
        assert!(garbage.2.is_some());
    }

    #[test]
    fn an_error_comes_after_the_head() {
        let cut = gzip(&"abc ".repeat(50));
        let raw = io::Cursor::new(cut[..cut.len() - 9].to_vec());
        let reader =
            decompress(raw, Compression::Gzip, "x", &Remarks::default()).expect("a reader");
        let (head, mut rest) =
            read_head(Box::new(BufReader::new(reader)), 1 << 16).expect("some bytes");
        assert!(!head.is_empty());
        assert!(rest.fill_buf().is_err());
        assert!(read_head(rest, 1).expect("the end").0.is_empty());
    }
}
