//! The same tree, event by event: scan times vary, and an aggregator merges what arrives in the
//! order of arrival. Every machine has cores of its own.

use hadal_random::Random;

use crate::model::{ClusterShape, Costs};

/// The simulated time of one query, in seconds; each leaf takes one of the measured times in
/// `scans` at random.
pub(crate) fn simulate(
    shape: ClusterShape,
    costs: Costs,
    scans: &[f64],
    random: &mut Random,
) -> f64 {
    let mut arrivals = Vec::new();
    let asked = if shape.is_direct() { shape.machines * shape.leaves } else { shape.leaves };
    for _ in 0..asked {
        let scan = if scans.is_empty() { costs.scan } else { scans[random.index(scans.len())] };
        arrivals.push(costs.distribute + scan + costs.gather);
    }
    if !shape.is_direct() {
        for machines in shape.groups() {
            let child = simulate(shape.of(machines), costs, scans, random);
            arrivals.push(costs.distribute + child + costs.gather);
        }
    }
    arrivals.sort_by(f64::total_cmp);
    arrivals.into_iter().fold(0.0_f64, |free, arrival| free.max(arrival) + costs.merge)
}

/// The mean of many simulated queries.
pub(crate) fn mean(shape: ClusterShape, costs: Costs, scans: &[f64]) -> f64 {
    const QUERIES: u32 = 20;
    let mut random = Random::new(1, shape.machines as u64);
    let sum: f64 = (0..QUERIES).map(|_| simulate(shape, costs, scans, &mut random)).sum();
    sum / f64::from(QUERIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::planned;

    const COSTS: Costs = Costs { scan: 100.0, distribute: 1.0, gather: 2.0, merge: 0.5 };

    #[test]
    fn equal_scans_take_as_long_as_the_model_says_or_a_little_less() {
        for machines in [1, 2, 6, 31, 160] {
            let shape = ClusterShape { machines, leaves: 8, fanout: 5 };
            let simulated = mean(shape, COSTS, &[]);
            let predicted = planned(shape, COSTS);
            // Groups of fewer machines answer earlier, and are merged before the last one comes.
            let is_close = (0.95 * predicted..predicted + 0.01).contains(&simulated);
            assert!(is_close, "{machines}: {simulated} of {predicted}");
        }
    }

    #[test]
    fn one_slow_leaf_delays_the_answer() {
        let shape = ClusterShape { machines: 6, leaves: 8, fanout: 5 };
        assert!(mean(shape, COSTS, &[100.0, 200.0]) > planned(shape, COSTS) + 90.0);
    }
}
