//! A leaf's share of the table: what it reports, restores after a start, and drops for its age.

use std::rc::Rc;
use std::sync::Arc;

use hadal_peer::{TableReport, TableStatus};
use hadal_random::mix;
use hadal_types::{AgeLimit, ColumnName, LeafState, Micros, TableName, TableSchema, TableSettings};

use crate::faults::Failure;
use crate::messages::{Answer, BatchNumber, Event, LeafId, Node, Receipt, Wake};
use crate::options::Planted;
use crate::queue::{MILLIS, SECOND, Time};
use crate::world::World;

/// How long changes are collected before they are reported.
const REPORT: Time = 20 * MILLIS;
/// The time between two passes of expiry.
const EXPIRY: Time = SECOND;

#[derive(Debug, Default)]
pub(crate) struct RowState {
    /// The start of the process, by the machine's clock.
    pub(crate) started: Micros,
    pub(crate) version: u64,
    recovered: u64,
    accepted: u64,
    /// Rows that this process removed, and the version since.
    removed: Vec<(u64, u64)>,
    /// Whether a report is planned.
    is_planned: bool,
    /// When its rows are back after the start.
    restored: Time,
    pub(crate) is_stopping: bool,
    /// Rows that earlier processes removed, while the report was not yet on the disk of every
    /// door. They may count as missing.
    pub(crate) untold: u64,
    /// Processes so far.
    pub(crate) runs: u64,
}

impl RowState {
    pub(crate) const fn answers(&self, now: Time) -> bool {
        now >= self.restored && !self.is_stopping
    }

    /// The start of the process, and the version of the share.
    pub(crate) fn as_of(&self) -> (u64, u64) {
        (u64::try_from(self.started.0).unwrap_or_default(), self.version)
    }
}

/// The one table.
pub(crate) fn table() -> TableName {
    TableName::new("events").expect("a name")
}

impl World {
    pub(crate) fn rows_of(&self, batch: BatchNumber) -> u64 {
        1 + mix(self.options.seed ^ u64::from(batch)) % 1_000
    }

    pub(crate) fn rows_in<'b>(&self, batches: impl IntoIterator<Item = &'b BatchNumber>) -> u64 {
        batches.into_iter().map(|batch| self.rows_of(*batch)).sum()
    }

    pub(crate) fn start_share(&mut self, id: LeafId) {
        let started = self.wall(self.leaves[id].machine);
        let recovered = self.rows_in(self.leaves[id].stored.keys());
        let restore = self.random.below(self.options.restore);
        let old = &self.leaves[id].share;
        self.leaves[id].share = RowState {
            started,
            version: 1,
            recovered,
            restored: self.now + restore,
            untold: old.untold,
            runs: old.runs + 1,
            ..RowState::default()
        };
        let node = Node::Leaf(id);
        self.wake_after(node, REPORT, Wake::Report);
        self.wake_after(node, restore, Wake::Restored);
        if self.options.age.is_some() {
            self.wake_after(node, restore + EXPIRY, Wake::Expire);
        }
    }

    /// Counts what the process that ends removed and some door has not on its disk.
    pub(crate) fn end_share(&mut self, id: LeafId) {
        let process = self.leaves[id].process;
        let kept = |door: &crate::door::Door| match door.observer.kept_followed[id] {
            (of, version) if of == process => version,
            _ => 0,
        };
        let reported = self.doors.iter().map(kept).min().unwrap_or(0);
        let share = &mut self.leaves[id].share;
        let untold = share.removed.iter().filter(|(version, _)| *version > reported);
        share.untold += untold.map(|(_, rows)| rows).sum::<u64>();
    }

    pub(crate) fn share_changed(&mut self, id: LeafId) {
        let share = &mut self.leaves[id].share;
        share.version += 1;
        if !std::mem::replace(&mut share.is_planned, true) {
            self.wake_after(Node::Leaf(id), REPORT, Wake::Report);
        }
    }

    pub(crate) fn rows_accepted(&mut self, id: LeafId, batch: BatchNumber) {
        self.leaves[id].share.accepted += self.rows_of(batch);
        self.share_changed(id);
    }

    pub(crate) fn rows_removed(&mut self, id: LeafId, batch: BatchNumber) {
        let rows = self.rows_of(batch);
        self.share_changed(id);
        let share = &mut self.leaves[id].share;
        share.removed.push((share.version, rows));
    }

    pub(crate) fn receipt(&self, id: LeafId, batch: BatchNumber, is_duplicate: bool) -> Receipt {
        let stored = self.leaves[id].stored.get(&batch).copied().unwrap_or_default();
        Receipt { batch, stored, is_duplicate, report: self.report_of(id) }
    }

    fn report_of(&self, id: LeafId) -> Rc<TableReport> {
        let leaf = &self.leaves[id];
        let rows = self.rows_in(leaf.stored.keys());
        let is_restored = self.now >= leaf.share.restored;
        let times = leaf.stored.values().map(|time| self.true_wall(*time));
        let time_range = times.clone().min().zip(times.max());
        let age = match self.options.planted {
            Planted::NoAge => self.options.age.map(|_| 0),
            Planted::Ageless => None,
            _ => self.options.age,
        };
        let settings = TableSettings { age: age.map(AgeLimit::Seconds), ..Default::default() };
        let schema = TableSchema {
            name: table(),
            time_column: ColumnName::new("time").expect("a name"),
            columns: Vec::new(),
            rows: if is_restored { rows } else { 0 },
            time_range,
        };
        let status = TableStatus {
            schema: Arc::new(schema),
            blocks: 1,
            block_bytes: 1,
            raw_bytes: 1,
            dropped_rows: 0,
            dropped_bytes: 0,
            dropped_until: None,
            expired_rows: 0,
            expired_until: None,
            lost_rows: 0,
            state: if is_restored { LeafState::Alive } else { LeafState::DiskRecovery },
            waiting_rows: if is_restored { 0 } else { rows },
            settings: Some(settings),
            expiry: None,
            archive_error: None,
        };
        let (started, version) = leaf.share.as_of();
        Rc::new(TableReport {
            leaf: self.leaf_names[id].clone(),
            table: table(),
            started,
            version,
            recovered_rows: leaf.share.recovered,
            accepted_rows: leaf.share.accepted,
            status: Some(Arc::new(status)),
        })
    }

    /// Reports to all doors that follow this process.
    pub(crate) fn push_reports(&mut self, id: LeafId) {
        self.leaves[id].share.is_planned = false;
        let process = self.leaves[id].process;
        for door in 0..self.doors.len() {
            let view = self.doors[door].views[id].as_ref();
            if view.is_some_and(|view| view.process == process) {
                self.push_report(id, door);
            }
        }
    }

    pub(crate) fn push_report(&mut self, id: LeafId, door: usize) {
        let report = self.report_of(id);
        let Some(life) = self.life(Node::Door(door)) else { return };
        for _ in 0..self.copies(Node::Leaf(id), Node::Door(door)) {
            let at = self.now + self.delay(Node::Leaf(id), Node::Door(door));
            let report = Rc::clone(&report);
            self.queue.push(at, Event::Report { door, life, report });
        }
    }

    /// Drops what is too old, by the leaf's clock.
    pub(crate) fn expire(&mut self, id: LeafId) {
        let now = self.wall(self.leaves[id].machine);
        let stored = self.leaves[id].stored.iter();
        let old = stored.filter(|(_, stored)| self.is_too_old(**stored, now));
        let old: Vec<BatchNumber> = old.map(|(batch, _)| *batch).collect();
        for batch in old {
            self.leaves[id].stored.remove(&batch);
            self.expired.insert(batch);
            self.rows_removed(id, batch);
        }
        self.wake_after(Node::Leaf(id), EXPIRY, Wake::Expire);
    }

    /// Whether rows that were stored at a time are over their age limit when a clock shows `now`.
    pub(crate) fn is_too_old(&self, stored: Time, now: Micros) -> bool {
        let age = |age: i64| self.true_wall(stored).0 + age * Micros::SECOND < now.0;
        self.options.age.is_some_and(age)
    }

    /// The machine restarts its leaf: it stops, and starts again.
    pub(crate) fn asked_to_restart(&mut self, id: LeafId, call: u64, from: Node) {
        self.answer(call, Node::Leaf(id), from, Answer::Restarts);
        if self.options.planted == Planted::NoRestart {
            return;
        }
        if !std::mem::replace(&mut self.leaves[id].share.is_stopping, true) {
            let wait = self.random.below(2 * SECOND);
            self.wake_after(Node::Leaf(id), wait, Wake::Stopped);
        }
    }

    pub(crate) fn stopped(&mut self, id: LeafId) {
        self.crash_leaf(id);
        let at = self.now + self.random.below(SECOND);
        self.queue.push(at, Event::Repair(Failure::Leaf(id)));
    }
}
