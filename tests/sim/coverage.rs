//! Coverage never overstates, and is right again when all leaves are back.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hadal_types::Micros;
use hadal_types::limits::{
    EXPECTED_RUNS_MAX, EXPIRY_SECONDS, EXPIRY_SLACK_SECONDS, FUTURE_SECONDS_MAX,
};

use crate::messages::{BatchNumber, LeafId};
use crate::observing::{Acknowledged, Held};
use crate::queue::{SECOND, Time};
use crate::share::table;
use crate::world::World;

/// While nothing fails between doors, what one knows all know after this time.
const TOLD: Time = 30 * SECOND;
/// By how much clocks may differ.
const SKEW: i64 = 60 * Micros::SECOND;
/// A day: the coarsest time by which the arrival of rows is remembered.
const DAY: i64 = 86_400;

impl World {
    /// Notes whether something fails now.
    pub(crate) fn note_calm(&mut self) {
        let now = self.now;
        let works = |is_up: bool, frozen_until: Time| is_up && frozen_until <= now;
        let doors = self.doors.iter().all(|door| works(door.is_up, door.frozen_until));
        if !doors || !self.network.is_whole() {
            (self.calm_since, self.disturbed) = (now, now);
        }
        let is_lossy = self.options.loss + self.options.late > 0.0 && !self.is_healed;
        let away = |(id, leaf): (LeafId, &crate::leaf::Leaf)| {
            !works(leaf.is_up, leaf.frozen_until) && !self.rolling.has_asked(id)
        };
        if is_lossy || self.leaves.iter().enumerate().any(away) {
            self.disturbed = now;
        }
    }

    /// Rows that a door must expect of each leaf, as it can know that they were acknowledged.
    /// `and` are further batches that it knows.
    fn owed(&self, id: usize, wall: Micros, and: &Acknowledged) -> BTreeMap<LeafId, u64> {
        let is_calm = self.now >= self.calm_since + TOLD;
        let batches = self.doors.iter().enumerate().flat_map(|(other, door)| {
            let knows = move |held: &Held| other == id || is_calm && held.since + TOLD <= self.now;
            door.observer.acknowledged.iter().filter(move |(_, held)| knows(held))
        });
        let mut owed: BTreeSet<(LeafId, BatchNumber)> = BTreeSet::new();
        for (batch, held) in batches.chain(and) {
            let is_there = self.leaves[held.leaf].stored.get(batch) == Some(&held.stored);
            if is_there && !self.is_too_old(held.stored, Micros(wall.0 + SKEW)) {
                owed.insert((held.leaf, *batch));
            }
        }
        let mut rows = BTreeMap::new();
        for (leaf, batch) in owed {
            *rows.entry(leaf).or_default() += self.rows_of(batch);
        }
        rows
    }

    /// An answer says at least what it lacks of the rows of every leaf.
    pub(crate) fn check_coverage(&mut self, id: usize, rows: &[(LeafId, Rc<Vec<BatchNumber>>)]) {
        self.set_clock(id);
        let mut answered = BTreeSet::new();
        for (leaf, batches) in rows {
            answered.insert(*leaf);
            let rows = self.rows_in(batches.iter());
            let name = &self.leaf_names[*leaf];
            let as_of = self.doors[id].as_of.get(leaf).copied().unwrap_or_default();
            let expected = self.doors[id].observer.rows.answered(name, &table(), rows, as_of);
            if expected < rows {
                self.violations.push(format!("door {id} expects {expected} of {rows} rows"));
            }
        }
        if answered.len() < self.leaves.len() {
            let wall = self.wall(self.doors[id].machine);
            self.check_expected(id, wall, &answered);
            self.check_answered(id, wall, &answered);
        }
        for (leaf, batches) in rows {
            for batch in batches.iter() {
                if let Some(stored) = self.leaves[*leaf].stored.get(batch).copied() {
                    let held = Held { leaf: *leaf, stored, since: self.now };
                    self.doors[id].observer.answered.insert(*batch, held);
                }
            }
        }
    }

    /// The rows of leaves without an answer are expected.
    fn check_expected(&mut self, id: usize, wall: Micros, answered: &BTreeSet<LeafId>) {
        for (leaf, owed) in self.owed(id, wall, &Acknowledged::new()) {
            let name = &self.leaf_names[leaf];
            let expected = self.doors[id].observer.rows.expected(name, &table());
            if expected < owed && !answered.contains(&leaf) {
                let text = format!(
                    "door {id} expects {expected} rows of leaf {leaf}, which has {owed} that are \
                     acknowledged, at {} (process {}, version {}, followed {:?}, stored {:?})",
                    self.now,
                    self.leaves[leaf].process,
                    self.leaves[leaf].share.version,
                    self.doors[id].observer.followed[leaf],
                    self.leaves[leaf].stored
                );
                self.violations.push(text);
            }
        }
    }

    /// The rows of an earlier answer of the same door are expected, too: the leaf may have fallen
    /// silent before its next report.
    fn check_answered(&mut self, id: usize, wall: Micros, answered: &BTreeSet<LeafId>) {
        let observer = &self.doors[id].observer;
        let mut owed = self.owed(id, wall, &observer.answered).into_iter();
        let is_less = |&(leaf, rows): &(LeafId, u64)| {
            let name = &self.leaf_names[leaf];
            !answered.contains(&leaf) && observer.rows.expected(name, &table()) < rows
        };
        if let Some((leaf, rows)) = owed.find(is_less) {
            let text =
                format!("door {id} expects less than the {rows} rows of leaf {leaf} that it had");
            self.violations.push(text);
        }
    }

    /// Coverage is whole again where all leaves are back. Returns rows that are expected of leaves
    /// that do not have them: removals that were not reported before a crash.
    pub(crate) fn check_whole(&mut self) -> u64 {
        let mut surplus = 0;
        for id in 0..self.doors.len() {
            self.set_clock(id);
            for leaf in 0..self.leaves.len() {
                let (name, sender) = (&self.leaf_names[leaf], &self.leaves[leaf]);
                if !sender.is_up || sender.share.runs > EXPECTED_RUNS_MAX as u64 {
                    continue;
                }
                let rows = self.rows_in(sender.stored.keys());
                let as_of = sender.share.as_of();
                let rows_of_leaves = &self.doors[id].observer.rows;
                let expected = rows_of_leaves.answered(name, &table(), rows, as_of);
                surplus += expected - rows;
                if expected - rows > sender.share.untold {
                    self.violations.push(format!(
                        "door {id} misses {} rows of leaf {leaf}, which is back with all of its \
                         rows but {}",
                        expected - rows,
                        sender.share.untold
                    ));
                }
            }
        }
        surplus
    }

    /// The rows of leaves that never come back are expected until they would have expired. The
    /// clocks of the doors are wrong after this.
    pub(crate) fn check_expiry(&mut self) {
        let Some(age) = self.options.age else { return };
        let after = |seconds: i64| Micros(self.true_wall(self.now).0 + seconds * Micros::SECOND);
        let slack = EXPIRY_SECONDS + EXPIRY_SLACK_SECONDS + FUTURE_SECONDS_MAX + 2 * DAY;
        let (soon, late) = (after(age / 2), after(age + slack));
        for id in 0..self.doors.len() {
            self.set_clock_to(id, soon);
            self.check_expected(id, soon, &BTreeSet::new());
            self.set_clock_to(id, late);
            for (leaf, name) in self.leaf_names.iter().enumerate() {
                let expected = self.doors[id].observer.rows.expected(name, &table());
                if expected > 0 {
                    let text = format!("door {id} expects {expected} old rows of leaf {leaf}");
                    self.violations.push(text);
                }
            }
        }
    }
}
