//! Codec of one key of all groups.

use std::borrow::Cow;

use bytes::Bytes;
use hadal_aggregate::{DistinctValues, KeyColumn};
use hadal_types::Value;

use crate::error::{At, DecodeError, at_most, required, unfit};
use crate::frames;
use crate::numbers::{self, of_zigzag, zigzag};
use crate::proto::{self, key_column};
use crate::size_guard::MemoryLimit;
use crate::value::{decode_value, encode_value};

pub(super) fn encode_key(key: &KeyColumn<'_>) -> proto::KeyColumn {
    let values = match &key.values {
        DistinctValues::Integers(ints) => key_column::Values::Integers(encode_ascending(ints)),
        DistinctValues::Times(times) => key_column::Values::Times(encode_ascending(times)),
        DistinctValues::Strings(texts) => key_column::Values::Strings(encode_texts(texts)),
        DistinctValues::Others(values) => {
            key_column::Values::Others(frames::encode(values.iter().map(encode_value)))
        }
    };
    let mut last = 0;
    let differences = key.indexes.iter().map(|&index| {
        let difference = i128::from(index) - i128::from(std::mem::replace(&mut last, index));
        zigzag(difference)
    });
    proto::KeyColumn { values: Some(values), indexes: numbers::encode(differences) }
}

/// Decodes the key of `count` groups.
pub(super) fn decode_key<'k>(
    key: &'k proto::KeyColumn,
    count: usize,
    memory: &mut MemoryLimit,
) -> Result<KeyColumn<'k>, DecodeError> {
    let values = match required(key.values.as_ref())? {
        key_column::Values::Integers(ints) => {
            DistinctValues::Integers(decode_ascending(ints, count, memory).at("integers")?)
        }
        key_column::Values::Times(times) => {
            DistinctValues::Times(decode_ascending(times, count, memory).at("times")?)
        }
        key_column::Values::Strings(texts) => {
            DistinctValues::Strings(decode_texts(texts, count, memory).at("strings")?)
        }
        key_column::Values::Others(values) => {
            DistinctValues::Others(decode_others(values, count, memory)?)
        }
    };
    // The dictionary has another copy, and a number for each group.
    memory.spend(values.len(), size_of::<Value>() + size_of::<u64>())?;
    memory.spend(count, 2 * size_of::<u32>())?;
    let indexes = decode_indexes(&key.indexes, values.len(), count, memory).at("indexes")?;
    Ok(KeyColumn { values, indexes })
}

fn encode_ascending(values: &[i64]) -> Bytes {
    let first = values.iter().take(1).map(|&first| zigzag(first.into()));
    let steps = values.windows(2).map(|pair| pair[1].abs_diff(pair[0]).into());
    numbers::encode(first.chain(steps))
}

fn decode_ascending(
    bytes: &[u8],
    most: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<i64>, DecodeError> {
    let mut last: Option<i64> = None;
    let next = |number: u128| {
        let next = match last {
            None => i64::try_from(of_zigzag(number)).ok()?,
            Some(last) => {
                let step = u64::try_from(number).ok().filter(|&step| step > 0)?;
                last.checked_add_unsigned(step)?
            }
        };
        last = Some(next);
        last
    };
    numbers::decode(bytes, count_of_values(bytes, most)?, memory, next)
}

fn encode_texts(texts: &[Cow<'_, str>]) -> proto::Texts {
    let lengths = numbers::encode(texts.iter().map(|text| text.len() as u128));
    let mut text = String::with_capacity(texts.iter().map(|text| text.len()).sum());
    texts.iter().for_each(|part| text.push_str(part));
    proto::Texts { lengths, text: text.into() }
}

fn decode_texts<'t>(
    texts: &'t proto::Texts,
    most: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<Cow<'t, str>>, DecodeError> {
    let count = count_of_values(&texts.lengths, most)?;
    memory.spend(texts.text.len(), 1)?;
    let text = std::str::from_utf8(&texts.text);
    let mut rest = text.map_err(|error| unfit(error, "UTF-8")).at("text")?;
    let next = |length: u128| {
        let (text, others) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        rest = others;
        Some(Cow::Borrowed(text))
    };
    let parts = numbers::decode(&texts.lengths, count, memory, next).at("lengths")?;
    if !rest.is_empty() {
        return Err(unfit(format!("{} more bytes", rest.len()), format!("{count} texts")));
    }
    ascending(parts)
}

fn decode_others(
    values: &Bytes,
    most: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<Value>, DecodeError> {
    let mut frames = frames::Frames::within(values.clone(), *memory);
    let mut decoded = Vec::new();
    for (index, value) in frames.by_ref().enumerate() {
        at_most("values", index + 1, most).at("others")?;
        decoded.push(value.and_then(decode_value).at_index("others", index)?);
    }
    *memory = frames.memory();
    match decoded.last() {
        Some(Value::Null) => Err(unfit("null", "other values")).at("others"),
        _ => ascending(decoded).at("others"),
    }
}

/// How many values there are. Each is some group's, so there are not more than groups.
fn count_of_values(bytes: &[u8], most: usize) -> Result<usize, DecodeError> {
    let count = numbers::count(bytes);
    at_most("values", count, most)?;
    Ok(count)
}

fn ascending<T: Ord>(values: Vec<T>) -> Result<Vec<T>, DecodeError> {
    match values.is_sorted_by(|left, right| left < right) {
        true => Ok(values),
        false => Err(unfit("values out of order", "ascending values, each once")),
    }
}

/// Decodes the indexes of `count` groups: of these values and null.
fn decode_indexes(
    bytes: &[u8],
    values: usize,
    count: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<u32>, DecodeError> {
    memory.spend(values, size_of::<bool>())?;
    let mut is_used = vec![false; values + 1];
    let mut last = 0i128;
    let next = |number: u128| {
        last = last.checked_add(of_zigzag(number))?;
        *is_used.get_mut(usize::try_from(last).ok()?)? = true;
        u32::try_from(last).ok()
    };
    let indexes = numbers::decode(bytes, count, memory, next)?;
    match is_used.iter().take(values).position(|is_used| !is_used) {
        None => Ok(indexes),
        Some(index) => Err(unfit(format!("value {index} of no group"), "values of groups")),
    }
}
