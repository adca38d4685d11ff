//! What the run of a query took: the stages of its answer, the scan, and each leaf.

use std::time::Duration;

use hadal_aggregate::{LeafCoverage, ResultSet, ScanStats};
use hadal_tree::StageTimes;

use crate::query_runner::RunTimes;

/// The lines that EXPLAIN ANALYZE adds to the plan.
pub(super) fn cost_lines(
    result: &ResultSet,
    RunTimes { queued, stages }: RunTimes,
    planning: Duration,
) -> Vec<String> {
    let StageTimes { waiting, leaves, finishing } = stages;
    let ScanStats { rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros } =
        result.stats;
    let scanning = Duration::from_micros(scan_micros);
    let mut lines = vec![
        format!("Answer: {} rows", result.rows.len()),
        format!(
            "Time: planning {}, waiting for a turn {}, waiting for memory {}, leaves {}, finishing {}",
            milliseconds(planning),
            milliseconds(queued),
            milliseconds(waiting),
            milliseconds(leaves),
            milliseconds(finishing)
        ),
        format!("Scanned blocks: {} of {blocks}", blocks.saturating_sub(blocks_skipped)),
        format!("Scanned rows: {rows_read}, {rows_matched} match"),
        format!("Scanned bytes: {bytes_read}"),
        format!("Scan time: {} of all threads together", milliseconds(scanning)),
    ];
    lines.extend(result.coverage.leaves.iter().map(leaf_line));
    lines
}

fn leaf_line(leaf: &LeafCoverage) -> String {
    let LeafCoverage { name, outcome, rows_expected, rows_scanned, micros, .. } = leaf;
    format!(
        "Leaf {}: {}, {rows_scanned} of {rows_expected} rows, {}",
        name.0,
        outcome.name(),
        milliseconds(Duration::from_micros(*micros))
    )
}

/// A duration in milliseconds with two digits.
fn milliseconds(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_milliseconds() {
        assert_eq!(milliseconds(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(milliseconds(Duration::ZERO), "0.00 ms");
    }
}
