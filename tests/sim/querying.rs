//! A door asks leaves for their rows.

use std::collections::BTreeSet;

use crate::messages::{Node, Purpose, Request, Wake};
use crate::queue::{MILLIS, Time};
use crate::world::World;

/// How long a query waits for leaves.
const QUERY: Time = 500 * MILLIS;

impl World {
    /// Asks all leaves that answer queries for their rows.
    pub(crate) fn ask_leaves(&mut self, id: usize) {
        let node = Node::Door(id);
        self.doors[id].rows.clear();
        self.doors[id].as_of.clear();
        self.doors[id].asked_at = self.now;
        for leaf in 0..self.leaves.len() {
            if self.doors[id].views[leaf].as_ref().is_some_and(|view| !view.is_silent()) {
                let call = (Request::Query, Purpose::Query { leaf });
                self.call(node, Node::Leaf(leaf), None, call, QUERY);
            }
        }
        self.wake_after(node, QUERY, Wake::FinishQuery);
    }

    pub(crate) fn finish_query(&mut self, id: usize) {
        let mut rows = std::mem::take(&mut self.doors[id].rows);
        let mut answered = BTreeSet::new();
        // A duplicated answer of a leaf.
        rows.retain(|(leaf, _)| answered.insert(*leaf));
        self.doors[id].queries += 1;
        // A door that was frozen meanwhile answers after the deadline, with rows of before.
        if self.now <= self.doors[id].asked_at + 2 * QUERY {
            self.check_answer(&rows);
            self.check_coverage(id, &rows);
            self.check_partials(&rows);
        }
        self.wake_after(Node::Door(id), self.options.query_every, Wake::Query);
    }
}
