//! A table over its size: logging, querying and the table's status all report it.

use std::sync::Arc;

use hadal_leaf::{Durability, Leaf, LeafConfig, LeafLimits, PreopenedStore, ScanPool};
use hadal_types::{FixedClock, LeafName, MemoryPool, limits};
use serde_json::{Value, json};

use crate::server::{Server, backend_of, now};

/// A server over one leaf, whose tables may have `table_bytes_max` bytes.
fn server(table_bytes_max: u64) -> (Server, Arc<Leaf>) {
    let leaf = Leaf::open(LeafConfig {
        name: LeafName("leaf-0".into()),
        folder: None,
        memory: None,
        preopened: PreopenedStore::default(),
        expects_data: false,
        durability: Durability::Sync,
        pool: ScanPool::new(1).expect("a thread"),
        zone_answers: true,
        limits: LeafLimits { table_bytes_max, ..LeafLimits::of_one_in(1) },
        query_bytes_max: limits::LEAF_QUERY_BYTES_MAX,
        budget: MemoryPool::new(limits::QUERIES_BYTES_MAX),
        clock: Arc::new(FixedClock::new(now())),
        archive: None,
    });
    let leaf = Arc::new(leaf.expect("a leaf"));
    let backend = backend_of(Arc::clone(&leaf) as _, Arc::clone(&leaf) as _);
    (Server::over(backend, "127.0.0.1:0", |_| {}), leaf)
}

/// A thousand rows in one hour of the day before.
fn rows(hour: u64) -> String {
    let row = |index: u64| {
        let (minute, second) = (index / 60, index % 60);
        let time = format!("2026-11-20T{hour:02}:{minute:02}:{second:02}Z");
        format!("{{\"time\": \"{time}\", \"id\": {}}}\n", hour * 1_000 + index)
    };
    (0..1_000).map(row).collect()
}

/// The warnings of this code.
fn warnings<'a>(answer: &'a Value, code: &str) -> Vec<&'a Value> {
    let all = answer["warnings"].as_array().expect("warnings");
    all.iter().filter(|warning| warning["code"] == code).collect()
}

#[test]
fn a_table_over_its_size_says_so_at_every_door() {
    let bytes_of_an_hour = {
        let (server, _) = server(u64::MAX);
        server.log("t", &rows(10));
        server.get("/v1/tables/t").ok()["block_bytes"].as_u64().expect("bytes")
    };
    let (server, leaf) = server(bytes_of_an_hour * 5 / 2);
    for hour in [10, 11] {
        let logged = server.log("t", &rows(hour));
        assert!(warnings(&logged, "rows_dropped").is_empty(), "{logged}");
    }
    let all = "SELECT count(*) FROM t";
    assert!(warnings(&server.sql(all).ok(), "rows_dropped").is_empty());

    let logged = server.log("t", &rows(12));
    let dropped = warnings(&logged, "rows_dropped");
    let message = "table t is over its size: its oldest rows are dropped for these";
    assert_eq!(dropped.len(), 1, "{logged}");
    assert_eq!(dropped[0]["message"], message);
    leaf.merge_all();

    let until = "2026-11-20T10:16:39Z";
    let answer = server.sql(all).ok();
    assert_eq!(answer["rows"], json!([[2_000]]));
    let dropped = warnings(&answer, "rows_dropped");
    assert_eq!((dropped.len(), &dropped[0]["count"]), (1, &json!(1_000)), "{answer}");
    let message = format!("t is full; its 1000 oldest rows were dropped, the last of {until}");
    assert_eq!(dropped[0]["message"], message);
    for (from, warned) in [(until, 1), ("2026-11-20T10:16:40Z", 0)] {
        let answer = server.sql(&format!("{all} WHERE time >= '{from}'")).ok();
        assert_eq!(answer["rows"], json!([[2_000]]));
        assert_eq!(warnings(&answer, "rows_dropped").len(), warned, "{answer}");
    }

    let table = server.get("/v1/tables/t").ok();
    assert_eq!((&table["dropped_rows"], &table["rows"]), (&json!(1_000), &json!(2_000)));
    assert_eq!(table["dropped_bytes"], bytes_of_an_hour);
    assert_eq!(table["dropped_until"], until);
    let status = server.get("/v1/status").ok();
    assert_eq!(
        (&status["dropped_rows"], &status["dropped_bytes"]),
        (&json!(1_000), &table["dropped_bytes"])
    );
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("\nhadal_rows_dropped_total 1000\n"), "{metrics}");
}
