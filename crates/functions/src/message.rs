//! The messages between a process and its worker, and their frames.
//!
//! A frame is a length of 4 bytes, little-endian, and as many bytes: one message. The worker begins
//! with [`Response::Ready`]. After that each [`Request`] has one [`Response`].

use std::io::{self, Read, Write};

use hadal_query::{UdfColumn, UdfStrings, UdfValues};
use hadal_types::limits::{
    FUNCTION_BATCH_ROWS, FUNCTION_MESSAGE_BYTES_MAX, FUNCTION_PARAMETERS_MAX,
    FUNCTION_STATE_BYTES_MAX,
};
use hadal_types::{FunctionDefinition, FunctionType};

use crate::bytes::{Reader, Writer};
pub use crate::message_error::MessageError;

/// What a process asks of its worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Forget everything, and compile this function; answered by [`Response::Loaded`].
    Load(FunctionDefinition),
    /// Call the function for each row; answered by [`Response::Column`].
    Call {
        /// How long it may take, in milliseconds.
        millis: u32,
        /// The number of rows.
        rows: usize,
        /// The arguments, one column for each parameter.
        arguments: Vec<UdfColumn>,
    },
    /// Add rows to the state of an aggregate; answered by [`Response::State`].
    Update {
        /// How long it may take, in milliseconds.
        millis: u32,
        /// The state's JSON; `None` for a new one.
        state: Option<String>,
        /// The number of rows.
        rows: usize,
        /// The weight of each row.
        weights: Vec<f64>,
        /// The arguments, one column for each parameter.
        arguments: Vec<UdfColumn>,
    },
    /// Merge states of an aggregate; answered by [`Response::State`].
    Merge {
        /// How long it may take, in milliseconds.
        millis: u32,
        /// The states' JSON, one or more.
        states: Vec<String>,
    },
    /// Finish an aggregate; answered by [`Response::Column`] of one row.
    Finish {
        /// How long it may take, in milliseconds.
        millis: u32,
        /// The state's JSON.
        state: String,
    },
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// The worker has started and has given up its rights, except for those that the kernel cannot
    /// take: a sentence each.
    Ready(Vec<String>),
    /// The function is compiled.
    Loaded,
    /// The results.
    Column(UdfColumn),
    /// The state of an aggregate, as JSON.
    State(String),
    /// The function fails.
    Error {
        /// The line of the source; 0 if it is not known.
        line: u32,
        /// The reason.
        message: String,
    },
}

const LOAD: u8 = 1;
const CALL: u8 = 2;
const UPDATE: u8 = 3;
const MERGE: u8 = 4;
const FINISH: u8 = 5;
const READY: u8 = 1;
const LOADED: u8 = 2;
const COLUMN: u8 = 3;
const ERROR: u8 = 4;
const STATE: u8 = 5;
/// States that are merged at a time.
pub const STATES_MAX: usize = 64;
/// Sentences about missing rights.
const NOTES_MAX: usize = 16;

impl Request {
    /// The message's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Load(definition) => {
                writer.u8(LOAD);
                writer.text(&definition.to_json());
            }
            Self::Call { millis, rows, arguments } => {
                return encode_call(*millis, *rows, arguments);
            }
            Self::Update { millis, state, rows, weights, arguments } => {
                writer.u8(UPDATE);
                writer.u32(*millis);
                writer.u8(u8::from(state.is_some()));
                state.iter().for_each(|state| writer.text(state));
                writer.length(*rows);
                weights.iter().for_each(|&weight| writer.f64(weight));
                write_columns(&mut writer, arguments);
            }
            Self::Merge { millis, states } => {
                writer.u8(MERGE);
                writer.u32(*millis);
                writer.length(states.len());
                states.iter().for_each(|state| writer.text(state));
            }
            Self::Finish { millis, state } => {
                writer.u8(FINISH);
                writer.u32(*millis);
                writer.text(state);
            }
        }
        writer.into_bytes()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`] for anything that [`Self::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut reader = Reader::new(bytes);
        let request = match reader.u8()? {
            LOAD => Self::Load(FunctionDefinition::from_json(reader.text()?)?),
            CALL => {
                let millis = reader.u32()?;
                let rows = at_most("rows", reader.length()?, FUNCTION_BATCH_ROWS)?;
                Self::Call { millis, rows, arguments: read_columns(&mut reader, rows)? }
            }
            UPDATE => {
                let millis = reader.u32()?;
                let state = match reader.u8()? {
                    0 => None,
                    1 => Some(read_state(&mut reader)?),
                    other => return Err(MessageError::Unknown("form of a state", other)),
                };
                let rows = at_most("rows", reader.length()?, FUNCTION_BATCH_ROWS)?;
                let weights = reader.f64s(rows)?;
                let arguments = read_columns(&mut reader, rows)?;
                Self::Update { millis, state, rows, weights, arguments }
            }
            MERGE => {
                let millis = reader.u32()?;
                let count = at_most("states", reader.length()?, STATES_MAX)?;
                if count == 0 {
                    return Err(MessageError::Short);
                }
                let states = (0..count).map(|_| read_state(&mut reader));
                Self::Merge { millis, states: states.collect::<Result<_, _>>()? }
            }
            FINISH => Self::Finish { millis: reader.u32()?, state: read_state(&mut reader)? },
            other => return Err(MessageError::Unknown("request", other)),
        };
        reader.end()?;
        Ok(request)
    }
}

/// The bytes of [`Request::Call`] with these columns, which need not be copied first.
#[must_use]
pub fn encode_call(millis: u32, rows: usize, arguments: &[UdfColumn]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u8(CALL);
    writer.u32(millis);
    writer.length(rows);
    write_columns(&mut writer, arguments);
    writer.into_bytes()
}

fn write_columns(writer: &mut Writer, columns: &[UdfColumn]) {
    writer.length(columns.len());
    columns.iter().for_each(|column| write_column(writer, column));
}

fn read_columns(reader: &mut Reader<'_>, rows: usize) -> Result<Vec<UdfColumn>, MessageError> {
    let count = at_most("arguments", reader.length()?, FUNCTION_PARAMETERS_MAX)?;
    (0..count).map(|_| read_column(reader, rows)).collect()
}

fn read_state(reader: &mut Reader<'_>) -> Result<String, MessageError> {
    let text = reader.text()?;
    at_most("bytes of a state", text.len(), FUNCTION_STATE_BYTES_MAX)?;
    Ok(text.to_owned())
}

impl Response {
    /// The message's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Ready(notes) => {
                writer.u8(READY);
                writer.length(notes.len());
                notes.iter().for_each(|note| writer.text(note));
            }
            Self::Loaded => writer.u8(LOADED),
            Self::Column(column) => {
                writer.u8(COLUMN);
                writer.length(column.len());
                write_column(&mut writer, column);
            }
            Self::State(state) => {
                writer.u8(STATE);
                writer.text(state);
            }
            Self::Error { line, message } => {
                writer.u8(ERROR);
                writer.u32(*line);
                writer.text(message);
            }
        }
        writer.into_bytes()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`] for anything that [`Self::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut reader = Reader::new(bytes);
        let response = match reader.u8()? {
            READY => {
                let count = at_most("notes", reader.length()?, NOTES_MAX)?;
                let notes = (0..count).map(|_| reader.text().map(str::to_owned));
                Self::Ready(notes.collect::<Result<_, _>>()?)
            }
            LOADED => Self::Loaded,
            COLUMN => {
                let rows = at_most("rows", reader.length()?, FUNCTION_BATCH_ROWS)?;
                Self::Column(read_column(&mut reader, rows)?)
            }
            STATE => Self::State(read_state(&mut reader)?),
            ERROR => Self::Error { line: reader.u32()?, message: reader.text()?.to_owned() },
            other => return Err(MessageError::Unknown("response", other)),
        };
        reader.end()?;
        Ok(response)
    }
}

fn at_most(what: &'static str, count: usize, max: usize) -> Result<usize, MessageError> {
    if count > max { Err(MessageError::TooMany(count, what, max)) } else { Ok(count) }
}

const fn code_of(value_type: FunctionType) -> u8 {
    match value_type {
        FunctionType::Number => 1,
        FunctionType::String => 2,
        FunctionType::Bool => 3,
    }
}

/// A column: type, whether there are nulls, a byte for each row if so, and the values.
fn write_column(writer: &mut Writer, column: &UdfColumn) {
    writer.u8(code_of(column.value_type()));
    writer.u8(u8::from(!column.nulls.is_empty()));
    writer.bools(&column.nulls);
    match &column.values {
        UdfValues::Numbers(numbers) => numbers.iter().for_each(|&number| writer.f64(number)),
        UdfValues::Strings(strings) => strings.iter().for_each(|string| writer.text(string)),
        UdfValues::Bools(bools) => writer.bools(bools),
    }
}

fn read_column(reader: &mut Reader<'_>, rows: usize) -> Result<UdfColumn, MessageError> {
    let code = reader.u8()?;
    let value_type = FunctionType::ALL.into_iter().find(|one| code_of(*one) == code);
    let value_type = value_type.ok_or(MessageError::Unknown("type", code))?;
    let nulls = match reader.u8()? {
        0 => Vec::new(),
        1 => reader.bools(rows)?,
        other => return Err(MessageError::Unknown("form of nulls", other)),
    };
    let values = match value_type {
        FunctionType::Number => UdfValues::Numbers(reader.f64s(rows)?),
        FunctionType::Bool => UdfValues::Bools(reader.bools(rows)?),
        FunctionType::String => {
            let mut strings = UdfStrings::default();
            for _ in 0..rows {
                strings.push(reader.text()?);
            }
            UdfValues::Strings(strings)
        }
    };
    Ok(UdfColumn { values, nulls })
}

/// The head of the frame of a message; `None` if the message is too long.
#[must_use]
pub fn frame_head(message: &[u8]) -> Option<[u8; 4]> {
    let length = u32::try_from(message.len()).ok()?;
    (message.len() <= FUNCTION_MESSAGE_BYTES_MAX).then(|| length.to_le_bytes())
}

/// The length of the message behind this head; `None` if it is too long.
#[must_use]
pub fn message_length(head: [u8; 4]) -> Option<usize> {
    let length = usize::try_from(u32::from_le_bytes(head)).ok()?;
    (length <= FUNCTION_MESSAGE_BYTES_MAX).then_some(length)
}

/// Writes a message and its head. For the worker, which may wait as long as it takes.
///
/// # Errors
/// When the message is too long, or the other side is gone.
pub fn write_frame(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let head = frame_head(message).ok_or_else(too_long)?;
    to.write_all(&head)?;
    to.write_all(message)?;
    to.flush()
}

/// Reads a message. For the worker, which may wait as long as it takes.
///
/// # Errors
/// When the message is too long, or the other side is gone.
pub fn read_frame(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let mut message = vec![0; message_length(head).ok_or_else(too_long)?];
    from.read_exact(&mut message)?;
    Ok(message)
}

fn too_long() -> io::Error {
    let reason = format!("a message of more than {FUNCTION_MESSAGE_BYTES_MAX} bytes");
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests;
