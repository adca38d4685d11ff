//! Reads fields of a message, in bounds for any bytes.

use std::str;

use bytes::{Buf, Bytes};

use crate::protocol_error::ProtocolError;

/// The rest of a message's body.
pub(crate) struct BodyReader {
    kind: char,
    rest: Bytes,
}

impl BodyReader {
    /// Reads the body of a message of this kind.
    pub(crate) fn new(kind: char, body: Bytes) -> Self {
        Self { kind, rest: body }
    }

    fn malformed(&self) -> ProtocolError {
        ProtocolError::Malformed(self.kind)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.rest.try_get_u8().map_err(|_| self.malformed())
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.rest.try_get_u16().map_err(|_| self.malformed())
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.rest.try_get_u32().map_err(|_| self.malformed())
    }

    pub(crate) fn i32(&mut self) -> Result<i32, ProtocolError> {
        self.rest.try_get_i32().map_err(|_| self.malformed())
    }

    /// A text that ends with a zero byte.
    pub(crate) fn text(&mut self) -> Result<String, ProtocolError> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or_else(|| self.malformed())?;
        let bytes = self.rest.split_to(end);
        self.rest.advance(1);
        let text = str::from_utf8(&bytes).map_err(|_| ProtocolError::NotUtf8(self.kind))?;
        Ok(text.to_owned())
    }

    /// The next `length` bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Result<Bytes, ProtocolError> {
        if length > self.rest.len() {
            return Err(self.malformed());
        }
        Ok(self.rest.split_to(length))
    }

    /// All bytes that are left.
    pub(crate) fn all(&mut self) -> Bytes {
        std::mem::take(&mut self.rest)
    }

    /// A count of fields of at least `field_bytes` bytes each, which must fit the rest. So a count
    /// cannot make the reader allocate more than the message has.
    pub(crate) fn count(&mut self, field_bytes: usize) -> Result<usize, ProtocolError> {
        let count = usize::from(self.u16()?);
        match count.saturating_mul(field_bytes) > self.rest.len() {
            true => Err(self.malformed()),
            false => Ok(count),
        }
    }

    /// Refuses bytes after the last field.
    pub(crate) fn end(&self) -> Result<(), ProtocolError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed()) }
    }
}
