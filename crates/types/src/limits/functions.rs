//! Limits of user functions.

/// Bytes of the name of a user function, or of one of its parameters.
pub const FUNCTION_NAME_BYTES_MAX: usize = 63;
/// Parameters of a user function.
pub const FUNCTION_PARAMETERS_MAX: usize = 16;
/// Bytes of the source of a user function.
pub const FUNCTION_SOURCE_BYTES_MAX: usize = 64 << 10;
/// User functions that can be defined.
pub const FUNCTIONS_MAX: usize = 1_000;
/// Memory that the values of a user function may take in its worker process, in bytes.
pub const FUNCTION_MEMORY_BYTES_MAX: usize = 64 << 20;
/// Stack of a user function, in bytes.
pub const FUNCTION_STACK_BYTES_MAX: usize = 256 << 10;
/// Rows that are sent to a worker process of user functions at a time.
pub const FUNCTION_BATCH_ROWS: usize = 8_192;
/// Bytes of strings per argument that are sent to a worker process at a time, except for one row.
pub const FUNCTION_BATCH_BYTES: usize = 1 << 20;
/// How long a user function may take for one batch of rows, in milliseconds.
pub const FUNCTION_CALL_MILLIS_MAX: u64 = 1_000;
/// How much later than its limit a worker process of user functions is killed, in milliseconds.
pub const FUNCTION_GRACE_MILLIS: u64 = 100;
/// How long a worker process of user functions may take to start, in milliseconds.
pub const FUNCTION_START_MILLIS_MAX: u64 = 10_000;
/// Bytes of one message between a process and a worker process of user functions.
pub const FUNCTION_MESSAGE_BYTES_MAX: usize = 32 << 20;
/// Bytes of the state of a user aggregate of one group, as JSON.
pub const FUNCTION_STATE_BYTES_MAX: usize = 64 << 10;
/// Worker processes of user functions that one process has at the same time.
pub const FUNCTION_WORKERS_MAX: usize = 64;
