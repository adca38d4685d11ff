//! Measures what the model needs: T_S, T_D, T_G and T_A.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::MemberState;
use hadal_tree::{ClusterTree, ExpectedRows};
use hadal_types::LeafState;
use hadal_wire::{decode_partial, encode_partial};
use serde_json::{Value, json};

use crate::cluster::start_leaves;
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
    /// T_S as replayed: the timer of the runtime ends a little late.
    pub(crate) scan: Samples,
    distribute: Samples,
    gather: Samples,
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
        let decode = self.decode.median()?;
        Ok(Costs {
            scan: self.scan.median()?,
            distribute: self.distribute.median()?,
            // A parent decodes the partials of its children one after the other.
            gather: (self.gather.median()? - decode).max(0.0),
            merge: decode + self.merge.median()?,
        })
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
/// [`Error::Wrong`].
pub(crate) async fn measure(
    question: &Question,
    partial: &Partial,
    rows: u64,
    recordings: &Arc<Recordings>,
    times: usize,
) -> Result<Steps, Error> {
    let address = start_leaves(0, 1, recordings).await?[0];
    let (root, name) = (machine_name(0), leaf_name(0, 0));
    let tree = ClusterTree::new(root.clone(), CHILDREN, &Arc::new(ExpectedRows::default()));
    let peer = remote_leaf(name.clone(), address, &root)?;
    tree.put_leaf(name, root, Arc::clone(&peer), MemberState::Announced(LeafState::Alive));
    let [mut scan, mut distribute, mut gather] = std::array::from_fn(|_| Samples::default());
    for round in 0..times + 3 {
        recordings.note_visits();
        let start = Instant::now();
        let partial = peer.query(Arc::clone(&question.query), start + DEADLINE).await;
        let end = Instant::now();
        question.check(&partial, rows, 1)?;
        for visit in recordings.take_visits().into_iter().filter(|_| round >= 3) {
            distribute.add(visit.came - start);
            scan.add(visit.left - visit.came);
            gather.add(end - visit.left);
        }
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
    Ok(Steps { scan, distribute, gather, decode, merge, merge_five, encode, bytes: bytes.len() })
}
