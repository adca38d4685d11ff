//! Limits of watching queries.

/// Milliseconds between two updates on a query that a client watches.
pub const QUERY_UPDATE_MS: u64 = 250;
/// Bytes of the partial results of one query that are copied for a client that watches it. Of what
/// exceeds them, only the progress is shown.
pub const WATCHED_PARTIAL_BYTES_MAX: usize = 4 << 20;
