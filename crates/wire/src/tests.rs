//! The promises of the whole crate: the codec loses and changes nothing, no bytes do harm, and
//! bytes of earlier releases can be decoded.

mod hostile;
mod round_trip;
mod seams;
pub(crate) mod strategies;
mod user_functions;
pub(crate) mod vectors;
