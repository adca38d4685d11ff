//! The runtime for asynchronous work.

use tokio::runtime::Runtime;

use crate::error::Error;
use crate::process::system;

/// Builds the runtime: one thread per core.
pub(crate) fn runtime() -> Result<Runtime, Error> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(system::cores()).thread_name("hadal").enable_all();
    runtime.build().map_err(Error::io("start", "the runtime"))
}
