//! Who asks whom, and what is missing when one of them fails.

use hadal_types::limits::TREE_DIRECT_LEAVES_MAX;

use crate::fan_out::Child;

use super::*;

fn root_plan(cluster: &Cluster, root: usize) -> Plan {
    let tree = &cluster.trees[root];
    planning::plan(&tree.members.now(), &tree.machine, tree.fanout).0
}

fn children(cluster: &Cluster) -> Vec<Vec<String>> {
    let tree = &cluster.trees[0];
    let split = planning::split(&tree.members.now(), &root_plan(cluster, 0));
    let names = |child: Child| child.leaves.iter().map(ToString::to_string).collect();
    split.children.into_iter().map(names).collect()
}

#[test]
fn a_plan_begins_with_its_root_and_goes_on_with_its_neighbours() {
    let cluster = Cluster::new(&vec![Machine::sound(2); 4], 5);
    let names = |root| {
        let machines = root_plan(&cluster, root).machines;
        machines.into_iter().map(|machine| machine.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["m00", "m01", "m02", "m03"]);
    assert_eq!(names(2), ["m02", "m03", "m00", "m01"]);
}

#[test]
fn few_leaves_are_asked_directly_and_many_through_aggregators() {
    let few = Cluster::new(&vec![Machine::sound(1); TREE_DIRECT_LEAVES_MAX], 2);
    assert!(children(&few).iter().all(|leaves| leaves.len() == 1));
    assert_eq!(children(&few).len(), TREE_DIRECT_LEAVES_MAX);
    let many = Cluster::new(&vec![Machine::sound(1); TREE_DIRECT_LEAVES_MAX + 1], 2);
    let sizes: Vec<usize> = children(&many).iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 4, 4]);
}

#[test]
fn a_machine_without_an_aggregator_is_asked_by_who_holds_its_group() {
    let mut machines = vec![Machine::sound(2); 6];
    machines[1].works = false;
    let children = children(&Cluster::new(&machines, 2));
    let expected: [&[&str]; 6] = [
        &["m00/leaf-0"],
        &["m00/leaf-1"],
        &["m01/leaf-0"],
        &["m01/leaf-1"],
        &["m02/leaf-0", "m02/leaf-1"],
        &["m03/leaf-0", "m03/leaf-1", "m04/leaf-0", "m04/leaf-1", "m05/leaf-0", "m05/leaf-1"],
    ];
    assert_eq!(children, expected);
}

#[test]
fn a_frozen_leaf_of_many_delays_no_query_until_its_deadline() {
    let mut machines = vec![Machine::sound(8); 5];
    machines[3].leaves[2].0 = LeafAct::Freezes;
    let cluster = Cluster::new(&machines, 5);
    paused(async {
        let (partial, time) = cluster.ask().await;
        assert_eq!((partial.coverage.leaves_asked, partial.coverage.leaves_answered), (40, 39));
        assert!(time < Duration::from_secs(1), "{time:?}");
    });
}

#[test]
fn coverage_is_an_upper_bound_while_a_machine_may_take_rows_unheard() {
    let silent = (LeafAct::Answers, MemberState::Silent);
    for (aggregator_works, leaf_works, bound) in
        [(true, true, 0), (true, false, 0), (false, true, 0), (false, false, 1)]
    {
        let mut machines = vec![Machine::sound(1); 3];
        machines[1].works = aggregator_works;
        if !leaf_works {
            machines[1].leaves[0] = silent;
        }
        let (partial, _) = paused(Cluster::new(&machines, 5).ask());
        assert_eq!(partial.coverage.unknown_losses, bound, "{machines:?}");
    }
    // What is sent to one of the machines does not arrive, and others hear of it still.
    let mut machines = vec![Machine::sound(2); 3];
    machines[2].leaves[0].0 = LeafAct::Freezes;
    let (partial, _) = paused(Cluster::new(&machines, 5).ask());
    assert_eq!(partial.coverage.unknown_losses, 0, "one of its leaves answers");
    machines[2].leaves[1].0 = LeafAct::Freezes;
    let (partial, _) = paused(Cluster::new(&machines, 5).ask());
    assert_eq!(partial.coverage.unknown_losses, 1);
}

#[test]
fn a_frozen_aggregator_loses_its_subtree_only() {
    let mut machines = vec![Machine::sound(4); 9];
    machines[3].act = AggregatorAct::Freezes;
    let cluster = Cluster::new(&machines, 4);
    let (partial, took) = paused(cluster.ask());
    assert!(took <= DEADLINE, "{took:?}");
    let late = partial.coverage.leaves.iter().filter(|leaf| leaf.outcome == LeafOutcome::Late);
    let late: Vec<String> = late.map(|leaf| leaf.name.to_string()).collect();
    assert_eq!(late.len(), 8, "the leaves of m03 and m04: {late:?}");
    assert!(late.iter().all(|name| name.starts_with("m03/") || name.starts_with("m04/")));
    assert_eq!(partial.coverage.rows_expected, cluster.rows());
    assert_eq!(cluster.trees[0].late_answers(), 1);
}

#[test]
fn an_answer_with_rows_of_other_leaves_is_dropped_whole() {
    let mut machines = vec![Machine::sound(4); 5];
    machines[2].act = AggregatorAct::Strays;
    let cluster = Cluster::new(&machines, 4);
    let (partial, _) = paused(cluster.ask());
    let is_failed = |leaf: &&LeafCoverage| leaf.outcome == LeafOutcome::Failed;
    let failed: Vec<&LeafCoverage> = partial.coverage.leaves.iter().filter(is_failed).collect();
    assert_eq!(failed.len(), 4);
    assert!(failed.iter().all(|leaf| leaf.name.0.starts_with("m02/")));
    assert_eq!(cluster.trees[0].refused_answers(), 1);
    assert_eq!(partial.coverage.leaves.len(), 20);
}

#[test]
fn leaves_of_a_plan_that_are_unknown_or_mentioned_twice_do_no_harm() {
    let cluster = Cluster::new(&vec![Machine::sound(2); 3], 2);
    let mut plan = root_plan(&cluster, 0);
    plan.machines[0].leaves.push(LeafName("nobody".into()));
    let (first, other) = (plan.machines[0].clone(), plan.machines[2].leaves[0].clone());
    plan.machines[1].leaves.push(other);
    plan.machines.push(first);
    let partial = paused(async {
        let deadline = (TokioInstant::now() + DEADLINE).into_std();
        cluster.trees[0].query_planned(query(), Arc::new(plan), deadline).await
    });
    assert_eq!(partial.coverage.leaves.len(), 7);
    assert_eq!(partial.coverage.rows_scanned, cluster.rows());
    let nobody = partial.coverage.leaves.last().expect("a leaf");
    assert_eq!((nobody.outcome, nobody.rows_expected), (LeafOutcome::Dead, 0));
}

#[test]
fn a_leaf_that_is_gone_stays_expected_until_it_is_forgotten() {
    let cluster = Cluster::new(&vec![Machine::sound(2); 2], 2);
    let (tree, leaf) = (&cluster.trees[0], LeafName("m01/leaf-1".into()));
    let ask = || paused(cluster.ask()).0.coverage;
    tree.set_leaf_state(&leaf, MemberState::Announced(LeafState::Prepare));
    assert_eq!(ask().leaves[3].outcome, LeafOutcome::Restarting);
    tree.remove_leaf(&leaf);
    let coverage = ask();
    assert_eq!((coverage.leaves.len(), coverage.leaves[3].outcome), (4, LeafOutcome::Dead));
    assert_eq!(coverage.rows_expected, cluster.rows());
    tree.fan_out.expected_rows().forget_leaf(&leaf);
    assert_eq!((ask().leaves.len(), ask().fraction()), (3, 1.0));
}

#[test]
fn the_status_names_silent_leaves_too() {
    let cluster = Cluster::new(&[Machine::sound(2), Machine::sound(1)], 2);
    let tree = &cluster.trees[0];
    tree.set_leaf_state(&LeafName("m00/leaf-1".into()), MemberState::Silent);
    let status = paused(tree.status(&StatusScope::All));
    let leaves = status.leaves.iter().map(|leaf| (leaf.name.to_string(), leaf.block_bytes));
    let expected = [("m00/leaf-0", 100), ("m00/leaf-1", 0), ("m01/leaf-0", 102)];
    assert!(leaves.eq(expected.map(|(name, bytes)| (name.to_owned(), bytes))));
    let states: Vec<&str> = status.leaves.iter().map(|leaf| leaf.state.name()).collect();
    assert_eq!(states, ["alive", "silent", "alive"]);
    assert_eq!(tree.reports(&table()).len(), 3);
    assert_eq!(tree.leaves().len(), 3);
}

#[test]
fn an_aggregator_that_stops_working_is_planned_around() {
    let cluster = Cluster::new(&vec![Machine::sound(4); 3], 2);
    let (tree, machine) = (&cluster.trees[0], MachineName("m01".into()));
    assert_eq!(children(&cluster).len(), 4 + 2);
    tree.set_aggregator_works(&machine, false);
    assert_eq!(children(&cluster).len(), 4 + 4 + 1);
    tree.set_aggregator_works(&machine, true);
    tree.remove_aggregator(&MachineName("m02".into()));
    assert_eq!(children(&cluster).len(), 4 + 1 + 4);
}
