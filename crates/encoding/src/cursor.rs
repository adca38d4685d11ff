//! Reads untrusted bytes, and writes the primitives that it reads: fixed integers, varints
//! (unsigned LEB128) and zigzag.

use crate::EncodingError;

/// Reads a slice from front to back. Every method fails, without a panic, when bytes are missing.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// Reads `bytes`; errors name them `what`.
    #[must_use]
    pub const fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// Bytes not yet read.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`].
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], EncodingError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            let have = self.rest.len();
            return Err(EncodingError::Truncated { what: self.what, need: length, have });
        };
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`].
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], EncodingError> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            let have = self.rest.len();
            return Err(EncodingError::Truncated { what: self.what, need: N, have });
        };
        self.rest = rest;
        Ok(*taken)
    }

    /// The next byte.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`].
    pub fn u8(&mut self) -> Result<u8, EncodingError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next unsigned varint of up to 64 bits.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`], [`EncodingError::Varint`].
    pub fn varint(&mut self) -> Result<u64, EncodingError> {
        // Nearly all varints are one byte.
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(byte));
        }
        let value = self.varint_wide()?;
        u64::try_from(value).map_err(|_| EncodingError::Varint { what: self.what })
    }

    /// The next signed varint of 64 bits.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`], [`EncodingError::Varint`].
    pub fn zigzag(&mut self) -> Result<i64, EncodingError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    /// The next signed varint of 128 bits.
    ///
    /// # Errors
    /// [`EncodingError::Truncated`], [`EncodingError::Varint`].
    pub fn zigzag_wide(&mut self) -> Result<i128, EncodingError> {
        let value = self.varint_wide()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    fn varint_wide(&mut self) -> Result<u128, EncodingError> {
        // The first nine bytes fit 64 bits, so they need no 128-bit arithmetic.
        let mut low = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            low |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(low.into());
            }
        }
        let mut value = u128::from(low);
        for shift in (63..128).step_by(7) {
            let byte = self.u8()?;
            let bits = u128::from(byte & 0x7F);
            if (bits << shift) >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(EncodingError::Varint { what: self.what })
    }

    /// The next varint as a count or length called `what`, at most `most`.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] and those of [`Self::varint`].
    pub fn length(&mut self, what: &'static str, most: usize) -> Result<usize, EncodingError> {
        let value = self.varint()?;
        usize::try_from(value).ok().filter(|&length| length <= most).ok_or(EncodingError::Limit {
            what,
            value,
            most: most as u64,
        })
    }

    /// The next bytes, preceded by their length as a varint.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] and those of [`Self::varint`].
    pub(crate) fn prefixed(&mut self) -> Result<&'a [u8], EncodingError> {
        let length = self.length(self.what, self.rest.len())?;
        self.take(length)
    }

    /// Succeeds if all bytes are read.
    ///
    /// # Errors
    /// [`EncodingError::Trailing`].
    pub fn end(&self) -> Result<(), EncodingError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(EncodingError::Trailing { what: self.what, left }),
        }
    }
}

/// Appends an unsigned varint.
pub fn write_varint(value: u64, out: &mut Vec<u8>) {
    write_varint_wide(u128::from(value), out);
}

/// Appends a length or count as a varint.
pub fn write_length(length: usize, out: &mut Vec<u8>) {
    write_varint(length as u64, out);
}

/// Appends a signed varint.
pub fn write_zigzag(value: i64, out: &mut Vec<u8>) {
    write_varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

/// Appends a signed varint of 128 bits.
pub fn write_zigzag_wide(value: i128, out: &mut Vec<u8>) {
    write_varint_wide(((value << 1) ^ (value >> 127)).cast_unsigned(), out);
}

/// Appends the bytes that `write` appends, preceded by their length as a varint.
pub(crate) fn write_prefixed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = Vec::new();
    write(&mut bytes);
    write_length(bytes.len(), out);
    out.extend_from_slice(&bytes);
}

fn write_varint_wide(mut value: u128, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7F);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive() {
        for value in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_zigzag(value, &mut out);
            write_varint(value.cast_unsigned(), &mut out);
            write_zigzag_wide(i128::from(value) << 64, &mut out);
            let mut cursor = Cursor::new(&out, "test");
            assert_eq!(cursor.zigzag(), Ok(value));
            assert_eq!(cursor.varint(), Ok(value.cast_unsigned()));
            assert_eq!(cursor.zigzag_wide(), Ok(i128::from(value) << 64));
            assert_eq!(cursor.end(), Ok(()));
        }
        let mut out = Vec::new();
        write_zigzag_wide(i128::MIN, &mut out);
        assert_eq!(Cursor::new(&out, "test").zigzag_wide(), Ok(i128::MIN));
        assert_eq!(out.len(), 19);
    }

    #[test]
    fn bad_integers_are_refused() {
        let varint = |bytes: &[u8]| Cursor::new(bytes, "test").varint();
        assert!(matches!(varint(&[]), Err(EncodingError::Truncated { .. })));
        assert!(matches!(varint(&[0x80]), Err(EncodingError::Truncated { .. })));
        assert!(matches!(varint(&[0xFF; 30]), Err(EncodingError::Varint { .. })));
        let mut two_to_64 = vec![0x80; 9];
        two_to_64.push(2);
        assert!(matches!(varint(&two_to_64), Err(EncodingError::Varint { .. })));
        let mut cursor = Cursor::new(&[9], "test");
        assert!(matches!(cursor.length("count", 8), Err(EncodingError::Limit { value: 9, .. })));
    }
}
