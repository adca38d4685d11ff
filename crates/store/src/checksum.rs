//! Checksums of blocks, which the manifest keeps.

use std::hash::Hasher;
use std::io;

use twox_hash::XxHash3_64;

/// The checksum of a block's bytes: XXH3-64, seeded with the store's salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(pub(crate) u64);

impl Checksum {
    /// The checksum of a block that was added before checksums were kept.
    pub(crate) const UNKNOWN: Self = Self(0);

    /// The checksum of `bytes`. The one value that means "unknown" is replaced by its neighbour.
    pub(crate) fn of(salt: u64, bytes: &[u8]) -> Self {
        Self(XxHash3_64::oneshot_with_seed(salt, bytes).max(1))
    }

    /// The checksum of `length` bytes that are read in parts, each at its offset.
    pub(crate) fn of_read(
        salt: u64,
        length: u64,
        part_max: usize,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut sum = XxHash3_64::with_seed(salt);
        let size = usize::try_from(length).map_or(part_max, |length| length.min(part_max));
        let (mut part, mut at) = (vec![0; size], 0);
        while at < length {
            let left = usize::try_from(length - at).unwrap_or(size);
            let part = &mut part[..left.min(size)];
            read(at, part)?;
            sum.write(part);
            at += part.len() as u64;
        }
        Ok(Self(sum.finish().max(1)))
    }

    pub(crate) const fn to_le_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// Whether it is known.
    pub(crate) fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: u64 = 7;

    #[test]
    fn bytes_that_are_read_in_parts_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..1_000_u32).flat_map(u32::to_le_bytes).collect();
        for length in [0, 1, 63, 64, 240, 241, 1_024, 3_999, 4_000] {
            for part in [1, 64, 1_024, 5_000] {
                let read = |at: u64, into: &mut [u8]| {
                    let at = usize::try_from(at).expect("small");
                    into.copy_from_slice(&bytes[at..at + into.len()]);
                    Ok(())
                };
                let read_sum = Checksum::of_read(SALT, length as u64, part, read).expect("read");
                assert_eq!(read_sum, Checksum::of(SALT, &bytes[..length]), "{length} {part}");
            }
        }
        let fails = |_, _: &mut [u8]| Err(std::io::Error::other("a disk that fails"));
        assert!(Checksum::of_read(SALT, 1, 64, fails).is_err());
    }
}
