//! State that all requests of a process share. Nothing here knows [`crate::Frontend`], which owns
//! it.

pub(crate) mod backpressure;
pub(crate) mod counters;
pub(crate) mod fair_queue;
pub(crate) mod in_flight;
pub(crate) mod live_columns;
pub(crate) mod memory_gauge;
pub(crate) mod settings_cache;
pub(crate) mod shutdown;
