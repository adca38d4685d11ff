//! Measures one path of a tree: the aggregators of one path are real, one after the other, and
//! their siblings replay what the level below has just answered.
//!
//! So every level is measured as if each machine had cores of its own, for any number of machines.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::cluster::{ask, one_path};
use crate::error::Error;
use crate::model::ClusterShape;
use crate::question::Question;
use crate::replay::{Recorded, Recordings};
use crate::samples::Samples;

/// What is asked of every leaf.
pub(crate) struct Played<'p> {
    /// The question.
    pub(crate) question: &'p Question,
    /// Rows of a leaf that match it.
    pub(crate) matching: u64,
    /// The answer of a leaf.
    pub(crate) leaf: &'p Recorded,
    /// How often each level is asked.
    pub(crate) times: usize,
}

/// Returns the times of queries to a cluster of this shape.
///
/// # Errors
/// [`Error::Wrong`] or [`Error::Overloaded`].
pub(crate) async fn measure(
    shape: ClusterShape,
    played: &Played<'_>,
    leaves: &[SocketAddr],
    recordings: &Arc<Recordings>,
) -> Result<Samples, Error> {
    recordings.set_leaf(played.leaf.clone());
    let mut last = Samples::default();
    for machines in sizes(shape) {
        let shape = shape.of(machines);
        let tree = one_path(shape, leaves, recordings).await?;
        let count = shape.machines * shape.leaves;
        let expected = (played.matching * count as u64, count);
        if shape.is_direct() && shape.machines > 1 {
            // Its leaves are on several machines here, so it is not measured apart.
            continue;
        }
        let (partial, times) = ask(&tree, played.question, expected, played.times).await?;
        last = times.clone();
        let leaf_rows = played.leaf.leaf_rows;
        recordings.set_plan(machines, Recorded { partial, leaf_rows, times });
    }
    Ok(last)
}

/// The machines of all plans below a shape, and its own, ascending.
fn sizes(shape: ClusterShape) -> BTreeSet<usize> {
    let mut all = BTreeSet::from([shape.machines]);
    if !shape.is_direct() {
        for machines in shape.groups().collect::<BTreeSet<_>>() {
            all.extend(sizes(shape.of(machines)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_that_a_plan_contains_is_measured_first() {
        let shape = ClusterShape { machines: 160, leaves: 8, fanout: 5 };
        assert_eq!(sizes(shape), BTreeSet::from([1, 2, 6, 7, 31, 32, 160]));
    }
}
