//! LZ4 (block format), used only if the result has fewer bytes.
//!
//! Reader and writer both know the uncompressed length, so it is not stored: stored bytes of
//! exactly the uncompressed length are not compressed.

use crate::EncodingError;

/// Appends `plain`, compressed if that makes it shorter.
pub(crate) fn store(plain: &[u8], out: &mut Vec<u8>) {
    let compressed = lz4_flex::block::compress(plain);
    out.extend_from_slice(if compressed.len() < plain.len() { &compressed } else { plain });
}

/// Appends the `expected` bytes that `stored` decompresses to; the error names `page`. The caller
/// must have checked `expected` against its limit, because this allocates `expected` bytes.
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
        Ok(length) if length == expected => Ok(()),
        _ => Err(EncodingError::Page { page, expected }),
    }
}
