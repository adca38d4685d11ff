//! What is wrong with a cluster, in sentences.

use std::collections::BTreeSet;

use hadal_peer::MemberState;
use hadal_types::{LeafState, Micros};

use super::report::{ClusterReport, LeafReport, MachineReport};

/// All problems, the worst first: of the members in the report, of membership, and the damage of
/// this process.
pub(super) fn problems(
    report: &ClusterReport,
    of_membership: Vec<String>,
    damage: &[String],
) -> Vec<String> {
    let leaves = || report.machines.iter().flat_map(|machine| &machine.leaves);
    let mut problems: Vec<String> =
        leaves().filter(|leaf| leaf.is_silent()).map(|leaf| silent_leaf(leaf, report.at)).collect();
    problems.extend(report.machines.iter().filter_map(|machine| mute(machine, report.at)));
    problems.extend(of_membership);
    problems.extend(leaves().filter_map(restoring));
    problems.extend(leaves().filter_map(stopping));
    problems.extend(releases(report));
    problems.extend(damage.iter().cloned());
    problems
}

fn silent_leaf(leaf: &LeafReport, now: Micros) -> String {
    let (name, rows) = (&leaf.name, rows(leaf.rows.missing()));
    if leaf.release.is_empty() {
        return format!(
            "{name} is no member, but should hold {rows}; if it will not return: \
             hadal forget {name}"
        );
    }
    format!("{name} is silent{}{}", since(leaf.since, now), lacking(leaf))
}

/// What answers lack because of a leaf.
fn lacking(leaf: &LeafReport) -> String {
    match leaf.rows.missing() {
        0 => String::new(),
        missing => format!("; answers lack its {}", rows(missing)),
    }
}

/// A machine whose aggregator is silent or missing.
fn mute(machine: &MachineReport, now: Micros) -> Option<String> {
    let aggregator = machine.aggregator.as_ref()?;
    let MachineReport { name, .. } = machine;
    let since = since(aggregator.since, now);
    (aggregator.state == MemberState::Silent)
        .then(|| format!("the aggregator of {name} is silent{since}"))
}

fn restoring(leaf: &LeafReport) -> Option<String> {
    let MemberState::Announced(state) = leaf.state else { return None };
    let waiting = leaf.rows.waiting;
    let is_restoring = matches!(state, LeafState::MemoryRecovery | LeafState::DiskRecovery);
    (is_restoring && waiting > 0).then(|| format!("{} is restoring {}", leaf.name, rows(waiting)))
}

fn stopping(leaf: &LeafReport) -> Option<String> {
    let stops = leaf.state == MemberState::Announced(LeafState::Prepare);
    stops.then(|| format!("{} is about to stop{}", leaf.name, lacking(leaf)))
}

/// Different releases, as during an upgrade.
fn releases(report: &ClusterReport) -> Option<String> {
    let leaves = report.machines.iter().flat_map(|machine| &machine.leaves);
    let leaves = leaves.map(|leaf| leaf.release.as_str());
    let aggregators = report.machines.iter().filter_map(|machine| machine.aggregator.as_ref());
    let releases = leaves.chain(aggregators.map(|aggregator| aggregator.release.as_str()));
    let releases: BTreeSet<&str> = releases.filter(|release| !release.is_empty()).collect();
    let listed: Vec<&str> = releases.into_iter().collect();
    (listed.len() > 1).then(|| format!("different releases are running: {}", listed.join(", ")))
}

fn rows(count: u64) -> String {
    format!("{} row{}", thousands(count), if count == 1 { "" } else { "s" })
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How long something has lasted, in its largest unit; empty if that is unknown.
fn since(since: Option<Micros>, now: Micros) -> String {
    let Some(since) = since else { return String::new() };
    match now.seconds_since(since).max(0) {
        seconds @ ..120 => format!(" for {seconds} s"),
        seconds @ 120..7_200 => format!(" for {} min", seconds / 60),
        seconds @ 7_200..172_800 => format!(" for {} h", seconds / 3_600),
        seconds => format!(" for {} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_spans_are_readable() {
        assert_eq!(rows(1), "1 row");
        assert_eq!(rows(1_234_567), "1,234,567 rows");
        let span = |seconds: i64| since(Some(Micros(0)), Micros(seconds * Micros::SECOND));
        let spans = [-1, 119, 120, 7_200, 172_800].map(span);
        assert_eq!(spans, [" for 0 s", " for 119 s", " for 2 min", " for 2 h", " for 2 days"]);
        assert_eq!(since(None, Micros(0)), "");
    }
}
