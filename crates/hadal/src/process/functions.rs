//! The worker processes of user functions.

use std::sync::Arc;

use hadal_functions::{JsFunctions, ProcessLauncher, WorkerPool};
use hadal_query::{FunctionHost, FunctionRegistry};

use crate::function_worker::COMMAND;

/// This program, even if its file was replaced since.
const PROGRAM: &str = "/proc/self/exe";

/// What makes functions of definitions; `None` unless functions are allowed.
pub(crate) fn host(are_allowed: bool) -> Option<Arc<dyn FunctionHost>> {
    are_allowed.then(|| {
        let launcher = ProcessLauncher::new(PROGRAM, &[COMMAND]);
        let pool = WorkerPool::new(Box::new(launcher), |note| {
            tracing::warn!("worker processes of functions: {note}");
        });
        Arc::new(JsFunctions::new(pool)) as _
    })
}

/// The functions that other processes may send queries with.
pub(crate) fn registry(are_allowed: bool) -> FunctionRegistry {
    FunctionRegistry::with_host(host(are_allowed))
}
