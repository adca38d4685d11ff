//! Delimited messages: each preceded by its length. Messages are decoded one by one, so a long list
//! never exists as protobuf messages all at once.

use std::marker::PhantomData;

use bytes::Bytes;
use hadal_types::limits::{FRAMES_MEMORY_MAX, MESSAGE_MEMORY_MAX};
use prost::Message;

use crate::error::{At, DecodeError, DecodeErrorKind, at_most, unfit};
use crate::size_guard::{self, MemoryLimit, Shaped};

/// Encodes messages one after the other, each preceded by its length.
pub(crate) fn encode<M: Message>(messages: impl IntoIterator<Item = M>) -> Bytes {
    let mut bytes = Vec::new();
    for message in messages {
        bytes.extend_from_slice(&message.encode_length_delimited_to_vec());
    }
    bytes.into()
}

/// Reads delimited messages. Once decoded, they may take [`FRAMES_MEMORY_MAX`] bytes together, and
/// [`MESSAGE_MEMORY_MAX`] each. After the first error the rest is useless.
pub(crate) struct Frames<M> {
    bytes: Bytes,
    memory: MemoryLimit,
    message: PhantomData<M>,
}

impl<M: Message + Shaped + Default> Frames<M> {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self::within(bytes, MemoryLimit::new(FRAMES_MEMORY_MAX))
    }

    /// As [`Self::new`], but within another limit of memory.
    pub(crate) const fn within(bytes: Bytes, memory: MemoryLimit) -> Self {
        Self { bytes, memory, message: PhantomData }
    }

    /// What is left of the memory.
    pub(crate) const fn memory(&self) -> MemoryLimit {
        self.memory
    }

    fn read(&mut self) -> Result<M, DecodeError> {
        let frame = self.cut()?;
        let most = MESSAGE_MEMORY_MAX.min(self.memory.left());
        self.memory.spend(size_guard::memory::<M>(&frame, most)?, 1)?;
        size_guard::message(frame)
    }

    /// Cuts off and returns the next message's bytes.
    fn cut(&mut self) -> Result<Bytes, DecodeErrorKind> {
        let mut rest: &[u8] = &self.bytes;
        let length = usize::try_from(size_guard::varint(&mut rest)?).unwrap_or(usize::MAX);
        let from = self.bytes.len() - rest.len();
        size_guard::take(&mut rest, length)?;
        let frame = self.bytes.slice(from..from + length);
        self.bytes = self.bytes.slice(from + length..);
        Ok(frame)
    }
}

/// Decodes exactly `count` delimited messages, the content of this field. `decode` counts the
/// memory of what a message is expanded to. An error has the index of its message.
pub(crate) fn decode<M: Message + Shaped + Default, T>(
    (field, bytes): (&str, Bytes),
    count: usize,
    memory: &mut MemoryLimit,
    mut decode: impl FnMut(M, &mut MemoryLimit) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let mut frames = Frames::within(bytes, *memory);
    let mut decoded = Vec::new();
    while let Some(message) = frames.next() {
        let index = decoded.len();
        at_most("messages", index + 1, count).at(field)?;
        let converted = message.and_then(|message| decode(message, &mut frames.memory));
        decoded.push(converted.at_index(field, index)?);
    }
    *memory = frames.memory();
    match decoded.len() == count {
        true => Ok(decoded),
        false => Err(unfit(format!("{} messages", decoded.len()), count)).at(field),
    }
}

impl<M: Message + Shaped + Default> Iterator for Frames<M> {
    type Item = Result<M, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.bytes.is_empty()).then(|| self.read())
    }
}
