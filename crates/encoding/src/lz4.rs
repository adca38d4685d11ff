//! Bytes compressed by LZ4 (block format) where that makes them fewer, else as they are.
//!
//! The length that the bytes have in full is known to both sides, so nothing is stored in front:
//! stored bytes of just that length are plain.

use crate::EncodingError;

/// Appends `plain`, compressed where that makes it shorter.
pub(crate) fn store(plain: &[u8], out: &mut Vec<u8>) {
    let compressed = lz4_flex::block::compress(plain);
    out.extend_from_slice(if compressed.len() < plain.len() { &compressed } else { plain });
}

/// Appends the `expected` bytes that `stored` stands for; `page` is named in the error. The caller
/// has checked that `expected` is within its limit: so many bytes are allocated.
pub(crate) fn restore(
    stored: &[u8],
    expected: usize,
    page: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodingError> {
    if stored.len() == expected {
        out.extend_from_slice(stored);
        return Ok(());
    }
    let start = out.len();
    out.resize(start + expected, 0);
    match lz4_flex::block::decompress_into(stored, &mut out[start..]) {
        Ok(found) if found == expected => Ok(()),
        _ => Err(EncodingError::Page { page, expected }),
    }
}
