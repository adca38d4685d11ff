//! Joins what is known of a cluster: members, reports of tables, expected rows.

use std::collections::{BTreeMap, HashMap};

use hadal_peer::{Member, MemberRole, MemberState, TableReport, TableStatus};
use hadal_tree::ExpectedRows;
use hadal_types::{LeafName, MachineName, Micros, TableName};

use crate::members::Members;

use super::natural_order::natural_order;
use super::problems::problems;
use super::report::{
    AggregatorReport, ClusterReport, ClusterTotals, LeafReport, MachineReport, RowCounts,
    TableCoverage, TableShare,
};

/// The machine of a process without a cluster.
const THIS_MACHINE: &str = "localhost";
/// The release of this process.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// All that one process knows of its cluster.
pub(crate) struct Knowledge<'k> {
    /// The moment.
    pub(crate) now: Micros,
    /// Membership, in a cluster.
    pub(crate) members: Option<&'k dyn Members>,
    /// This process, without a cluster.
    pub(crate) alone: Option<Alone>,
    /// The rows that each leaf should hold.
    pub(crate) expected: &'k ExpectedRows,
    /// The newest reports of each table.
    pub(crate) reports: Vec<(TableName, Vec<TableReport>)>,
    /// Damage of this process, a sentence each.
    pub(crate) damage: &'k [String],
    /// How many tables are listed.
    pub(crate) tables_max: usize,
}

/// A process without a cluster.
pub(crate) struct Alone {
    /// Its leaves and their states.
    pub(crate) leaves: Vec<(LeafName, MemberState)>,
    /// Its start.
    pub(crate) started: Micros,
    /// Bytes that its leaves can hold beyond what they hold, in sum.
    pub(crate) free_bytes: u64,
}

/// Joins all knowledge into one report.
pub(crate) fn join(knowledge: &Knowledge<'_>) -> ClusterReport {
    let mut leaves = leaves(knowledge);
    let mut tables: Vec<TableCoverage> = Vec::new();
    for (table, reports) in &knowledge.reports {
        let total = add_table(&mut leaves, table, reports, knowledge.expected);
        tables.extend(total.filter(|total| total.rows.expected > 0));
    }
    tables.sort_by(|left, right| {
        let by_rows = right.rows.expected.cmp(&left.rows.expected);
        by_rows.then_with(|| left.table.cmp(&right.table))
    });
    let tables_left_out = tables.len().saturating_sub(knowledge.tables_max);
    tables.truncate(knowledge.tables_max);
    list_tables(&mut leaves, &tables);
    leaves.retain(|(_, leaf)| !leaf.release.is_empty() || leaf.rows.expected > 0);
    if knowledge.members.is_none() {
        for (_, leaf) in &mut leaves {
            leaf.used_bytes = leaf.block_bytes;
        }
    }
    let mut report = ClusterReport {
        cluster: knowledge.members.map(Members::cluster),
        at: knowledge.now,
        totals: totals(&leaves),
        machines: machines(leaves, knowledge),
        tables,
        tables_left_out,
        problems: Vec::new(),
    };
    let of_membership = knowledge.members.map(Members::problems).unwrap_or_default();
    report.problems = problems(&report, of_membership, knowledge.damage);
    report
}

/// All leaves without their rows: members, and leaves that have left expected rows.
fn leaves(knowledge: &Knowledge<'_>) -> Vec<(MachineName, LeafReport)> {
    let mut leaves: BTreeMap<LeafName, (MachineName, LeafReport)> = BTreeMap::new();
    for name in knowledge.expected.leaves() {
        let machine = name.0.split_once('/').map_or(THIS_MACHINE, |(machine, _)| machine);
        let machine = MachineName(machine.into());
        leaves.insert(name.clone(), (machine, gone(name)));
    }
    if let Some(alone) = &knowledge.alone {
        let machine = MachineName(THIS_MACHINE.into());
        for leaf in alone_leaves(alone) {
            leaves.insert(leaf.name.clone(), (machine.clone(), leaf));
        }
    }
    if let Some(members) = knowledge.members {
        for member in members.members().iter().filter(|member| member.role == MemberRole::Leaf) {
            let leaf = leaf_of(member, members.since(&member.name));
            leaves.insert(member.name.clone(), (member.machine.clone(), leaf));
        }
    }
    let mut leaves: Vec<_> = leaves.into_values().collect();
    leaves.sort_by(|(_, left), (_, right)| natural_order(&left.name.0, &right.name.0));
    leaves
}

/// A leaf that is no member.
fn gone(name: LeafName) -> LeafReport {
    LeafReport {
        name,
        state: MemberState::Silent,
        since: None,
        release: String::new(),
        started: None,
        reported: None,
        used_bytes: 0,
        free_bytes: 0,
        block_bytes: 0,
        rows: RowCounts::default(),
        tables: Vec::new(),
        tables_left_out: 0,
    }
}

fn leaf_of(member: &Member, since: Option<Micros>) -> LeafReport {
    LeafReport {
        state: member.state,
        since,
        release: member.release.clone(),
        started: Some(started(member)),
        used_bytes: member.used_bytes,
        free_bytes: member.free_bytes,
        ..gone(member.name.clone())
    }
}

fn started(member: &Member) -> Micros {
    micros(member.started)
}

fn micros(time: u64) -> Micros {
    Micros(i64::try_from(time).unwrap_or(i64::MAX))
}

/// The leaves of this process, which share its memory.
fn alone_leaves(alone: &Alone) -> impl Iterator<Item = LeafReport> {
    let free_bytes = alone.free_bytes / alone.leaves.len().max(1) as u64;
    alone.leaves.iter().map(move |(name, state)| LeafReport {
        state: *state,
        release: RELEASE.to_owned(),
        started: Some(alone.started),
        free_bytes,
        ..gone(name.clone())
    })
}

/// Adds the shares of one table to all leaves. Returns the sum, or `None` if no leaf has a share.
fn add_table(
    leaves: &mut [(MachineName, LeafReport)],
    table: &TableName,
    reports: &[TableReport],
    expected: &ExpectedRows,
) -> Option<TableCoverage> {
    let statuses: HashMap<&LeafName, (u64, &TableStatus)> = reports
        .iter()
        .filter_map(|report| Some((&report.leaf, (report.started, report.status.as_deref()?))))
        .collect();
    let mut total: Option<TableCoverage> = None;
    for (_, leaf) in leaves {
        let reported = statuses.get(&leaf.name).copied().filter(|_| leaf.state.answers());
        let status = reported.map(|(_, status)| status);
        if let Some((process, _)) = reported {
            let oldest = leaf.reported.map_or(i64::MAX, |reported| reported.0);
            leaf.reported = Some(Micros(oldest.min(micros(process).0)));
        }
        let share = share(&leaf.name, table, status, expected);
        if share.rows.expected == 0 {
            continue;
        }
        total.get_or_insert_with(|| TableCoverage::of(table)).add(&share);
        leaf.add(share);
    }
    total
}

/// A leaf's share of a table, with the expected rows that a query would report.
fn share(
    leaf: &LeafName,
    table: &TableName,
    status: Option<&TableStatus>,
    expected: &ExpectedRows,
) -> TableShare {
    let rows = match status {
        None => RowCounts { present: 0, expected: expected.expected(leaf, table), waiting: 0 },
        Some(status) => {
            let present = status.schema.rows;
            let absent = status.waiting_rows.saturating_add(status.lost_rows);
            let expected = expected.with_status(leaf, table, present.saturating_add(absent));
            RowCounts { present, expected, waiting: status.waiting_rows }
        }
    };
    let block_bytes = status.map_or(0, |status| status.block_bytes);
    TableShare { table: table.clone(), rows, block_bytes }
}

/// Keeps the shares of listed tables, in their order.
fn list_tables(leaves: &mut [(MachineName, LeafReport)], tables: &[TableCoverage]) {
    let ranks: HashMap<&TableName, usize> =
        tables.iter().enumerate().map(|(rank, table)| (&table.table, rank)).collect();
    for (_, leaf) in leaves {
        let shares = leaf.tables.len();
        leaf.tables.retain(|share| ranks.contains_key(&share.table));
        leaf.tables.sort_by_key(|share| ranks.get(&share.table).copied());
        leaf.tables_left_out = shares - leaf.tables.len();
    }
}

fn totals(leaves: &[(MachineName, LeafReport)]) -> ClusterTotals {
    let mut totals = ClusterTotals { leaves: leaves.len(), ..ClusterTotals::default() };
    for (_, leaf) in leaves {
        totals.rows.add(leaf.rows);
        totals.block_bytes = totals.block_bytes.saturating_add(leaf.block_bytes);
        totals.used_bytes = totals.used_bytes.saturating_add(leaf.used_bytes);
        totals.free_bytes = totals.free_bytes.saturating_add(leaf.free_bytes);
        totals.leaves_answering += usize::from(leaf.state.answers());
    }
    totals
}

/// All machines: of the leaves, and of aggregators without leaves.
fn machines(
    leaves: Vec<(MachineName, LeafReport)>,
    knowledge: &Knowledge<'_>,
) -> Vec<MachineReport> {
    let mut machines: BTreeMap<MachineName, MachineReport> = BTreeMap::new();
    for (name, leaf) in leaves {
        let machine = machines.entry(name).or_insert_with_key(MachineReport::of);
        machine.leaves.push(leaf);
    }
    if let Some(members) = knowledge.members {
        for member in &members.members() {
            let machine = machines.entry(member.machine.clone());
            let machine = machine.or_insert_with_key(MachineReport::of);
            machine.rack.clone_from(&member.rack);
            if member.role == MemberRole::Aggregator {
                machine.aggregator = Some(aggregator_of(member, members.since(&member.name)));
            }
        }
    }
    let mut machines: Vec<_> = machines.into_values().collect();
    machines.sort_by(|left, right| natural_order(&left.name.0, &right.name.0));
    machines
}

fn aggregator_of(member: &Member, since: Option<Micros>) -> AggregatorReport {
    AggregatorReport {
        name: member.name.clone(),
        address: member.address,
        url: member.url.clone(),
        release: member.release.clone(),
        state: member.state,
        since,
        started: started(member),
    }
}
