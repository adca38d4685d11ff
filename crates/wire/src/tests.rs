//! The promises of the whole crate: the codec loses and changes nothing, no bytes do harm, and
//! bytes of earlier releases can be decoded.

mod hostile;
mod hostile_groups;
mod round_trip;
mod seams;
pub(crate) mod strategies;
mod user_functions;
pub(crate) mod vectors;

use bytes::Bytes;
use hadal_query::FunctionRegistry;

use crate::error::DecodeError;
use crate::query::QueryRequest;

/// Decodes a request without user functions.
fn decode_query(bytes: Bytes) -> Result<QueryRequest, DecodeError> {
    QueryRequest::decode(bytes, &FunctionRegistry::default())
}
