//! What a door knows of the rows of leaves, and how doors exchange it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use hadal_peer::{ExpectedRowsDelta, Member, MemberRole, MemberState, TableReport};
use hadal_tree::{Exchange, ExpectedRows, Pull};
use hadal_types::{FixedClock, LeafName, LeafState, MachineName};

use crate::messages::{Answer, BatchNumber, LeafId, Node, Purpose, Receipt, Request};
use crate::options::Planted;
use crate::queue::{SECOND, Time};
use crate::share::table;
use crate::world::World;

/// How long another door may take to tell what it knows.
const PULL: Time = SECOND;
/// How often a door writes to its disk what it knows.
const KEEP: Time = 5 * SECOND;

/// Batches that a door knows to be acknowledged.
pub(crate) type Acknowledged = BTreeMap<BatchNumber, Held>;

/// Where a batch is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) leaf: LeafId,
    pub(crate) stored: Time,
    /// Since when the door knows it.
    pub(crate) since: Time,
}

/// What one door reports to another one.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    delta: ExpectedRowsDelta,
    acknowledged: Acknowledged,
}

pub(crate) struct Observer {
    clock: Arc<FixedClock>,
    pub(crate) rows: ExpectedRows,
    exchange: Exchange,
    pub(crate) acknowledged: Acknowledged,
    /// Batches that were in its answers.
    pub(crate) answered: Acknowledged,
    /// Of each leaf: the process and the version of the newest report.
    pub(crate) followed: Vec<(u64, u64)>,
    /// The newest report of each leaf.
    pub(crate) reports: Vec<Option<Rc<TableReport>>>,
    /// On disk.
    kept: Vec<ExpectedRowsDelta>,
    kept_acknowledged: Acknowledged,
    kept_version: u64,
    pub(crate) kept_followed: Vec<(u64, u64)>,
    kept_at: Time,
    /// The members that the exchange has heard_of.
    heard_of: Vec<(LeafName, u64, u64, bool)>,
}

impl Observer {
    pub(crate) fn new(door: usize, leaves: usize) -> Self {
        let clock = Arc::new(FixedClock::default());
        Self {
            rows: ExpectedRows::new(Arc::<FixedClock>::clone(&clock)),
            clock,
            exchange: Exchange::new(door_name(door)),
            acknowledged: BTreeMap::new(),
            answered: BTreeMap::new(),
            followed: vec![(0, 0); leaves],
            reports: vec![None; leaves],
            kept: Vec::new(),
            kept_acknowledged: BTreeMap::new(),
            kept_version: 0,
            kept_followed: vec![(0, 0); leaves],
            kept_at: 0,
            heard_of: Vec::new(),
        }
    }
}

fn door_name(door: usize) -> LeafName {
    LeafName(format!("door-{door}").into())
}

fn member(name: LeafName, role: MemberRole, (started, version): (u64, u64)) -> Member {
    Member {
        name,
        role,
        machine: MachineName("m".into()),
        rack: String::new(),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        url: String::new(),
        started,
        joined: started,
        release: String::new(),
        wire_version: 1,
        state: MemberState::Announced(LeafState::Alive),
        used_bytes: 0,
        free_bytes: 0,
        catalog_version: 0,
        expected_rows_version: version,
        has_definitions: false,
    }
}

impl World {
    /// A door starts with what its disk has.
    pub(crate) fn start_observer(&mut self, id: usize) {
        let now = self.wall(self.doors[id].machine);
        let leaves = self.leaves.len();
        let observer = &mut self.doors[id].observer;
        let mut new = Observer::new(id, leaves);
        new.clock.set(now);
        new.rows = ExpectedRows::new(Arc::<FixedClock>::clone(&new.clock));
        for delta in &observer.kept {
            new.rows.merge(delta);
        }
        new.acknowledged = observer.kept_acknowledged.clone();
        new.kept = std::mem::take(&mut observer.kept);
        new.kept_acknowledged = std::mem::take(&mut observer.kept_acknowledged);
        new.kept_followed = std::mem::take(&mut observer.kept_followed);
        *observer = new;
        self.calm_since = self.now;
    }

    pub(crate) fn set_clock(&self, id: usize) {
        let door = &self.doors[id];
        door.observer.clock.set(self.wall(door.machine));
    }

    /// Sets the clocks of a door to any time.
    pub(crate) fn set_clock_to(&self, id: usize, time: hadal_types::Micros) {
        self.doors[id].observer.clock.set(time);
    }

    /// A report of a leaf comes.
    pub(crate) fn learn(&mut self, id: usize, report: &Rc<TableReport>) {
        self.set_clock(id);
        let Some(leaf) = self.leaf_names.iter().position(|name| *name == report.leaf) else {
            return;
        };
        let started = u64::try_from(self.leaves[leaf].share.started.0).unwrap_or_default();
        let process = self.leaves[leaf].process;
        let observer = &mut self.doors[id].observer;
        observer.rows.report(report);
        if report.started == started {
            let newest = observer.followed[leaf].max((process, report.version));
            observer.followed[leaf] = newest;
        }
        let key = |report: &TableReport| (report.started, report.version);
        if observer.reports[leaf].as_deref().is_none_or(|old| key(old) <= key(report)) {
            observer.reports[leaf] = Some(Rc::clone(report));
        }
    }

    /// An acknowledgement of a leaf comes.
    pub(crate) fn received(&mut self, id: usize, leaf: LeafId, receipt: &Receipt) {
        let Receipt { batch, stored, is_duplicate, ref report } = *receipt;
        self.set_clock(id);
        let since = self.now;
        self.doors[id].observer.acknowledged.insert(batch, Held { leaf, stored, since });
        if self.options.planted == Planted::UnreadReceipts {
            return;
        }
        let added = if is_duplicate { 0 } else { self.rows_of(batch) };
        let (leaf, rows) = (&self.leaf_names[leaf], &self.doors[id].observer.rows);
        rows.acknowledged(leaf, &table(), added, Some(report));
        self.learn(id, report);
    }

    /// A door hears of members, and asks other doors for what they know.
    pub(crate) fn observe(&mut self, id: usize, hearers: &[Vec<bool>]) {
        self.set_clock(id);
        self.follow_leaves(id, hearers);
        self.see_members(id, hearers);
        self.pull(id);
        let (now, observer) = (self.now, &mut self.doors[id].observer);
        if now >= observer.kept_at + KEEP {
            observer.kept_at = now;
            if observer.kept_version != observer.rows.version() || observer.kept.is_empty() {
                observer.kept_version = observer.rows.version();
                observer.kept = observer.rows.everything().collect();
                observer.kept_acknowledged = observer.acknowledged.clone();
                observer.kept_followed = observer.followed.clone();
            }
        }
    }

    /// Leaves send again what did not arrive.
    fn follow_leaves(&mut self, id: usize, hearers: &[Vec<bool>]) {
        let machine = self.doors[id].machine;
        for leaf in 0..self.leaves.len() {
            let Some(view) = &self.doors[id].views[leaf] else { continue };
            let sender = &self.leaves[leaf];
            let newest = (sender.process, sender.share.version);
            let is_followed = sender.is_up
                && sender.frozen_until <= self.now
                && view.process == sender.process
                && hearers[sender.machine][machine];
            if is_followed && self.doors[id].observer.followed[leaf] != newest {
                self.push_report(leaf, id);
            }
        }
    }

    fn see_members(&mut self, id: usize, hearers: &[Vec<bool>]) {
        let machine = self.doors[id].machine;
        let mut heard_of = Vec::new();
        for (other, door) in self.doors.iter().enumerate() {
            let lives = door.is_up && door.frozen_until <= self.now;
            if other != id && lives && hearers[door.machine][machine] {
                let rows = &door.observer.rows;
                heard_of.push((door_name(other), door.life, rows.version(), false));
            }
        }
        let doors = heard_of.len();
        for (name, view) in self.leaf_names.iter().zip(&self.doors[id].views) {
            if view.as_ref().is_some_and(|view| view.is_silent()) {
                heard_of.push((name.clone(), 0, 0, true));
            }
        }
        let observer = &mut self.doors[id].observer;
        if observer.heard_of == heard_of {
            return;
        }
        let role = |index| if index < doors { MemberRole::Aggregator } else { MemberRole::Leaf };
        let members = heard_of.iter().enumerate().map(|(index, (name, started, version, _))| {
            let mut member = member(name.clone(), role(index), (*started, *version));
            if index >= doors {
                member.state = MemberState::Silent;
            }
            member
        });
        let members: Vec<Member> = members.collect();
        let now = std::time::Duration::from_micros(self.now);
        observer.exchange.see(&members, now);
        observer.heard_of = heard_of;
    }

    fn pull(&mut self, id: usize) {
        let now = std::time::Duration::from_micros(self.now);
        for pull in self.doors[id].observer.exchange.due(now) {
            let other = (0..self.doors.len()).find(|other| door_name(*other) == pull.member);
            let Some(other) = other else { continue };
            let request = Request::Pull { epoch: pull.epoch, version: pull.version };
            let call = (request, Purpose::Pull(pull));
            self.call(Node::Door(id), Node::Door(other), None, call, PULL);
        }
    }

    pub(crate) fn pull_asked(
        &mut self,
        id: usize,
        call: u64,
        from: Node,
        (epoch, version): (u64, u64),
    ) {
        let Observer { rows, acknowledged, .. } = &self.doors[id].observer;
        let delta = rows.changes_since(if epoch == rows.epoch() { version } else { 0 });
        let knowledge = Rc::new(Knowledge { delta, acknowledged: acknowledged.clone() });
        self.answer(call, Node::Door(id), from, Answer::Pulled(knowledge));
    }

    pub(crate) fn pulled(&mut self, id: usize, pull: &Pull, answer: Option<Answer>) {
        self.set_clock(id);
        let now = std::time::Duration::from_micros(self.now);
        let observer = &mut self.doors[id].observer;
        let Some(Answer::Pulled(knowledge)) = answer else {
            return observer.exchange.ended(pull, None, now);
        };
        let Knowledge { delta, acknowledged } = &*knowledge;
        observer.rows.merge(delta);
        let version = (delta.epoch, delta.version, delta.has_more);
        observer.exchange.ended(pull, Some(version), now);
        for (batch, held) in acknowledged {
            let held = Held { since: self.now, ..*held };
            let entry = observer.acknowledged.entry(*batch).or_insert(held);
            if entry.stored < held.stored {
                *entry = held;
            }
        }
    }
}
