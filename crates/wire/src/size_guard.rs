//! Estimates the memory of a message before its bytes are decoded.
//!
//! Protobuf decoders allocate what the bytes claim, and an empty message of two bytes may take a
//! hundred bytes once decoded. So the bytes are walked once, along the message's [`MessageShape`]
//! (made from `spec/proto` by `build.rs`), and refused if they would take more memory than allowed.
//! The walk itself allocates nothing.
//!
//! The guard also refuses fields that are not in the shape. A decoder would skip them, and a query
//! with a skipped condition has a wrong answer. So between releases a writer uses only fields that
//! the oldest reader knows.

use bytes::Bytes;
use hadal_types::limits::MESSAGE_MEMORY_MAX;
use prost::Message;

use crate::error::{At, DecodeError, DecodeErrorKind, at_most};

/// The structure of a message.
#[derive(Debug)]
pub(crate) struct MessageShape {
    pub(crate) name: &'static str,
    /// Bytes of the decoded message without its heap memory.
    pub(crate) bytes: usize,
    /// Fields by number.
    pub(crate) fields: &'static [(u32, Field)],
}

/// The type of a field.
#[derive(Debug)]
pub(crate) enum Field {
    /// A number.
    Scalar,
    /// A list of numbers.
    Scalars,
    /// Bytes that are not copied.
    Slice,
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A message.
    One(&'static MessageShape),
    /// A list of messages.
    Many(&'static MessageShape),
}

/// Messages with a shape.
pub(crate) trait Shaped {
    const SHAPE: &'static MessageShape;
}

/// Memory that the parts of a message may take together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimit {
    most: usize,
    left: usize,
}

impl MemoryLimit {
    /// A limit of this many bytes.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, left: most }
    }

    /// The bytes that may still be spent.
    pub(crate) const fn left(self) -> usize {
        self.left
    }

    /// Counts `count` elements of this size, before there is room made for them.
    ///
    /// # Errors
    /// When they are over the limit.
    pub(crate) fn spend(&mut self, count: usize, size: usize) -> Result<(), DecodeError> {
        spend(&mut self.left, count.saturating_mul(size))
            .map_err(|_| DecodeErrorKind::Memory(self.most).into())
    }
}

/// The capacity of a list may be up to twice its length.
const GROWTH: usize = 2;

/// Decodes and converts a message of at most `bytes_max` bytes, which may take at most
/// [`MESSAGE_MEMORY_MAX`]. The position of every error begins with this message.
pub(crate) fn decode<M: Message + Shaped + Default, T>(
    bytes: Bytes,
    bytes_max: usize,
    convert: impl FnOnce(M) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    at_most("bytes", bytes.len(), bytes_max)
        .and_then(|()| memory::<M>(&bytes, MESSAGE_MEMORY_MAX))
        .and_then(|_| message(bytes))
        .and_then(convert)
        .at(M::SHAPE.name)
}

/// Decodes a message whose memory has been checked.
pub(crate) fn message<M: Message + Default>(bytes: Bytes) -> Result<M, DecodeError> {
    M::decode(bytes).map_err(|error| DecodeErrorKind::Protobuf(error.to_string()).into())
}

/// Estimates the bytes of memory that a message takes once decoded. A list shorter than its initial
/// capacity may take more than the estimate.
///
/// # Errors
/// When the estimate is over `most`, or the bytes cannot be walked.
pub(crate) fn memory<M: Shaped>(bytes: &[u8], most: usize) -> Result<usize, DecodeError> {
    let mut memory_left = most;
    spend(&mut memory_left, M::SHAPE.bytes)
        .and_then(|()| walk(M::SHAPE, bytes, &mut memory_left))
        .map_err(|kind| {
            if kind == DecodeErrorKind::Memory(0) { DecodeErrorKind::Memory(most) } else { kind }
        })?;
    Ok(most - memory_left)
}

fn walk(
    shape: &MessageShape,
    mut bytes: &[u8],
    memory_left: &mut usize,
) -> Result<(), DecodeErrorKind> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let number = u32::try_from(key >> 3).unwrap_or(0);
        let entry = shape.fields.iter().find(|(field, _)| *field == number);
        let (_, field) = entry.ok_or(DecodeErrorKind::UnknownField(number))?;
        match key & 7 {
            0 => {
                varint(&mut bytes)?;
                spend_scalars(field, 1, memory_left)?;
            }
            1 => {
                take(&mut bytes, 8)?;
                spend_scalars(field, 1, memory_left)?;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).unwrap_or(usize::MAX);
                walk_field(field, take(&mut bytes, length)?, memory_left)?;
            }
            5 => {
                take(&mut bytes, 4)?;
                spend_scalars(field, 1, memory_left)?;
            }
            wire_type => {
                return Err(DecodeErrorKind::Protobuf(format!(
                    "{}: wire type {wire_type}",
                    shape.name
                )));
            }
        }
    }
    Ok(())
}

fn walk_field(
    field: &Field,
    content: &[u8],
    memory_left: &mut usize,
) -> Result<(), DecodeErrorKind> {
    match field {
        // The decoder refuses a scalar that comes as bytes.
        Field::Slice | Field::Scalar => Ok(()),
        Field::Scalars => spend_scalars(field, content.len(), memory_left),
        Field::Text => spend(memory_left, content.len()),
        Field::Texts => spend(memory_left, content.len() + GROWTH * size_of::<String>()),
        Field::One(shape) => walk(shape, content, memory_left),
        Field::Many(shape) => {
            spend(memory_left, GROWTH * shape.bytes)?;
            walk(shape, content, memory_left)
        }
    }
}

/// Counts the memory of a list of at most `count` numbers.
fn spend_scalars(
    field: &Field,
    count: usize,
    memory_left: &mut usize,
) -> Result<(), DecodeErrorKind> {
    match field {
        Field::Scalars => spend(memory_left, count.saturating_mul(GROWTH * size_of::<u64>())),
        _ => Ok(()),
    }
}

fn spend(memory_left: &mut usize, bytes: usize) -> Result<(), DecodeErrorKind> {
    *memory_left = memory_left.checked_sub(bytes).ok_or(DecodeErrorKind::Memory(0))?;
    Ok(())
}

/// Cuts off and returns the next `length` bytes.
pub(crate) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8], DecodeErrorKind> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or_else(|| {
        DecodeErrorKind::Protobuf(format!("{length} bytes where only {} are left", bytes.len()))
    })?;
    *bytes = rest;
    Ok(taken)
}

/// Reads an integer of up to ten bytes with seven bits each, lowest first.
pub(crate) fn varint(bytes: &mut &[u8]) -> Result<u64, DecodeErrorKind> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        let part = u64::from(byte & 0x7f);
        if (part << shift) >> shift != part {
            break;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(DecodeErrorKind::Protobuf("an integer of more than 64 bits".to_owned()))
}

#[cfg(test)]
mod tests;
