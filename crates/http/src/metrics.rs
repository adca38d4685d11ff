//! Metrics in the text format of Prometheus.
//!
//! A few counters and one histogram need less code than a metrics library.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use hadal_frontend::{ClusterReport, Counters, Frontend, MemoryUse};
use hadal_peer::{MemberRole, MemberState};
use hadal_tree::ClusterStatus;
use hadal_types::LeafState;
use parking_lot::Mutex;

/// Counters. All of them only grow, except the connections.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    pub(crate) connections: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

impl Metrics {
    /// Counts a request to `route`, which must be one of few.
    pub(crate) fn request(&self, route: &str, status: u16) {
        let mut requests = self.requests.lock();
        match requests.get_mut(&(route.to_owned(), status)) {
            Some(count) => *count += 1,
            None => drop(requests.insert((route.to_owned(), status), 1)),
        }
    }

    /// Returns all figures, including those of the tables and of the cluster.
    pub(crate) fn text(
        &self,
        frontend: &Frontend,
        catalog: &ClusterStatus,
        cluster: &ClusterReport,
    ) -> String {
        let mut text = self.text_of(frontend.counters(), catalog, frontend.memory_use());
        write_cluster(&mut text, cluster);
        text
    }

    fn text_of(&self, counters: &Counters, catalog: &ClusterStatus, memory: MemoryUse) -> String {
        let mut text = String::new();
        write_memory(&mut text, memory);
        self.write_requests(&mut text);
        write_queries(&mut text, counters);
        let sum = |of: fn(&hadal_peer::TableStatus) -> u64| catalog.tables.values().map(of).sum();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("rows_accepted_total", "counter", "rows taken", read(&counters.rows_accepted)),
            ("rows_rejected_total", "counter", "rows refused", read(&counters.rows_rejected)),
            ("logged_bytes_total", "counter", "bytes of log bodies", read(&counters.bytes_logged)),
            (
                "batches_duplicate_total",
                "counter",
                "batches that had been taken before",
                read(&counters.batches_duplicate),
            ),
            (
                "notes_lost_total",
                "counter",
                "rows of _queries, _ingest and _leaves that were not written",
                read(&counters.self_rows_lost),
            ),
            ("connections", "gauge", "open connections", read(&self.connections)),
            (
                "connections_refused_total",
                "counter",
                "connections beyond the limit",
                read(&self.connections_refused),
            ),
            ("leaves", "gauge", "leaves", catalog.leaves.len() as u64),
            ("tables", "gauge", "tables", catalog.tables.len() as u64),
            ("rows", "gauge", "rows of all tables", sum(|table| table.schema.rows)),
            ("blocks", "gauge", "row blocks", sum(|table| table.blocks)),
            ("block_bytes", "gauge", "bytes of row blocks", sum(|table| table.block_bytes)),
            (
                "rows_dropped_total",
                "counter",
                "rows dropped because their table was over its size",
                sum(|table| table.dropped_rows),
            ),
            (
                "dropped_bytes_total",
                "counter",
                "bytes of row blocks dropped because their table was over its size",
                sum(|table| table.dropped_bytes),
            ),
            (
                "rows_lost",
                "gauge",
                "rows whose row blocks are missing or damaged",
                sum(|table| table.lost_rows),
            ),
            ("unknown_losses", "gauge", "losses of unknown size", catalog.losses.len() as u64),
            (
                "rows_waiting",
                "gauge",
                "rows that are being brought back after a start",
                sum(|table| table.waiting_rows),
            ),
        ] {
            head(&mut text, name, kind, help);
            line(&mut text, name, "", value);
        }
        write_unarchived(&mut text, catalog);
        text
    }

    fn write_requests(&self, text: &mut String) {
        head(text, "http_requests_total", "counter", "requests by route and status");
        for ((route, status), requests) in self.requests.lock().iter() {
            let labels = format!("{{route=\"{route}\",status=\"{status}\"}}");
            line(text, "http_requests_total", &labels, *requests);
        }
    }
}

fn write_queries(text: &mut String, counters: &Counters) {
    head(text, "query_seconds", "histogram", "time from a query to its answer");
    for (edge, count) in counters.query_buckets() {
        let seconds = edge as f64 / 1e3;
        line(text, "query_seconds_bucket", &format!("{{le=\"{seconds}\"}}"), count);
    }
    let (queries, time) = counters.query_total();
    line(text, "query_seconds_bucket", "{le=\"+Inf\"}", queries);
    line(text, "query_seconds_sum", "", time.as_micros() as f64 / 1e6);
    line(text, "query_seconds_count", "", queries);
}

/// All states of members, so that a figure is 0 where there is no member in a state.
const MEMBER_STATES: [MemberState; 5] = [
    MemberState::Announced(LeafState::Alive),
    MemberState::Announced(LeafState::MemoryRecovery),
    MemberState::Announced(LeafState::DiskRecovery),
    MemberState::Announced(LeafState::Prepare),
    MemberState::Silent,
];

fn write_cluster(text: &mut String, cluster: &ClusterReport) {
    let leaves = cluster.machines.iter().flat_map(|machine| &machine.leaves);
    let leaves = leaves.map(|leaf| (MemberRole::Leaf, leaf.state));
    let aggregators = cluster.machines.iter().filter_map(|machine| machine.aggregator.as_ref());
    let aggregators = aggregators.map(|it| (MemberRole::Aggregator, it.state));
    let members: Vec<(MemberRole, MemberState)> = leaves.chain(aggregators).collect();
    head(text, "members", "gauge", "processes of the cluster by role and state");
    for role in [MemberRole::Leaf, MemberRole::Aggregator] {
        for state in MEMBER_STATES {
            let labels = format!("{{role=\"{}\",state=\"{}\"}}", role.name(), state.name());
            let count = members.iter().filter(|member| **member == (role, state)).count();
            line(text, "members", &labels, count);
        }
    }
    head(text, "coverage", "gauge", "share of the expected rows that queries see, of large tables");
    for table in &cluster.tables {
        let labels = format!("{{table=\"{}\"}}", table.table);
        line(text, "coverage", &labels, table.rows.coverage());
    }
    for (name, help, rows) in [
        ("rows_expected", "rows that queries should see", cluster.totals.rows.expected),
        ("rows_missing", "expected rows that queries do not see", cluster.totals.rows.missing()),
    ] {
        head(text, name, "gauge", help);
        line(text, name, "", rows);
    }
}

fn write_unarchived(text: &mut String, catalog: &ClusterStatus) {
    let tables = catalog.tables.values().filter(|table| table.archive_error.is_some()).count();
    let (name, help) =
        ("tables_unarchived", "tables whose rows stay because they cannot be archived");
    head(text, name, "gauge", help);
    line(text, name, "", tables as u64);
}

fn write_memory(text: &mut String, memory: MemoryUse) {
    let MemoryUse { max, row_blocks, row_blocks_max, heap, queries, fresh } = memory;
    for (name, help, bytes) in [
        ("memory_max_bytes", "memory that the process may take", max),
        ("memory_row_block_bytes", "row blocks in memory", row_blocks),
        ("memory_row_block_max_bytes", "memory that row blocks may take now", row_blocks_max),
        ("memory_heap_bytes", "the process's own memory", heap),
        ("memory_query_bytes", "what queries hold of it", queries),
        ("memory_fresh_bytes", "what batches without a segment hold of it", fresh),
    ] {
        head(text, name, "gauge", help);
        line(text, name, "", bytes);
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP hadal_{name} {help}\n# TYPE hadal_{name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "hadal_{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn figures_add_up() {
        let metrics = Metrics::default();
        metrics.request("/v1/query", 200);
        metrics.request("/v1/query", 200);
        metrics.request("other", 404);
        let counters = Counters::default();
        counters.count_query(Duration::from_millis(3));
        counters.count_query(Duration::from_secs(3_600));
        count(&counters.rows_accepted, 7);
        let memory = MemoryUse { max: 9, heap: 4, ..MemoryUse::default() };
        let text = metrics.text_of(&counters, &ClusterStatus::default(), memory);
        for expected in [
            "hadal_http_requests_total{route=\"/v1/query\",status=\"200\"} 2\n",
            "hadal_http_requests_total{route=\"other\",status=\"404\"} 1\n",
            "hadal_query_seconds_bucket{le=\"0.001\"} 0\n",
            "hadal_query_seconds_bucket{le=\"0.003\"} 1\n",
            "hadal_query_seconds_bucket{le=\"600\"} 1\n",
            "hadal_query_seconds_bucket{le=\"+Inf\"} 2\n",
            "hadal_query_seconds_sum 3600.003\n",
            "# TYPE hadal_memory_max_bytes gauge\nhadal_memory_max_bytes 9\n",
            "\nhadal_memory_heap_bytes 4\n",
            "# TYPE hadal_rows_accepted_total counter\nhadal_rows_accepted_total 7\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
    }
}
