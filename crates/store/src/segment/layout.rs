//! The layout of segment files: names, header, pages. `spec/segments.md`, section 2.

use twox_hash::XxHash3_64;

/// Blocks start at multiples of this, and the header takes one.
pub(crate) const PAGE: u64 = 4_096;
const MAGIC: [u8; 8] = *b"\x89HDLSEG\x01";
const HEADER_SUMMED: usize = 32;
pub(super) const HEADER_USED: usize = 40;

/// The position of a block in the segment files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockLocation {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl BlockLocation {
    /// The position of all blocks of a store without a folder.
    pub(crate) const IN_MEMORY: Self = Self { segment: 0, offset: 0, length: 0 };
}

/// The file name of segment `number`.
pub(crate) fn file_name(number: u32) -> String {
    format!("{number:08}.segment")
}

/// The number in a segment's file name.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".segment")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

/// The header of a segment file of `length` bytes.
pub(super) fn header(salt: u64, length: u64, number: u32) -> [u8; HEADER_USED] {
    let mut header = [0; HEADER_USED];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&salt.to_le_bytes());
    header[16..24].copy_from_slice(&length.to_le_bytes());
    header[24..28].copy_from_slice(&number.to_le_bytes());
    let sum = XxHash3_64::oneshot_with_seed(salt, &header[..HEADER_SUMMED]);
    header[HEADER_SUMMED..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// The bytes that a block of `length` bytes takes in a segment.
pub(super) fn paged(length: u32) -> u64 {
    u64::from(length).next_multiple_of(PAGE)
}
