//! Measures what the model needs: T_S, T_D, T_G and T_A.
//!
//! T_A is all that one more child costs an aggregator: the call, decoding and merging. So it is
//! the difference of queries to all leaves of a machine and to one of them, in turns.

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{MemberState, Peer};
use hadal_tree::{ClusterTree, ExpectedRows};
use hadal_types::LeafState;
use hadal_wire::{decode_partial, encode_partial};
use serde_json::{Value, json};

use crate::cluster::ask;
use crate::error::Error;
use crate::model::Costs;
use crate::question::Question;
use crate::real::DEADLINE;
use crate::replay::Recordings;
use crate::samples::{Samples, millis};
use crate::servers::{leaf_name, machine_name, remote_leaf};

/// Children in the figure of the merge alone.
const CHILDREN: usize = 5;

/// The steps of one query, each measured.
pub(crate) struct Steps {
    /// T_S as replayed: a thread that sleeps wakes up a little late.
    pub(crate) scan: Samples,
    distribute: Samples,
    /// An aggregator with one leaf, and with all leaves of a machine.
    one: Samples,
    all: Samples,
    leaves: usize,
    decode: Samples,
    merge: Samples,
    /// Merging the decoded partials of five children into an empty one.
    merge_five: Samples,
    encode: Samples,
    bytes: usize,
}

impl Steps {
    /// The costs of the model: medians.
    ///
    /// # Errors
    /// [`Error::NoSamples`].
    pub(crate) fn costs(&self) -> Result<Costs, Error> {
        let (scan, distribute) = (self.scan.median()?, self.distribute.median()?);
        let (one, all) = (self.one.median()?, self.all.median()?);
        let others = self.leaves.saturating_sub(1).max(1);
        let merge = ((all - one) / others as f64).max(0.0);
        let gather = (one - scan - distribute - merge).max(0.0);
        Ok(Costs { scan, distribute, gather, merge })
    }

    /// As JSON, in milliseconds.
    ///
    /// # Errors
    /// [`Error::NoSamples`].
    pub(crate) fn summary(&self) -> Result<Value, Error> {
        let costs = self.costs()?;
        Ok(json!({
            "t_s": millis(costs.scan), "t_d": millis(costs.distribute),
            "t_g": millis(costs.gather), "t_a": millis(costs.merge),
            "encode": self.encode.summary()?, "decode": self.decode.summary()?,
            "merge": self.merge.summary()?, "merge_five": self.merge_five.summary()?,
            "partial_bytes": self.bytes,
        }))
    }
}

/// Measures the steps of a query, whose leaves answer as recorded; `partial` is that of one leaf.
///
/// # Errors
/// [`Error::Wrong`] or [`Error::Overloaded`].
pub(crate) async fn measure(
    question: &Question,
    partial: &Partial,
    rows: u64,
    (leaves, recordings): (&[SocketAddr], &Arc<Recordings>),
    times: usize,
) -> Result<Steps, Error> {
    let trees = [machine_of(&leaves[..leaves.len().min(1)])?, machine_of(leaves)?];
    let [mut scan, mut distribute, mut one, mut all] = std::array::from_fn(|_| Samples::default());
    for _ in 0..times {
        recordings.note_visits();
        let start = Instant::now();
        let partial = trees[0].query(Arc::clone(&question.query), start + DEADLINE).await;
        one.add(start.elapsed());
        question.check(&partial, rows, 1)?;
        for visit in recordings.take_visits() {
            distribute.add(visit.came - start);
            scan.add(visit.left - visit.came);
        }
        let expected = (rows * leaves.len() as u64, leaves.len());
        all.extend(ask(&trees[1], question, expected, 1).await?.1);
    }
    let [mut encode, mut decode, mut merge, mut merge_five] =
        std::array::from_fn(|_| Samples::default());
    let bytes = encode_partial(partial.clone());
    for _ in 0..times {
        let copy = partial.clone();
        let start = Instant::now();
        let encoded = encode_partial(copy);
        encode.add(start.elapsed());
        drop(black_box(encoded));
        let mut decoded = Vec::new();
        for _ in 0..=CHILDREN {
            let start = Instant::now();
            let one = decode_partial(bytes.clone(), &question.query);
            decode.add(start.elapsed());
            decoded.extend(one.ok());
        }
        let mut merged = Partial::empty(&question.query);
        let first = decoded.pop();
        let start = Instant::now();
        decoded.into_iter().for_each(|child| merged.merge(child));
        merge_five.add(start.elapsed());
        // One more child of groups that are there already.
        if let Some(child) = first {
            let start = Instant::now();
            merged.merge(child);
            merge.add(start.elapsed());
        }
        drop(black_box(merged));
    }
    let (leaves, bytes) = (leaves.len(), bytes.len());
    Ok(Steps { scan, distribute, one, all, leaves, decode, merge, merge_five, encode, bytes })
}

/// The aggregator of a machine with these replay leaves.
fn machine_of(leaves: &[SocketAddr]) -> Result<ClusterTree, Error> {
    let machine = machine_name(0);
    let tree = ClusterTree::new(machine.clone(), CHILDREN, &Arc::new(ExpectedRows::default()));
    for (leaf, address) in leaves.iter().enumerate() {
        let name = leaf_name(0, leaf);
        let peer = remote_leaf(name.clone(), *address, &machine)?;
        tree.put_leaf(name, machine.clone(), peer, MemberState::Announced(LeafState::Alive));
    }
    Ok(tree)
}
