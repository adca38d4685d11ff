//! The cold tier: one zstd frame of rarely read bytes, and the memory for its decompressed bytes.
//!
//! The bytes in a frame are encoded already, so LZ4 hardly compresses them. zstd compresses them
//! further, because it also has entropy coding. The reader knows the decompressed length, which
//! limits the allocation.
//!
//! Decompressed bytes are needed while a block is scanned, and the next block needs as many bytes
//! again. So a thread keeps this memory, as it does for numbers (`buffer.rs`).

use std::cell::RefCell;
use std::ops::Deref;

use hadal_types::limits::{THAWED_KEPT_BYTES_MAX, THAWED_KEPT_MAX};
use zstd::bulk::{Decompressor, compress};

use crate::EncodingError;

/// Level 9 takes four times as long and saves another 1 %. Level 1 is not much faster, and misses
/// texts that repeat at a greater distance.
const LEVEL: i32 = 3;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSOR: RefCell<Decompressor<'static>> = RefCell::default();
}

/// Compresses the bytes to a frame; `None` if zstd cannot get its working memory.
#[must_use]
pub fn compress_frame(warm: &[u8]) -> Option<Vec<u8>> {
    compress(warm, LEVEL).ok()
}

/// The decompressed bytes of a frame. Their memory is reused by the same thread.
#[derive(Debug, Default)]
pub struct Decompressed(Vec<u8>);

impl Decompressed {
    /// Decompresses a frame to `expected` bytes. The caller must have checked `expected` against
    /// its limit, because this allocates as many bytes if the frame states the same length.
    ///
    /// # Errors
    /// When the bytes are not a frame of exactly this length.
    pub fn new(frame: &[u8], expected: usize) -> Result<Self, EncodingError> {
        let wrong = EncodingError::Frame { expected };
        if Decompressor::upper_bound(frame) != Some(expected) {
            return Err(wrong);
        }
        let mut decompressed = Self(KEPT.with_borrow_mut(Vec::pop).unwrap_or_default());
        decompressed.0.clear();
        decompressed.0.reserve(expected);
        let made = DECOMPRESSOR
            .with_borrow_mut(|zstd| zstd.decompress_to_buffer(frame, &mut decompressed.0).ok());
        if made == Some(expected) { Ok(decompressed) } else { Err(wrong) }
    }
}

impl Deref for Decompressed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Decompressed {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.0);
        // Larger ones are few; they go back to the allocator, which may return them to the system.
        if (1..=THAWED_KEPT_BYTES_MAX).contains(&memory.capacity()) {
            // A thread that is ending keeps nothing.
            let _ = KEPT.try_with(|kept| {
                let mut kept = kept.borrow_mut();
                if kept.len() < THAWED_KEPT_MAX {
                    kept.push(memory);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(bytes: &[u8]) -> Vec<u8> {
        compress_frame(bytes).expect("there is memory")
    }

    #[test]
    fn what_was_chilled_is_thawed() {
        let text: Vec<u8> = (0..100_000u32).flat_map(|i| (i % 777).to_le_bytes()).collect();
        for bytes in [&[][..], b"x", &text] {
            assert_eq!(&*Decompressed::new(&frame(bytes), bytes.len()).expect("thaws"), bytes);
        }
        assert!(frame(&text).len() < text.len() / 20);
    }

    #[test]
    fn only_just_so_many_bytes_are_made() {
        let frame = frame(&[7; 1_000]);
        for expected in [0, 999, 1_001, usize::MAX] {
            let error = Decompressed::new(&frame, expected).expect_err("another length");
            assert_eq!(error, EncodingError::Frame { expected });
        }
        // Two frames together, a truncated frame, and bytes that are not a frame.
        let twice = [&frame[..], &frame[..]].concat();
        assert_eq!(Decompressed::new(&twice, 2_000).expect("two frames").len(), 2_000);
        assert!(Decompressed::new(&twice, 1_000).is_err());
        assert!(Decompressed::new(&frame[..frame.len() - 1], 1_000).is_err());
        assert!(Decompressed::new(b"no frame", 8).is_err());
        // The frame itself states a length: nothing is allocated for it.
        let mut bomb = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
        bomb.extend((1u64 << 60).to_le_bytes());
        assert!(Decompressed::new(&bomb, 1_000).is_err());
    }

    #[test]
    fn memory_is_used_again_up_to_a_limit() {
        let small = frame(&[1; 5_000]);
        let first = Decompressed::new(&small, 5_000).expect("thaws");
        let place = first.as_ptr();
        drop(first);
        assert_eq!(Decompressed::new(&frame(&[2; 300]), 300).expect("thaws").as_ptr(), place);
        let large = frame(&vec![3; THAWED_KEPT_BYTES_MAX + 1]);
        let many = || Decompressed::new(&small, 5_000).expect("thaws");
        drop((0..2 * THAWED_KEPT_MAX).map(|_| many()).collect::<Vec<_>>());
        drop(Decompressed::new(&large, THAWED_KEPT_BYTES_MAX + 1).expect("thaws"));
        let kept = KEPT.with_borrow(|kept| kept.iter().map(Vec::capacity).collect::<Vec<_>>());
        assert!(kept.len() <= THAWED_KEPT_MAX && kept.len() + 1 >= THAWED_KEPT_MAX);
        assert!(kept.iter().all(|&bytes| bytes <= THAWED_KEPT_BYTES_MAX));
    }

    proptest! {
        #[test]
        fn altered_frames_never_panic(
            bytes in prop::collection::vec(0u8..4, 0..2_000),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut frame = frame(&bytes);
            for (at, byte) in flips {
                let at = at.index(frame.len());
                frame[at] = byte;
            }
            if let Ok(decompressed) = Decompressed::new(&frame, bytes.len()) {
                assert_eq!(decompressed.len(), bytes.len());
            }
        }
    }
}
