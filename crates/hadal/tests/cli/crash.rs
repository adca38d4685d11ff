//! kill -9 while rows are logged: what was acknowledged is there afterwards, once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{DEADLINE, Server, post};

/// Rows of one batch.
const BATCH_ROWS: usize = 7;
/// Batches that are acknowledged before the server is killed, by round.
const ROUNDS: [usize; 5] = [3, 40, 1, 150, 12];

/// Logs batch after batch until the server is gone; returns the first batch that was not
/// acknowledged: it may be there or not.
fn produce(url: &str, first: usize, acknowledged: &AtomicUsize) -> usize {
    for batch in first.. {
        let rows = (0..BATCH_ROWS).map(|row| format!("{{\"n\": {}}}\n", batch * BATCH_ROWS + row));
        let body: String = rows.collect();
        match post(url, "/v1/log/t", &format!("batch-{batch}"), &body) {
            Some(true) => acknowledged.store(batch + 1, Ordering::SeqCst),
            Some(false) => panic!("batch {batch} was refused"),
            None => return batch,
        }
    }
    unreachable!("batches do not end")
}

#[test]
fn acknowledged_rows_outlive_kill_nine_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut next, mut server) = (0, Server::start(folder.path()));
    for count in ROUNDS {
        let (acknowledged, url) = (AtomicUsize::new(next), server.url.clone());
        let in_doubt = std::thread::scope(|scope| {
            let producer = scope.spawn(|| produce(&url, next, &acknowledged));
            let start = std::time::Instant::now();
            while acknowledged.load(Ordering::SeqCst) < next + count {
                assert!(start.elapsed() < DEADLINE, "nothing is acknowledged");
                std::thread::yield_now();
            }
            server.process.kill_now();
            producer.join().unwrap()
        });
        drop(server);
        server = Server::start(folder.path());
        // What is in doubt is sent again: the first thing that a producer does.
        next = in_doubt;
        check(&server, in_doubt);
    }
    assert!(next >= ROUNDS.iter().sum(), "{next}");
}

/// Every row of the batches before `in_doubt` is there once; that batch whole or not at all.
fn check(server: &Server, in_doubt: usize) {
    let lines = server.query("SELECT n, count(*) FROM t GROUP BY n LIMIT 100000");
    let found: BTreeMap<usize, usize> = lines
        .iter()
        .map(|line| {
            let (n, count) = line.split_once(',').unwrap();
            (n.parse().unwrap(), count.parse().unwrap())
        })
        .collect();
    let acknowledged = in_doubt * BATCH_ROWS;
    for n in 0..acknowledged {
        assert_eq!(found.get(&n), Some(&1), "row {n} of {acknowledged}");
    }
    let rest = found.len() - acknowledged;
    assert!(rest == 0 || rest == BATCH_ROWS, "{rest} rows of the batch in doubt");
    assert!(found.values().all(|&count| count == 1));
}
