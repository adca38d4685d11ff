//! User functions whose source is text: they run in worker processes, never in this one.
//!
//! [`WorkerPool`] keeps the processes and kills those that do not answer in time. [`JsFunctions`]
//! makes functions for queries of their definitions. [`message`] is what a process and its worker
//! say to each other; the worker's side is in the crate `hadal`, because the language's engine is
//! too heavy for this floor. (Scuba 2.2 and 3.2)
//!
//! Knows no rows, no tables and no language.

mod bytes;
mod js_aggregate;
mod js_functions;
mod link;
pub mod message;
mod message_error;
mod worker_error;
mod worker_pool;

pub use js_functions::JsFunctions;
pub use link::{Launcher, ProcessLauncher, Worker};
pub use worker_error::WorkerError;
pub use worker_pool::WorkerPool;
