//! Tests of whole blocks: written, read, altered, merged.

mod building;
mod cold;
mod forms;
mod frozen;
mod hostile;
mod merging;
mod model;
mod round_trip;
mod sampling;
mod sampling_by_key;
mod strings;
mod weighted;
