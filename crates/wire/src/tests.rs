//! What the whole crate promises: nothing is lost or changed on the wire, no bytes do harm, and
//! what was once written can be read.

mod hostile;
mod round_trip;
mod seams;
pub(crate) mod strategies;
mod user_functions;
pub(crate) mod vectors;
