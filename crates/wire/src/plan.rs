//! Codec of the plan of a query.

use hadal_peer::{Plan, PlannedMachine};
use hadal_types::MachineName;
use hadal_types::limits::{LEAVES_MAX, TREE_FANOUT_MAX};

use crate::error::{At, DecodeError, at_most, each, unfit};
use crate::expr::decode_index;
use crate::proto;
use crate::value::decode_leaf_name;

pub(crate) fn encode_plan(plan: &Plan) -> proto::Plan {
    let machines = plan.machines.iter().map(|machine| proto::PlannedMachine {
        name: machine.name.to_string(),
        has_aggregator: machine.has_aggregator,
        leaves: machine.leaves.iter().map(ToString::to_string).collect(),
    });
    let fanout = u32::try_from(plan.fanout).unwrap_or(u32::MAX);
    let rows_expected = plan.rows_expected;
    proto::Plan { fanout, machines: machines.collect(), rows_expected }
}

pub(crate) fn decode_plan(plan: proto::Plan) -> Result<Plan, DecodeError> {
    let fanout = decode_index(u64::from(plan.fanout)).at("fanout")?;
    if !(2..=TREE_FANOUT_MAX).contains(&fanout) {
        return Err(unfit(fanout, format_args!("2 to {TREE_FANOUT_MAX}"))).at("fanout");
    }
    at_most("machines", plan.machines.len(), LEAVES_MAX).at("machines")?;
    let leaves = plan.machines.iter().map(|machine| machine.leaves.len()).sum();
    at_most("leaves", leaves, LEAVES_MAX).at("machines")?;
    let machines = each("machines", plan.machines, decode_machine)?;
    Ok(Plan { fanout, rows_expected: plan.rows_expected, machines })
}

fn decode_machine(machine: proto::PlannedMachine) -> Result<PlannedMachine, DecodeError> {
    Ok(PlannedMachine {
        name: MachineName(decode_leaf_name(machine.name).at("name")?.0),
        has_aggregator: machine.has_aggregator,
        leaves: each("leaves", machine.leaves, decode_leaf_name)?,
    })
}

#[cfg(test)]
mod tests {
    use hadal_types::LeafName;

    use super::*;

    fn plan(fanout: usize, leaves: usize) -> Plan {
        let leaves = (0..leaves).map(|index| LeafName(format!("a/leaf-{index}").into()));
        let machine = |name: &str, leaves| PlannedMachine {
            name: MachineName(name.into()),
            has_aggregator: name == "a",
            leaves,
        };
        let machines = vec![machine("a", leaves.collect()), machine("b", Vec::new())];
        Plan { fanout, rows_expected: u64::MAX, machines }
    }

    #[test]
    fn a_plan_is_decoded_as_it_was() {
        for plan in [plan(2, 0), plan(TREE_FANOUT_MAX, LEAVES_MAX)] {
            assert_eq!(decode_plan(encode_plan(&plan)), Ok(plan));
        }
    }

    #[test]
    fn a_plan_beyond_the_limits_is_refused() {
        for plan in [plan(1, 1), plan(TREE_FANOUT_MAX + 1, 1), plan(5, LEAVES_MAX + 1)] {
            assert!(decode_plan(encode_plan(&plan)).is_err(), "{}", plan.fanout);
        }
        let nameless = proto::PlannedMachine::default();
        let plan = proto::Plan { fanout: 5, machines: vec![nameless], rows_expected: 0 };
        assert!(decode_plan(plan).is_err());
    }
}
