//! Looks at bytes before they are decoded: what would they take?
//!
//! Protobuf decoders make room for what bytes claim, and an empty message of two bytes may take a
//! hundred once decoded. So the bytes are walked once, along the message's [`Shape`] (made from
//! `spec/proto` by `build.rs`), and refused when they would take more memory than they may. The
//! walk itself makes room for nothing.
//!
//! It also refuses fields that are not in the shape. A decoder would skip them, and a question of
//! which one condition was skipped has a wrong answer; so between releases a writer uses only
//! fields that the oldest reader knows.

use bytes::Bytes;
use hadal_types::limits::MESSAGE_MEMORY_MAX;
use prost::Message;

use crate::error::{At, DecodeError, DecodeErrorKind, at_most};

/// What a message is made of.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// Bytes that the decoded message takes without what it has on the heap.
    pub(crate) bytes: usize,
    /// By number.
    pub(crate) fields: &'static [(u32, Field)],
}

/// What a field holds.
#[derive(Debug)]
pub(crate) enum Field {
    /// A number.
    Scalar,
    /// A list of numbers.
    Scalars,
    /// Bytes that stay where they are.
    Slice,
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A message, inside of this one.
    One(&'static Shape),
    /// A list of messages.
    Many(&'static Shape),
}

/// A message that has a shape.
pub(crate) trait Shaped {
    const SHAPE: &'static Shape;
}

/// Lists are given room for up to twice what they hold.
const GROWTH: usize = 2;

/// Decodes a message of at most `bytes_max` bytes, which takes at most [`MESSAGE_MEMORY_MAX`], and
/// converts it; whatever goes wrong went wrong in this message.
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

/// Decodes a message of which the memory is known.
pub(crate) fn message<M: Message + Default>(bytes: Bytes) -> Result<M, DecodeError> {
    M::decode(bytes).map_err(|error| DecodeErrorKind::Protobuf(error.to_string()).into())
}

/// About how many bytes of memory a message takes once decoded, but for the factor of lists that
/// are shorter than what they are first given room for.
///
/// # Errors
/// When that is more than `most`, or the bytes cannot be walked.
pub(crate) fn memory<M: Shaped>(bytes: &[u8], most: usize) -> Result<usize, DecodeError> {
    let mut left = most;
    spend(&mut left, M::SHAPE.bytes).and_then(|()| walk(M::SHAPE, bytes, &mut left)).map_err(
        |kind| {
            if kind == DecodeErrorKind::Memory(0) { DecodeErrorKind::Memory(most) } else { kind }
        },
    )?;
    Ok(most - left)
}

fn walk(shape: &Shape, mut bytes: &[u8], left: &mut usize) -> Result<(), DecodeErrorKind> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let number = u32::try_from(key >> 3).unwrap_or(0);
        let known = shape.fields.iter().find(|(known, _)| *known == number);
        let (_, field) = known.ok_or(DecodeErrorKind::UnknownField(number))?;
        match key & 7 {
            0 => {
                varint(&mut bytes)?;
                spend_scalars(field, 1, left)?;
            }
            1 => {
                take(&mut bytes, 8)?;
                spend_scalars(field, 1, left)?;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).unwrap_or(usize::MAX);
                walk_field(field, take(&mut bytes, length)?, left)?;
            }
            5 => {
                take(&mut bytes, 4)?;
                spend_scalars(field, 1, left)?;
            }
            other => {
                return Err(DecodeErrorKind::Protobuf(format!(
                    "{}: wire type {other}",
                    shape.name
                )));
            }
        }
    }
    Ok(())
}

fn walk_field(field: &Field, content: &[u8], left: &mut usize) -> Result<(), DecodeErrorKind> {
    match field {
        // A scalar that comes as bytes is refused by the decoder.
        Field::Slice | Field::Scalar => Ok(()),
        Field::Scalars => spend_scalars(field, content.len(), left),
        Field::Text => spend(left, content.len()),
        Field::Texts => spend(left, content.len() + GROWTH * size_of::<String>()),
        Field::One(shape) => walk(shape, content, left),
        Field::Many(shape) => {
            spend(left, GROWTH * shape.bytes)?;
            walk(shape, content, left)
        }
    }
}

/// Spends what a list of at most so many numbers takes.
fn spend_scalars(field: &Field, count: usize, left: &mut usize) -> Result<(), DecodeErrorKind> {
    match field {
        Field::Scalars => spend(left, count.saturating_mul(GROWTH * size_of::<u64>())),
        _ => Ok(()),
    }
}

fn spend(left: &mut usize, bytes: usize) -> Result<(), DecodeErrorKind> {
    *left = left.checked_sub(bytes).ok_or(DecodeErrorKind::Memory(0))?;
    Ok(())
}

/// Takes the next `length` bytes.
pub(crate) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8], DecodeErrorKind> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or_else(|| {
        DecodeErrorKind::Protobuf(format!("{length} bytes where only {} are left", bytes.len()))
    })?;
    *bytes = rest;
    Ok(taken)
}

/// Takes an integer of up to ten bytes with seven bits each, the lowest first.
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
