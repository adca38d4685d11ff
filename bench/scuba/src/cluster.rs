//! Clusters of replayed machines.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{MemberState, Peer, PlannedPeer};
use hadal_tree::{ClusterTree, DeadLeaf, ExpectedRows};
use hadal_types::LeafState;
use hadal_types::limits::TREE_DIRECT_LEAVES_MAX;

use crate::error::Error;
use crate::model::ClusterShape;
use crate::question::Question;
use crate::real::DEADLINE;
use crate::replay::{Recordings, ReplayAggregator, ReplayLeaf};
use crate::samples::Samples;
use crate::servers::{leaf_name, machine_name, remote_aggregator, remote_leaf, start};

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

/// Starts the replay leaves of one machine; returns their addresses.
pub(crate) async fn start_leaves(
    machine: usize,
    leaves: usize,
    recordings: &Arc<Recordings>,
) -> Result<Vec<SocketAddr>, Error> {
    let mut addresses = Vec::with_capacity(leaves);
    for leaf in 0..leaves {
        let name = leaf_name(machine, leaf);
        let replay = Arc::new(ReplayLeaf::new(name.clone(), recordings));
        addresses.push(start(name, replay, None).await?);
    }
    Ok(addresses)
}

fn tree(machine: usize, fanout: usize) -> Arc<ClusterTree> {
    Arc::new(ClusterTree::new(machine_name(machine), fanout, &Arc::new(ExpectedRows::default())))
}

/// The first machine of a cluster whose other machines are replayed: its leaves, and an aggregator
/// for each group.
pub(crate) async fn one_path(
    shape: ClusterShape,
    leaves: &[SocketAddr],
    recordings: &Arc<Recordings>,
) -> Result<Arc<ClusterTree>, Error> {
    let root = machine_name(0);
    let tree = tree(0, shape.fanout);
    for (leaf, address) in leaves.iter().enumerate() {
        let name = leaf_name(0, leaf);
        let peer = remote_leaf(name.clone(), *address, &root)?;
        tree.put_leaf(name, root.clone(), peer, ALIVE);
    }
    let mut leads = Vec::new();
    let mut next = 1;
    for machines in shape.groups() {
        leads.push(next);
        next += machines;
    }
    let mut last: Option<SocketAddr> = None;
    for machine in 1..shape.machines {
        let name = machine_name(machine);
        for leaf in 0..shape.leaves {
            // Only planned with: their aggregator answers for them.
            let leaf = leaf_name(machine, leaf);
            let peer = Arc::new(DeadLeaf::new(&leaf));
            tree.put_leaf(leaf, name.clone(), peer, ALIVE);
        }
        if leads.contains(&machine) {
            let replay = Arc::new(ReplayAggregator(Arc::clone(recordings)));
            let stand_in = Arc::new(DeadLeaf::new(&leaf_name(machine, 0)));
            let process = hadal_types::LeafName(Arc::clone(&name.0));
            last = Some(start(process, stand_in, Some(replay)).await?);
        }
        if let Some(address) = last {
            let peer = remote_aggregator(&name, address, &root)?;
            tree.put_aggregator(name, peer, true);
        }
    }
    Ok(tree)
}

/// A whole cluster: the aggregator of every machine, and all leaves as replay leaves. Returns the
/// aggregator of the first machine, which knows all others.
pub(crate) async fn whole(
    shape: ClusterShape,
    recordings: &Arc<Recordings>,
) -> Result<Arc<ClusterTree>, Error> {
    let trees: Vec<Arc<ClusterTree>> =
        (0..shape.machines).map(|machine| tree(machine, shape.fanout)).collect();
    let (mut aggregators, mut leaves) = (Vec::new(), Vec::new());
    for (machine, tree) in trees.iter().enumerate() {
        let peer: Arc<dyn Peer> = tree.clone();
        let planned: Arc<dyn PlannedPeer> = tree.clone();
        let name = hadal_types::LeafName(machine_name(machine).0);
        aggregators.push(start(name, peer, Some(planned)).await?);
        leaves.push(start_leaves(machine, shape.leaves, recordings).await?);
    }
    for (machine, tree) in trees.iter().enumerate() {
        let caller = machine_name(machine);
        for other in 0..shape.machines {
            let name = machine_name(other);
            // Below the root, an aggregator asks leaves of the machines after its own, if they are
            // few.
            let reached = machine..machine + (TREE_DIRECT_LEAVES_MAX / shape.leaves).max(1);
            let leaves = match machine == 0 || reached.contains(&other) {
                true => &leaves[other][..],
                false => &[],
            };
            for (leaf, address) in leaves.iter().enumerate() {
                let leaf_name = leaf_name(other, leaf);
                let peer = remote_leaf(leaf_name.clone(), *address, &caller)?;
                tree.put_leaf(leaf_name, name.clone(), peer, ALIVE);
            }
            if machine != other {
                let peer = remote_aggregator(&name, aggregators[other], &caller)?;
                tree.put_aggregator(name, peer, true);
            }
        }
    }
    trees.into_iter().next().ok_or(Error::NoSamples)
}

/// Asks the root of a tree `times` times, after a few rounds that open connections; every answer
/// is checked. Returns the last partial and the times.
///
/// # Errors
/// [`Error::Wrong`] or [`Error::Overloaded`].
pub(crate) async fn ask(
    tree: &ClusterTree,
    question: &Question,
    (rows, leaves): (u64, usize),
    times: usize,
) -> Result<(Partial, Samples), Error> {
    const FIRST: usize = 3;
    let mut samples = Samples::default();
    let mut last = None;
    for round in 0..times + FIRST {
        let start = Instant::now();
        let partial = tree.query(Arc::clone(&question.query), start + DEADLINE).await;
        if round >= FIRST {
            samples.add(start.elapsed());
        }
        question.check(&partial, rows, leaves)?;
        last = Some(partial);
    }
    last.map(|partial| (partial, samples)).ok_or(Error::NoSamples)
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::Partial;

    use super::*;
    use crate::question::QuestionKind;
    use crate::replay::Recorded;

    #[tokio::test(flavor = "multi_thread")]
    async fn every_leaf_of_a_whole_cluster_answers() {
        let question = Question::new(QuestionKind::Scan, 3).expect("a question");
        let recordings = Arc::default();
        // Groups of one, of few and of many machines: their leaves are asked directly, or not.
        for machines in [5, 10, 40] {
            let shape = ClusterShape { machines, leaves: 2, fanout: 5 };
            let tree = whole(shape, &recordings).await.expect("a cluster");
            let partial = Partial::empty(&question.query);
            recordings.set_leaf(Recorded { partial, leaf_rows: 1, times: Samples::default() });
            let asked = ask(&tree, &question, (0, machines * 2), 1).await;
            assert!(asked.is_ok(), "{machines} machines: {:?}", asked.err());
        }
    }
}
