//! A batch ends with the record that fills it.

use super::*;

/// A record of `length` bytes.
fn record(length: usize) -> String {
    let frame = r#"{"a":""}"#;
    format!(r#"{{"a":"{}"}}"#, "x".repeat(length - frame.len()))
}

/// The rows of each batch of a body: records of `bytes` bytes in total, and one more record.
fn batches_of(bytes: usize) -> Vec<usize> {
    const LONG: usize = 1_000_000;
    let mut lengths = vec![LONG; bytes / LONG];
    lengths.push(bytes % LONG);
    assert_eq!(lengths.iter().sum::<usize>(), bytes);
    let mut body: String = lengths.iter().map(|&length| record(length) + "\n").collect();
    body.push_str(&record(10));
    let (batches, summary) =
        ingest_as(settings(), Format::Json, body.as_bytes(), limits::LINE_BYTES_MAX);
    assert_eq!(summary.accepted, lengths.len() as u64 + 1);
    batches.iter().map(|batch| batch.rows).collect()
}

#[test]
fn a_batch_has_so_many_bytes() {
    let records = limits::BATCH_BYTES_MAX / 1_000_000 + 1;
    assert_eq!(batches_of(limits::BATCH_BYTES_MAX - 1), [records + 1]);
    assert_eq!(batches_of(limits::BATCH_BYTES_MAX), [records, 1]);
}
