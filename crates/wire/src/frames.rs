//! Delimited messages: each preceded by its length. Messages are decoded one by one, so a long list
//! never exists as protobuf messages all at once.

use std::marker::PhantomData;

use bytes::Bytes;
use hadal_types::limits::{FRAMES_MEMORY_MAX, MESSAGE_MEMORY_MAX};
use prost::Message;

use crate::error::{DecodeError, DecodeErrorKind};
use crate::size_guard::{self, Shaped};

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
    memory_left: usize,
    message: PhantomData<M>,
}

impl<M: Message + Shaped + Default> Frames<M> {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes, memory_left: FRAMES_MEMORY_MAX, message: PhantomData }
    }

    fn read(&mut self) -> Result<M, DecodeError> {
        let frame = self.cut()?;
        let most = MESSAGE_MEMORY_MAX.min(self.memory_left);
        self.memory_left -= size_guard::memory::<M>(&frame, most)?;
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

impl<M: Message + Shaped + Default> Iterator for Frames<M> {
    type Item = Result<M, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.bytes.is_empty()).then(|| self.read())
    }
}
