//! Content-Encoding: compressed bytes in, plain bytes out, piece by piece.
//!
//! A few compressed bytes can expand to very many plain bytes. So output is read in small pieces
//! and counted: beyond the first MiB, it may be at most [`limits::INFLATE_RATIO_MAX`] times the
//! input. The size that a header claims is ignored.

use std::io::{self, Write};

use flate2::write::GzDecoder;
use hadal_types::limits;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// Input of one call of gzip, whose output is at most 1,032 times as long.
const GZIP_STEP: usize = 4 << 10;
/// Output of one call of zstd.
const ZSTD_STEP: usize = 128 << 10;
/// The largest window of zstd over HTTP, as a power of two (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;
/// Output to which the ratio does not apply.
const FREE_BYTES: u64 = 1 << 20;

/// Why a body cannot be decompressed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecompressError {
    #[error("the body is not {0}: {1}")]
    Corrupt(&'static str, String),
    #[error(
        "the body's zstd has a window of more than {} MiB; compress it without --long",
        (1 << ZSTD_WINDOW_LOG) >> 20
    )]
    Window,
    #[error("the body breaks off in the middle of its {0}")]
    Truncated(&'static str),
    #[error(
        "the body inflates to more than {} times its size; send it in parts, or uncompressed",
        limits::INFLATE_RATIO_MAX
    )]
    Ratio,
}

/// The decompressor of one body.
pub struct Decompressor {
    method: Method,
    input_bytes: u64,
    output_bytes: u64,
}

enum Method {
    Identity,
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

/// The members of a body, one after the other, perhaps with zeros after them.
struct Gzip {
    decoder: GzDecoder<Vec<u8>>,
    /// Whether the current member has begun.
    is_begun: bool,
    has_member: bool,
    tail: Tail,
}

struct Zstd {
    decoder: Decoder<'static>,
    is_between_frames: bool,
    has_frame: bool,
    tail: Tail,
}

/// What comes after the last member or frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Nothing,
    /// Bytes that are not compressed data.
    Other,
}

const GZIP: &str = "gzip";
const ZSTD: &str = "zstd";
/// Words of errors by which zstd says that a frame needs more memory, and that there is no frame.
const ZSTD_WINDOW: &str = "too much memory";
const ZSTD_NO_FRAME: &str = "Unknown frame descriptor";

impl Decompressor {
    /// The decompressor of bodies that are not compressed.
    #[must_use]
    pub fn plain() -> Self {
        Self { method: Method::Identity, input_bytes: 0, output_bytes: 0 }
    }

    /// The decompressor for a Content-Encoding; `None` when the encoding is unknown.
    #[must_use]
    pub fn new(encoding: &str) -> Option<Self> {
        let method = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => return Some(Self::plain()),
            "gzip" | "x-gzip" => Method::Gzip(Box::new(Gzip::new())),
            "zstd" => {
                let mut decoder = Decoder::new().ok()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
                let (has_frame, tail) = (false, Tail::Nothing);
                Method::Zstd(Box::new(Zstd { decoder, is_between_frames: true, has_frame, tail }))
            }
            _ => return None,
        };
        Some(Self { method, input_bytes: 0, output_bytes: 0 })
    }

    /// Whether bodies are compressed.
    pub(crate) const fn is_compressed(&self) -> bool {
        !matches!(self.method, Method::Identity)
    }

    /// Decompresses bytes, and calls `take` with the plain bytes, piece by piece.
    pub(crate) fn push<E: From<DecompressError>>(
        &mut self,
        bytes: &[u8],
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { method, input_bytes, output_bytes } = self;
        *input_bytes += bytes.len() as u64;
        let most = FREE_BYTES.max(input_bytes.saturating_mul(limits::INFLATE_RATIO_MAX as u64));
        let mut counted = |plain: &[u8]| {
            *output_bytes += plain.len() as u64;
            if *output_bytes > most {
                return Err(DecompressError::Ratio.into());
            }
            take(plain)
        };
        match method {
            Method::Identity => take(bytes),
            Method::Gzip(gzip) => gunzip(gzip, bytes, &mut counted),
            Method::Zstd(zstd) => unzstd(zstd, bytes, &mut counted),
        }
    }

    /// Ends the body, and calls `take` with the last plain bytes.
    pub(crate) fn finish<E: From<DecompressError>>(
        &mut self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.method {
            Method::Identity => Ok(()),
            Method::Gzip(_) if self.input_bytes == 0 => Ok(()),
            Method::Gzip(gzip) if !gzip.is_begun && gzip.has_member => Ok(()),
            // Fewer bytes than a member's head has: no head is checked before it is whole.
            Method::Gzip(gzip) if gzip.has_member && gzip.decoder.header().is_none() => {
                gzip.tail = Tail::Other;
                Ok(())
            }
            Method::Gzip(gzip) => {
                gzip.decoder.try_finish().map_err(|_| DecompressError::Truncated(GZIP))?;
                take(gzip.decoder.get_ref())
            }
            Method::Zstd(zstd) if zstd.is_between_frames => Ok(()),
            Method::Zstd(_) => Err(DecompressError::Truncated(ZSTD).into()),
        }
    }

    /// Whether there were bytes after the compressed data, which were left out.
    pub(crate) fn has_other_tail(&self) -> bool {
        match &self.method {
            Method::Identity => false,
            Method::Gzip(gzip) => gzip.tail == Tail::Other,
            Method::Zstd(zstd) => zstd.tail == Tail::Other,
        }
    }
}

impl Gzip {
    fn new() -> Self {
        let decoder = GzDecoder::new(Vec::new());
        Self { decoder, is_begun: false, has_member: false, tail: Tail::Nothing }
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.tail == Tail::Nothing {
            if !self.is_begun && self.has_member {
                let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                bytes = &bytes[zeros..];
            }
            if bytes.is_empty() {
                return Ok(());
            }
            self.is_begun = true;
            match self.decoder.write(bytes) {
                Ok(0) => {
                    self.decoder.try_finish()?;
                    let plain = std::mem::take(self.decoder.get_mut());
                    self.decoder = GzDecoder::new(plain);
                    (self.is_begun, self.has_member) = (false, true);
                }
                Ok(count) => bytes = &bytes[count..],
                Err(_) if self.has_member && self.decoder.header().is_none() => {
                    (self.tail, self.is_begun) = (Tail::Other, false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn gunzip<E: From<DecompressError>>(
    gzip: &mut Gzip,
    bytes: &[u8],
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for step in bytes.chunks(GZIP_STEP) {
        let written = gzip.write(step).and_then(|()| gzip.decoder.flush());
        written.map_err(|error| DecompressError::Corrupt(GZIP, error.to_string()))?;
        take(gzip.decoder.get_ref())?;
        gzip.decoder.get_mut().clear();
    }
    Ok(())
}

fn unzstd<E: From<DecompressError>>(
    zstd: &mut Zstd,
    bytes: &[u8],
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut input = InBuffer::around(bytes);
    let mut plain = vec![0; ZSTD_STEP];
    while zstd.tail == Tail::Nothing {
        let mut output = OutBuffer::around(plain.as_mut_slice());
        let hint = match zstd.decoder.run(&mut input, &mut output) {
            Ok(hint) => hint,
            Err(error) => {
                let reason = error.to_string();
                if reason.contains(ZSTD_NO_FRAME) && zstd.has_frame {
                    (zstd.tail, zstd.is_between_frames) = (Tail::Other, true);
                    return Ok(());
                }
                let is_long = reason.contains(ZSTD_WINDOW);
                let corrupt = || DecompressError::Corrupt(ZSTD, reason.clone());
                return Err(if is_long { DecompressError::Window } else { corrupt() }.into());
            }
        };
        take(output.as_slice())?;
        zstd.is_between_frames = hint == 0;
        zstd.has_frame |= hint == 0;
        // A full buffer may mean that zstd has more output.
        if input.pos() == bytes.len() && output.pos() < ZSTD_STEP {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).expect("gzip");
        encoder.finish().expect("gzip")
    }

    fn zstd(plain: &[u8]) -> Vec<u8> {
        zstd::encode_all(plain, 3).expect("zstd")
    }

    fn inflate(encoding: &str, bytes: &[u8], step: usize) -> Result<Vec<u8>, DecompressError> {
        let mut inflater = Decompressor::new(encoding).expect("an encoding");
        let mut plain = Vec::new();
        let mut take = |bytes: &[u8]| {
            plain.extend_from_slice(bytes);
            Ok::<_, DecompressError>(())
        };
        for piece in bytes.chunks(step.max(1)) {
            inflater.push(piece, &mut take)?;
        }
        inflater.finish(&mut take)?;
        Ok(plain)
    }

    proptest! {
        #[test]
        fn compressed_bytes_are_restored(
            plain in prop::collection::vec(0u8..8, 0..20_000),
            step in 1usize..5_000,
        ) {
            prop_assert_eq!(&inflate("gzip", &gzip(&plain), step).expect("gzip"), &plain);
            prop_assert_eq!(&inflate("zstd", &zstd(&plain), step).expect("zstd"), &plain);
            prop_assert_eq!(&inflate("identity", &plain, step).expect("plain"), &plain);
        }

        #[test]
        fn any_bytes_are_decompressed_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            at in 0usize..100,
            flip in 1u8..=255,
        ) {
            let _ = inflate("gzip", &bytes, 7);
            let _ = inflate("zstd", &bytes, 7);
            for (encoding, mut good) in [("gzip", gzip(&bytes)), ("zstd", zstd(&bytes))] {
                let at = at % good.len();
                good[at] ^= flip;
                let _ = inflate(encoding, &good, 7);
            }
        }
    }

    #[test]
    fn several_members_are_one_body() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(inflate("gzip", &two, 5).expect("gzip"), b"one two");
        let two = [zstd(b"one "), zstd(b"two")].concat();
        assert_eq!(inflate("zstd", &two, 5).expect("zstd"), b"one two");
    }

    #[test]
    fn padding_and_what_follows_the_data_are_told_apart() {
        for step in [1, 7, 1_000] {
            for (tail, is_other) in [
                (&[0; 600][..], false),
                (b"garbage, and more of it", true),
                (b"\0\x1fgarbage", true),
            ] {
                let body = [&*gzip(b"one"), tail].concat();
                let mut decompressor = Decompressor::new("gzip").expect("gzip");
                let mut plain = Vec::new();
                let mut take = |bytes: &[u8]| {
                    plain.extend_from_slice(bytes);
                    Ok::<_, DecompressError>(())
                };
                for piece in body.chunks(step) {
                    decompressor.push(piece, &mut take).expect("gzip");
                }
                decompressor.finish(&mut take).expect("gzip");
                assert_eq!(plain, b"one");
                assert_eq!(decompressor.has_other_tail(), is_other, "{step} {tail:?}");
            }
            let padded = [&*gzip(b"one "), &[0; 600], &gzip(b"two")].concat();
            assert_eq!(inflate("gzip", &padded, step).expect("gzip"), b"one two");
            let skipped = b"\x5a\x2a\x4d\x18\x02\0\0\0xx";
            let frames = [skipped, &*zstd(b"one "), skipped, &zstd(b"two"), b"garbage"].concat();
            assert_eq!(inflate("zstd", &frames, step).expect("zstd"), b"one two");
        }
    }

    #[test]
    fn a_long_window_is_named() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("zstd");
        encoder.window_log(24).expect("a window");
        encoder.include_contentsize(false).expect("an option");
        encoder.write_all(b"x").expect("zstd");
        let body = encoder.finish().expect("zstd");
        assert_eq!(inflate("zstd", &body, 100), Err(DecompressError::Window));
    }

    #[test]
    fn a_body_that_breaks_off_is_an_error() {
        let plain: Vec<u8> = (0..9_999u32).map(|n| (n * 7 % 251) as u8).collect();
        for (encoding, whole) in [("gzip", gzip(&plain)), ("zstd", zstd(&plain))] {
            for cut in [1, whole.len() / 2, whole.len() - 1] {
                let result = inflate(encoding, &whole[..cut], 100);
                assert!(result.is_err(), "{encoding} cut at {cut}");
            }
            assert_eq!(inflate(encoding, &[], 1), Ok(Vec::new()));
        }
    }

    #[test]
    fn a_bomb_is_stopped_by_its_output() {
        let zeros = vec![0; 64 << 20];
        for (encoding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd(&zeros))] {
            let mut inflater = Decompressor::new(encoding).expect("an encoding");
            let mut output_bytes = 0;
            let result = inflater.push(&bomb, &mut |bytes| {
                output_bytes += bytes.len();
                Ok(())
            });
            assert_eq!(result, Err(DecompressError::Ratio), "{encoding}");
            assert!(output_bytes <= (1 << 20).max(100 * bomb.len()), "{encoding}: {output_bytes}");
        }
    }

    #[test]
    fn the_first_mebibyte_is_free() {
        let zeros = vec![0; 1 << 20];
        assert_eq!(inflate("gzip", &gzip(&zeros), 100).map(|plain| plain.len()), Ok(1 << 20));
        let more = vec![0; (1 << 20) + 1];
        assert_eq!(inflate("gzip", &gzip(&more), 9_999), Err(DecompressError::Ratio));
    }

    #[test]
    fn other_encodings_are_unknown() {
        for encoding in ["br", "deflate", "gzip, gzip", "zip"] {
            assert!(Decompressor::new(encoding).is_none(), "{encoding}");
        }
    }
}
