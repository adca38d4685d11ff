//! Random clusters. A failing case is printed, with all of its machines.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

fn leaf_acts() -> impl Strategy<Value = (LeafAct, MemberState)> {
    let act = select(vec![LeafAct::Answers, LeafAct::Answers, LeafAct::Fails, LeafAct::Freezes]);
    let state = select(vec![
        ALIVE,
        ALIVE,
        MemberState::Announced(LeafState::DiskRecovery),
        MemberState::Announced(LeafState::Prepare),
        MemberState::Silent,
    ]);
    (act, state)
}

fn aggregator_acts() -> impl Strategy<Value = AggregatorAct> {
    let acts = [AggregatorAct::Works; 3].into_iter();
    let bad = [AggregatorAct::Freezes, AggregatorAct::Forgets, AggregatorAct::Strays];
    select(acts.chain(bad).collect::<Vec<_>>())
}

/// Machines of sound leaves. Some aggregators are known not to work.
fn sound_machine() -> impl Strategy<Value = Machine> {
    (1..=8usize, any::<bool>())
        .prop_map(|(leaves, works)| Machine { works, ..Machine::sound(leaves) })
}

/// Machines on which anything fails, known or not.
fn failing_machine() -> impl Strategy<Value = Machine> {
    let leaves = prop::collection::vec(leaf_acts(), 1..=8);
    (leaves, aggregator_acts(), any::<bool>()).prop_map(|(leaves, act, works)| Machine {
        leaves,
        act,
        works,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_answer_is_that_of_the_same_leaves_without_a_tree(
        machines in prop::collection::vec(sound_machine(), 1..=60),
        fanout in 2..=8usize,
    ) {
        let cluster = Cluster::new(&machines, fanout);
        let (partial, _) = paused(cluster.ask());
        let flat = cluster.flat(|_| true);
        prop_assert_eq!(groups(&partial), groups(&flat));
        prop_assert_eq!(&partial.coverage, &flat.coverage);
        for (leaf, _) in &cluster.leaves {
            prop_assert_eq!(leaf.asked.load(Ordering::Relaxed), 1, "{}", leaf.name);
        }
    }

    #[test]
    fn whatever_fails_each_leaf_is_covered_once_and_the_answer_comes_in_time(
        machines in prop::collection::vec(failing_machine(), 1..=20),
        fanout in 2..=8usize,
    ) {
        let cluster = Cluster::new(&machines, fanout);
        let (partial, took) = paused(cluster.ask());
        prop_assert!(took <= DEADLINE + Duration::from_millis(2), "{took:?}");
        let coverage = &partial.coverage;
        let covered: BTreeMap<&LeafName, &LeafCoverage> =
            coverage.leaves.iter().map(|leaf| (&leaf.name, leaf)).collect();
        prop_assert_eq!(coverage.leaves.len(), cluster.leaves.len());
        prop_assert_eq!(coverage.leaves_asked as usize, cluster.leaves.len());
        prop_assert_eq!(coverage.rows_expected, cluster.rows());
        for (leaf, state) in &cluster.leaves {
            let covered = covered[&leaf.name];
            prop_assert_eq!(covered.rows_expected, leaf.rows);
            let asked = leaf.asked.load(Ordering::Relaxed);
            prop_assert!(asked <= u32::from(state.answers()), "{} {asked}", leaf.name);
            let answered = covered.outcome == LeafOutcome::Answered;
            prop_assert_eq!(covered.rows_scanned, if answered { leaf.rows } else { 0 });
        }
        let is_in = |leaf: &FakeLeaf| covered[&leaf.name].outcome == LeafOutcome::Answered;
        let flat = cluster.flat(is_in);
        prop_assert_eq!(groups(&partial), groups(&flat));
        prop_assert_eq!(coverage.rows_scanned, flat.coverage.rows_scanned);
        prop_assert_eq!(coverage.leaves_answered, flat.coverage.leaves_answered);
    }
}
