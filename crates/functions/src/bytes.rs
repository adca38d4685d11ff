//! Numbers and texts as bytes. The reader trusts nothing: it takes no more than there is.

use crate::message_error::MessageError;

/// Appends to a message.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A length. Those beyond 32 bits do not fit into a message, which its receiver refuses.
    pub(crate) fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
    }

    pub(crate) fn f64(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn bools(&mut self, values: &[bool]) {
        self.0.extend(values.iter().map(|&value| u8::from(value)));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], MessageError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MessageError> {
        self.take(N)?.try_into().map_err(|_| MessageError::Short)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, MessageError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, MessageError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn length(&mut self) -> Result<usize, MessageError> {
        usize::try_from(self.u32()?).map_err(|_| MessageError::Short)
    }

    pub(crate) fn f64s(&mut self, count: usize) -> Result<Vec<f64>, MessageError> {
        let bytes = self.take(count.checked_mul(8).ok_or(MessageError::Short)?)?;
        let (chunks, _) = bytes.as_chunks::<8>();
        Ok(chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect())
    }

    pub(crate) fn bools(&mut self, count: usize) -> Result<Vec<bool>, MessageError> {
        self.take(count)?
            .iter()
            .map(|&byte| match byte {
                0 | 1 => Ok(byte == 1),
                _ => Err(MessageError::Unknown("truth value", byte)),
            })
            .collect()
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, MessageError> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| MessageError::NoText)
    }

    pub(crate) fn end(self) -> Result<(), MessageError> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(MessageError::Long(left)),
        }
    }
}
