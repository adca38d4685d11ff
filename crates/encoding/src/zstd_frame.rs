//! Cold bytes: one zstd frame of what is read rarely, and the memory that it is thawed to.
//!
//! What a frame holds is encoded already, so LZ4 finds hardly anything in it; zstd codes its bytes by
//! how often they come, too. The length in full is known to whoever thaws, and bounds what is made.
//!
//! Thawed bytes are needed for as long as a block is looked at, and are written anew for the next
//! one: so a thread keeps their memory, as it does for numbers (`buffer.rs`).

use std::cell::RefCell;
use std::ops::Deref;

use hadal_types::limits::{THAWED_KEPT_BYTES_MAX, THAWED_KEPT_MAX};
use zstd::bulk::{Decompressor, compress};

use crate::EncodingError;

/// Level 9 takes four times as long and saves another hundredth; level 1 is no faster by much, and
/// misses texts that repeat farther away.
const LEVEL: i32 = 3;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSOR: RefCell<Decompressor<'static>> = RefCell::default();
}

/// The frame of these bytes; `None` where zstd has no memory for its work.
#[must_use]
pub fn compress_frame(warm: &[u8]) -> Option<Vec<u8>> {
    compress(warm, LEVEL).ok()
}

/// Bytes that a frame held, in memory that the next ones of the same thread are thawed to.
#[derive(Debug, Default)]
pub struct Decompressed(Vec<u8>);

impl Decompressed {
    /// The `expected` bytes that a frame stands for. The caller has checked that so many are within
    /// their limit: they are allocated, if the frame says the same.
    ///
    /// # Errors
    /// When the frame is none of just so many bytes.
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
        // Larger ones are few: they come from the allocator, which may give them back.
        if (1..=THAWED_KEPT_BYTES_MAX).contains(&memory.capacity()) {
            // A thread that ends keeps nothing.
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
        // Two frames together, one that is cut, and none.
        let twice = [&frame[..], &frame[..]].concat();
        assert_eq!(Decompressed::new(&twice, 2_000).expect("two frames").len(), 2_000);
        assert!(Decompressed::new(&twice, 1_000).is_err());
        assert!(Decompressed::new(&frame[..frame.len() - 1], 1_000).is_err());
        assert!(Decompressed::new(b"no frame", 8).is_err());
        // The frame says so itself: nothing is allocated for it.
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
