//! Counters of the front of the database, over all doors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper edges of the buckets of query times, in milliseconds.
const QUERY_MS: [u64; 12] = [1, 3, 10, 30, 60, 100, 300, 1_000, 3_000, 10_000, 60_000, 600_000];

/// Counters; all only grow.
#[derive(Debug, Default)]
pub struct Counters {
    /// New rows that the sink accepted.
    pub rows_accepted: AtomicU64,
    /// Rows that were refused.
    pub rows_rejected: AtomicU64,
    /// Bytes of ingested bodies, as received.
    pub bytes_logged: AtomicU64,
    /// Batches that had been accepted before.
    pub batches_duplicate: AtomicU64,
    /// Rows of Hadal's own tables that were not written.
    pub self_rows_lost: AtomicU64,
    /// Queries that failed by a fault of the server or for missing rows.
    pub queries_failed: AtomicU64,
    queries: [AtomicU64; QUERY_MS.len()],
    query_count: AtomicU64,
    query_micros: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

impl Counters {
    /// Counts a query that took `time`.
    pub fn count_query(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        for (edge, bucket) in QUERY_MS.iter().zip(&self.queries) {
            if micros <= edge * 1_000 {
                count(bucket, 1);
            }
        }
        count(&self.query_count, 1);
        count(&self.query_micros, micros);
    }

    /// Returns, for each edge of the histogram in milliseconds, the queries that took at most that
    /// long.
    pub fn query_buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.queries.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        QUERY_MS.into_iter().zip(counts)
    }

    /// Returns the number of queries and their total time.
    pub fn query_total(&self) -> (u64, Duration) {
        let micros = self.query_micros.load(Ordering::Relaxed);
        (self.query_count.load(Ordering::Relaxed), Duration::from_micros(micros))
    }
}
