//! The model of a query's time (Scuba, VLDB 2013, section 4), pure: costs and a shape in, seconds
//! out.
//!
//! Every machine has cores of its own here, and all machines are alike. [`Costs`] has the paper's
//! four parameters. [`paper`] is its tree: only the lowest machines have leaves, as the other
//! levels are shown apart. [`planned`] is Hadal's: each aggregator asks the leaves of its own
//! machine besides at most F groups of machines, and a leaf is a process, one call away.

use hadal_types::limits::TREE_DIRECT_LEAVES_MAX;

/// What the steps of a query cost, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// T_S: a leaf scans its rows.
    pub(crate) scan: f64,
    /// T_D: the query gets to a child.
    pub(crate) distribute: f64,
    /// T_G: the partial of a child gets to its parent.
    pub(crate) gather: f64,
    /// T_A: the parent takes in the partial of one child, one after the other.
    pub(crate) merge: f64,
}

/// The shape of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterShape {
    /// N: machines.
    pub(crate) machines: usize,
    /// D: leaves of a machine.
    pub(crate) leaves: usize,
    /// F: the children of an aggregator, without leaves.
    pub(crate) fanout: usize,
}

impl ClusterShape {
    /// L: the levels of aggregators above the leaf aggregators (equation 1).
    pub(crate) fn levels(self) -> u32 {
        let mut levels = 0;
        let mut reached = 1;
        while reached < self.machines {
            reached = reached.saturating_mul(self.fanout.max(2));
            levels += 1;
        }
        levels
    }

    /// The groups into which a plan divides the machines below its first one: how many machines
    /// each has.
    pub(crate) fn groups(self) -> impl Iterator<Item = usize> {
        let below = self.machines.saturating_sub(1);
        let groups = self.fanout.clamp(1, below.max(1)).min(below);
        let start = move |group: usize| below * group / groups;
        (0..groups).map(move |group| start(group + 1) - start(group))
    }

    /// Whether an aggregator asks all leaves itself.
    pub(crate) const fn is_direct(self) -> bool {
        self.machines.saturating_mul(self.leaves) <= TREE_DIRECT_LEAVES_MAX
    }

    /// The same with another number of machines.
    pub(crate) const fn of(self, machines: usize) -> Self {
        Self { machines, ..self }
    }
}

/// T_L by equation 4, where level 0 also merges the D leaves of a machine, as equation 3 has it.
/// Equation 5 as printed lacks the factor T_A of R + D.
pub(crate) fn paper(shape: ClusterShape, costs: Costs) -> f64 {
    let mut time = costs.scan + costs.merge * shape.leaves as f64;
    let levels = shape.levels();
    for level in 1..=levels {
        let fanout = match level {
            1 => shape.machines as f64 / (shape.fanout as f64).powf(f64::from(levels - 1)),
            _ => shape.fanout as f64,
        };
        time += costs.distribute + costs.gather + costs.merge * fanout;
    }
    time
}

/// The same for the tree that Hadal plans. An aggregator merges its own leaves while it waits for
/// the groups, which take longer.
pub(crate) fn planned(shape: ClusterShape, costs: Costs) -> f64 {
    let hop = costs.distribute + costs.gather;
    if shape.is_direct() {
        return costs.scan + hop + costs.merge * (shape.machines * shape.leaves) as f64;
    }
    let leaves = costs.scan + hop + costs.merge * shape.leaves as f64;
    let (mut slowest, mut groups) = (0.0_f64, 0);
    // Groups differ by one machine at most, so two sizes are all there are.
    let mut last = None;
    for machines in shape.groups() {
        groups += 1;
        if last != Some(machines) {
            slowest = slowest.max(hop + planned(shape.of(machines), costs));
            last = Some(machines);
        }
    }
    leaves.max(slowest) + costs.merge * f64::from(groups)
}

/// Seconds of work of all processes together, without scans: what a single machine must do that
/// plays all machines.
pub(crate) fn work(shape: ClusterShape, costs: Costs) -> f64 {
    let calls = shape.machines * shape.leaves + shape.machines.saturating_sub(1);
    calls as f64 * (costs.distribute + costs.gather + costs.merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { scan: 100.0, distribute: 1.0, gather: 2.0, merge: 0.5 };

    fn shape(machines: usize, fanout: usize) -> ClusterShape {
        ClusterShape { machines, leaves: 8, fanout }
    }

    #[test]
    fn levels_are_those_of_equation_1() {
        for (machines, fanout, levels) in
            [(1, 5, 0), (5, 5, 1), (6, 5, 2), (25, 5, 2), (26, 5, 3), (160, 5, 4), (8, 2, 3)]
        {
            assert_eq!(shape(machines, fanout).levels(), levels, "{machines} of {fanout}");
        }
    }

    #[test]
    fn equation_4_with_a_full_tree() {
        // 25 machines: 100 + 8 · 0.5, and twice 1 + 2 + 5 · 0.5.
        assert_eq!(paper(shape(25, 5), COSTS), 104.0 + 2.0 * 5.5);
        // As equation 5 with T_A: T_S + L(T_D + T_G) + (F(L - 1) + R + D) T_A, R = 5.
        assert_eq!(paper(shape(25, 5), COSTS), 100.0 + 2.0 * 3.0 + (5.0 + 5.0 + 8.0) * 0.5);
    }

    #[test]
    fn equation_4_where_the_last_fanout_is_smaller() {
        // 10 machines: L = 2, R = 10 / 5 = 2.
        assert_eq!(paper(shape(10, 5), COSTS), 100.0 + 2.0 * 3.0 + (5.0 + 2.0 + 8.0) * 0.5);
        assert_eq!(paper(shape(1, 5), COSTS), 104.0);
    }

    #[test]
    fn a_planned_tree_by_hand() {
        // One machine: a call to the leaves, and eight merges.
        assert_eq!(planned(shape(1, 5), COSTS), 107.0);
        // Six: the root and five machines, whose leaves take 107: 3 + 107 + 5 · 0.5.
        assert_eq!(planned(shape(6, 5), COSTS), 112.5);
        // 31: five groups of six.
        assert_eq!(planned(shape(31, 5), COSTS), 118.0);
        // Two leaves of each of four machines are asked directly.
        let few = ClusterShape { machines: 4, leaves: 2, fanout: 5 };
        assert_eq!(planned(few, COSTS), 107.0);
    }

    #[test]
    fn groups_are_as_the_tree_plans_them() {
        let groups = |machines, fanout| shape(machines, fanout).groups().collect::<Vec<_>>();
        assert_eq!(groups(160, 5), [31, 32, 32, 32, 32]);
        assert_eq!(groups(3, 5), [1, 1]);
        assert_eq!(groups(1, 5).len(), 0);
    }

    #[test]
    fn work_counts_every_call() {
        // 16 calls of leaves and one of the other aggregator, 3.5 each.
        assert_eq!(work(shape(2, 5), COSTS), 59.5);
    }
}
