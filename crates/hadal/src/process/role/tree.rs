//! The part of a process that queries leaves and places batches on them.

use std::sync::Arc;

use hadal_leaf::{Leaf, LeafGroup};
use hadal_tree::{Aggregator, DeadLeaf, ExpectedRows, Placement, PlacementLeaf, Root};

use crate::process::role::leaves::Leaves;

/// The tree over leaves, and placement on them.
pub(crate) struct Tree {
    pub(crate) root: Root,
    pub(crate) placement: Arc<Placement>,
    pub(crate) expected_rows: Arc<ExpectedRows>,
}

impl Tree {
    /// Builds the tree over the leaves of this process. A leaf that could not be opened is dead in
    /// it, so that answers lack its rows and say so.
    pub(crate) fn over(leaves: &Leaves) -> Self {
        let expected_rows = Arc::new(ExpectedRows::default());
        let mut placed = Vec::with_capacity(leaves.open.len());
        for leaf in &leaves.open {
            let holdings = leaf.holdings();
            for (table, (rows, _)) in &holdings {
                expected_rows.set(leaf.name(), table, *rows);
            }
            placed.push(PlacementLeaf {
                name: leaf.name().clone(),
                sink: Arc::<Leaf>::clone(leaf),
                admin: Arc::<Leaf>::clone(leaf),
                tables: holdings.into_iter().map(|(table, (_, bytes))| (table, bytes)).collect(),
                joined: None,
            });
        }
        let names = leaves.open.iter().map(|leaf| leaf.name().clone()).collect();
        let group = Arc::new(LeafGroup::new(leaves.open.clone()));
        let aggregator = Aggregator::over(group, names, &expected_rows);
        for name in &leaves.failed {
            // The number of its rows is unknown, so no rows are expected.
            aggregator.join(Arc::new(DeadLeaf::new(name)), vec![name.clone()]);
        }
        let root = Root::new(Arc::new(aggregator), Arc::clone(&leaves.memories.queries));
        let placement = Arc::new(Placement::new(placed, &expected_rows, root.catalog()));
        Self { root, placement, expected_rows }
    }
}
