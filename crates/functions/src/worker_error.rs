//! Why a worker gives no result.

use std::io;

use hadal_types::limits::FUNCTION_WORKERS_MAX;

use crate::message_error::MessageError;

/// Why a worker gives no result.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The function fails.
    #[error("{}{message}", at_line(*.line))]
    Function {
        /// The line of the source; 0 if it is not known.
        line: u32,
        /// The reason.
        message: String,
    },
    /// No answer in time: the worker was killed.
    #[error("no answer in time; a built-in of JavaScript takes too long")]
    Late,
    /// Nobody waits for the result any more.
    #[error("the query was cancelled")]
    Cancelled,
    /// The worker died, or could not be started.
    #[error("the worker process is lost: {0}")]
    Lost(io::Error),
    /// The worker sent bytes that are no message.
    #[error("the worker process answers wrongly: {0}")]
    Wrong(#[from] MessageError),
    /// A message beyond the limit.
    #[error("too many bytes for one batch of rows; pass or return shorter strings")]
    TooLarge,
    /// All workers are busy.
    #[error("{FUNCTION_WORKERS_MAX} worker processes are busy; try again later")]
    Busy,
}

fn at_line(line: u32) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}
