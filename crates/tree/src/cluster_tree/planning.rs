//! Decides who asks whom. Pure: a directory and a plan in, children out.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hadal_aggregate::LeafOutcome;
use hadal_peer::{MemberState, Plan, PlannedMachine};
use hadal_types::limits::TREE_DIRECT_LEAVES_MAX;
use hadal_types::{LeafName, LeafState, MachineName};

use super::directory::Directory;
use crate::fan_out::{Child, Target};

/// The children of an aggregator for one query.
#[derive(Default)]
pub(super) struct Split {
    pub(super) children: Vec<Child>,
    /// Leaves of the plan that are not asked, and why.
    pub(super) unasked: Vec<(LeafName, LeafOutcome)>,
}

/// Plans a query over all leaves that answer, with `root` as the first machine. Returns also the
/// other leaves.
///
/// The machines follow in the order of their names, beginning after the root's. So different roots
/// make different aggregators work for them.
pub(super) fn plan(
    members: &Directory,
    root: &MachineName,
    fanout: usize,
) -> (Plan, Vec<(LeafName, LeafOutcome)>) {
    let mut asked: BTreeMap<&MachineName, Vec<LeafName>> = BTreeMap::new();
    let mut unasked = Vec::new();
    for (name, leaf) in &members.leaves {
        match outcome_unasked(leaf.state) {
            Some(outcome) => unasked.push((name.clone(), outcome)),
            None => asked.entry(&leaf.machine).or_default().push(name.clone()),
        }
    }
    let own = PlannedMachine {
        name: root.clone(),
        has_aggregator: true,
        leaves: asked.remove(root).unwrap_or_default(),
    };
    let before = asked.iter().take_while(|(name, _)| **name < root).count();
    let others = asked.iter().cycle().skip(before).take(asked.len());
    let others = others.map(|(name, leaves)| PlannedMachine {
        name: (*name).clone(),
        has_aggregator: members.working_aggregator(name).is_some(),
        leaves: leaves.clone(),
    });
    let machines = std::iter::once(own).chain(others).collect();
    (Plan { fanout, rows_expected: 0, machines }, unasked)
}

/// Why a leaf in this state is not asked; `None` if it is.
const fn outcome_unasked(state: MemberState) -> Option<LeafOutcome> {
    match state {
        MemberState::Silent => Some(LeafOutcome::Dead),
        MemberState::Announced(LeafState::Prepare) => Some(LeafOutcome::Restarting),
        MemberState::Announced(_) => None,
    }
}

/// Splits a plan among the children of the aggregator of its first machine.
pub(super) fn split(members: &Directory, plan: &Plan) -> Split {
    let mut split = Split::default();
    let machines = each_leaf_once(plan);
    let leaves: usize = machines.iter().map(|machine| machine.leaves.len()).sum();
    if leaves <= TREE_DIRECT_LEAVES_MAX {
        machines.iter().for_each(|machine| split.add_leaves(members, machine));
        return split;
    }
    let Some((own, others)) = machines.split_first() else { return split };
    split.add_leaves(members, own);
    for group in groups_of_neighbours(others, plan.fanout) {
        split.add_group(members, group, plan);
    }
    split
}

/// The machines of a plan, each leaf at its first mention only.
fn each_leaf_once(plan: &Plan) -> Vec<PlannedMachine> {
    let mut mentioned = HashSet::new();
    let mut machines = plan.machines.clone();
    for machine in &mut machines {
        machine.leaves.retain(|leaf| mentioned.insert(leaf.clone()));
    }
    machines
}

/// Divides machines into at most `fanout` groups, whose sizes differ by one at most.
fn groups_of_neighbours(
    machines: &[PlannedMachine],
    fanout: usize,
) -> impl Iterator<Item = &[PlannedMachine]> {
    let groups = fanout.clamp(1, machines.len().max(1));
    let start = move |group: usize| machines.len() * group / groups;
    (0..groups).map(move |group| &machines[start(group)..start(group + 1)])
}

impl Split {
    /// Gives a group to the aggregator of its first machine that has one. The leaves of machines
    /// before it are asked directly, and so is a single leaf.
    fn add_group(&mut self, members: &Directory, group: &[PlannedMachine], of: &Plan) {
        for (index, machine) in group.iter().enumerate() {
            let rest = &group[index..];
            let leaves: Vec<LeafName> =
                rest.iter().flat_map(|machine| machine.leaves.iter().cloned()).collect();
            let aggregator = members.working_aggregator(&machine.name);
            match aggregator.filter(|_| machine.has_aggregator && leaves.len() > 1) {
                Some(aggregator) => {
                    let plan = Arc::new(Plan { machines: rest.to_vec(), ..of.without_machines() });
                    let target = Target::Subtree(Arc::clone(&aggregator.peer), plan);
                    return self.children.push(Child { target, leaves });
                }
                None => self.add_leaves(members, machine),
            }
        }
    }

    /// Adds the leaves of a machine one by one.
    fn add_leaves(&mut self, members: &Directory, machine: &PlannedMachine) {
        for name in &machine.leaves {
            let leaf = members.leaves.get(name);
            match leaf.map(|leaf| (leaf, outcome_unasked(leaf.state))) {
                Some((leaf, None)) => self.children.push(Child {
                    target: Target::Peer(Arc::clone(&leaf.peer)),
                    leaves: vec![name.clone()],
                }),
                Some((_, Some(outcome))) => self.unasked.push((name.clone(), outcome)),
                None => self.unasked.push((name.clone(), LeafOutcome::Dead)),
            }
        }
    }
}
