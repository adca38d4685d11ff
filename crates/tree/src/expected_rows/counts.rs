//! All shares, and what was forgotten.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use hadal_peer::{ExpectedRowsDelta, ExpectedShare, TableReport, TableRun};
use hadal_types::limits::{EXPECTED_SHARES_KEPT_MAX, EXPECTED_SHARES_MAX, LEAVES_MAX, TABLES_MAX};
use hadal_types::{LeafName, Micros, TableName, TimeRange};

use super::run_history::{RunHistory, run_of};
use super::samples::minute_of;

#[derive(Default)]
pub(super) struct Counts {
    pub(super) entries: BTreeMap<LeafName, HashMap<TableName, Entry>>,
    /// The newest known start of each leaf's process.
    pub(super) started: HashMap<LeafName, u64>,
    pub(super) forgotten_leaves: HashMap<LeafName, Micros>,
    pub(super) forgotten_tables: HashMap<TableName, Micros>,
    pub(super) version: u64,
    /// Whether a share was left out because there were too many.
    pub(super) has_left_out: bool,
    /// The number of shares.
    shares: usize,
}

#[derive(Default)]
pub(super) struct Entry {
    pub(super) history: RunHistory,
    /// Acknowledged rows that no report includes yet; all rows, if there is no report.
    pub(super) unreported: u64,
    /// When the last of them were heard of.
    pub(super) unreported_at: Micros,
    /// The rows that a leaf of this process held after its last report.
    pub(super) held: Option<u64>,
    /// The newest answer of the leaf that no report is certainly newer than.
    pub(super) answer: Option<Answer>,
    /// The version of the last change.
    pub(super) version: u64,
}

/// With how many rows a leaf answered.
pub(super) struct Answer {
    pub(super) rows: u64,
    /// The start of its process, and a version of its table: what the leaf answered may be in no
    /// report before those of later versions.
    pub(super) as_of: (u64, u64),
    /// When it was received.
    pub(super) at: Micros,
}

impl Entry {
    /// Rows that the leaf should hold, as far as they may concern a query over this range.
    pub(super) fn rows(&self, now: Micros, range: &TimeRange) -> u64 {
        let reported = match self.held {
            Some(rows) => rows.saturating_add(self.history.missing_rows(now)),
            None => self.history.rows(now, range),
        };
        let newest = self.history.newest().map_or(0, |newest| newest.rows);
        let answered = self.answer.as_ref();
        let answered = answered.map(|answer| (answer.rows.saturating_sub(newest), answer.at));
        let unreported = [Some((self.unreported, self.unreported_at)), answered];
        let is_young = |(_, at): &(u64, Micros)| !self.history.is_too_old(*at, now);
        let young = unreported.into_iter().flatten().filter(is_young);
        young.fold(reported, |sum, (rows, _)| sum.saturating_add(rows))
    }

    /// The start and the version of the newest report.
    pub(super) fn newest(&self) -> Option<(u64, u64)> {
        self.history.newest().map(|run| (run.started, run.version))
    }

    /// Notes that a newer report was learned.
    pub(super) fn reported(&mut self) {
        (self.unreported, self.held) = (0, None);
        let newest = self.newest();
        self.answer = self.answer.take().filter(|answer| newest <= Some(answer.as_of));
    }

    /// Notes an answer, unless a newer one or a newer report is known.
    pub(super) fn note(&mut self, answer: Answer) {
        let is_old = self.newest() > Some(answer.as_of)
            || self.answer.as_ref().is_some_and(|last| last.as_of > answer.as_of);
        if !is_old {
            self.answer = Some(answer);
        }
    }
}

impl Counts {
    /// Returns a share, which begins now if it is a new one; `None` if there are too many.
    pub(super) fn entry(&mut self, leaf: &LeafName, table: &TableName) -> Option<&mut Entry> {
        let is_new = self.entries.get(leaf).is_none_or(|tables| !tables.contains_key(table));
        if is_new && self.shares >= EXPECTED_SHARES_KEPT_MAX {
            self.has_left_out = true;
            return None;
        }
        self.shares += usize::from(is_new);
        Some(self.entries.entry(leaf.clone()).or_default().entry(table.clone()).or_default())
    }

    /// Makes a change, and counts it if `change` says that it is one.
    pub(super) fn change(
        &mut self,
        leaf: &LeafName,
        table: &TableName,
        change: impl FnOnce(&mut Entry) -> bool,
    ) {
        let version = self.version + 1;
        let Some(entry) = self.entry(leaf, table) else { return };
        if change(entry) {
            entry.version = version;
            self.version = version;
        }
    }

    pub(super) fn keys(
        &self,
        is_meant: impl Fn(&LeafName, &TableName) -> bool,
    ) -> Vec<(LeafName, TableName)> {
        let keys = self.entries.iter().flat_map(|(leaf, tables)| {
            tables.keys().map(move |table| (leaf.clone(), table.clone()))
        });
        keys.filter(|(leaf, table)| is_meant(leaf, table)).collect()
    }

    /// What has changed since a version.
    pub(super) fn changes_since(&self, version: u64, epoch: u64) -> ExpectedRowsDelta {
        if version == self.version {
            return ExpectedRowsDelta { epoch, version, ..ExpectedRowsDelta::default() };
        }
        let all = self.entries.iter().flat_map(|(leaf, tables)| {
            tables.iter().map(move |(table, entry)| (leaf, table, entry))
        });
        let is_changed = |entry: &Entry| entry.version > version && !entry.history.runs.is_empty();
        let mut changed: Vec<_> = all.filter(|(.., entry)| is_changed(entry)).collect();
        changed.sort_unstable_by_key(|(.., entry)| entry.version);
        let has_more = changed.len() > EXPECTED_SHARES_MAX;
        changed.truncate(EXPECTED_SHARES_MAX);
        let last = changed.last().filter(|_| has_more).map(|(.., entry)| entry.version);
        let share = |(leaf, table, entry): (&LeafName, &TableName, &Entry)| ExpectedShare {
            leaf: leaf.clone(),
            table: table.clone(),
            runs: entry.history.runs.clone(),
            acknowledged: entry.history.acknowledged,
        };
        ExpectedRowsDelta {
            epoch,
            version: last.unwrap_or(self.version),
            has_more,
            shares: changed.into_iter().map(share).collect(),
            forgotten_leaves: pairs(&self.forgotten_leaves),
            forgotten_tables: pairs(&self.forgotten_tables),
        }
    }

    pub(super) fn merge(&mut self, delta: &ExpectedRowsDelta, now: Micros) {
        delta.forgotten_leaves.iter().for_each(|(leaf, at)| self.forget_leaf(leaf, *at));
        delta.forgotten_tables.iter().for_each(|(table, at)| self.forget_table(table, *at));
        delta.shares.iter().for_each(|share| self.merge_share(share, now));
    }

    /// The time of the last report of some shares, and `now` at least.
    pub(super) fn last_received(
        &self,
        is_meant: impl Fn(&LeafName, &TableName) -> bool,
        now: Micros,
    ) -> Micros {
        let shares = self.entries.iter().flat_map(|(leaf, tables)| {
            tables.iter().map(move |(table, entry)| (leaf, table, entry))
        });
        let meant = shares.filter(|(leaf, table, _)| is_meant(leaf, table));
        let received =
            meant.filter_map(|(.., entry)| entry.history.newest().map(|run| run.received));
        received.max().unwrap_or(now).max(now)
    }

    fn merge_share(&mut self, share: &ExpectedShare, now: Micros) {
        let mut runs = share.runs.clone();
        if let Some(at) = self.forgotten_until(&share.leaf, &share.table) {
            forget_runs(&mut runs, at);
        }
        if runs.is_empty() {
            return;
        }
        self.change(&share.leaf, &share.table, |entry| {
            let before = entry.newest();
            let mut is_news = false;
            for run in &runs {
                is_news |= entry.history.learn(run, now);
            }
            if entry.newest() > before {
                entry.reported();
            }
            entry.history.acknowledge(share.acknowledged) || is_news
        });
    }

    fn forgotten_until(&self, leaf: &LeafName, table: &TableName) -> Option<Micros> {
        self.forgotten_leaves.get(leaf).max(self.forgotten_tables.get(table)).copied()
    }

    /// What is remembered of a report that comes now: after the leaf and the table were forgotten.
    pub(super) fn run_of(&self, report: &TableReport, now: Micros) -> TableRun {
        let Some(at) = self.forgotten_until(&report.leaf, &report.table) else {
            return run_of(report, now);
        };
        let mut run = run_of(report, now.max(Micros(at.0.saturating_add(1))));
        forget_samples(&mut run, at);
        run
    }

    pub(super) fn forget_leaf(&mut self, leaf: &LeafName, at: Micros) {
        if !note(&mut self.forgotten_leaves, leaf, at, LEAVES_MAX) {
            return;
        }
        self.forget(|other, _| other == leaf, at);
    }

    pub(super) fn forget_table(&mut self, table: &TableName, at: Micros) {
        if !note(&mut self.forgotten_tables, table, at, TABLES_MAX) {
            return;
        }
        self.forget(|_, other| other == table, at);
    }

    /// Forgets what was received of some shares until `at`.
    fn forget(&mut self, is_meant: impl Fn(&LeafName, &TableName) -> bool, at: Micros) {
        self.version += 1;
        for (leaf, tables) in &mut self.entries {
            tables.retain(|table, entry| !is_meant(leaf, table) || entry.forget(at));
        }
        self.entries.retain(|_, tables| !tables.is_empty());
        self.shares = self.entries.values().map(HashMap::len).sum();
    }
}

impl Entry {
    /// Forgets what was received until `at`; returns whether anything is left.
    fn forget(&mut self, at: Micros) -> bool {
        forget_runs(&mut self.history.runs, at);
        !self.history.runs.is_empty()
    }
}

/// Forgets runs that were received until `at`, and what others had accepted by then.
fn forget_runs(runs: &mut Vec<TableRun>, at: Micros) {
    runs.retain(|run| run.received > at);
    runs.iter_mut().for_each(|run| forget_samples(run, at));
}

fn forget_samples(run: &mut TableRun, at: Micros) {
    run.samples.retain(|(minute, _)| *minute > minute_of(at));
}

/// Notes the later of two times; of too many, the earliest is left out.
fn note<N: Clone + Eq + Hash>(
    times: &mut HashMap<N, Micros>,
    name: &N,
    at: Micros,
    max: usize,
) -> bool {
    if times.get(name).is_some_and(|known| *known >= at) {
        return false;
    }
    times.insert(name.clone(), at);
    if times.len() > max {
        let earliest = times.iter().min_by_key(|(_, at)| **at).map(|(name, _)| name.clone());
        earliest.and_then(|name| times.remove(&name));
    }
    true
}

fn pairs<N: Clone + Ord>(times: &HashMap<N, Micros>) -> Vec<(N, Micros)> {
    let mut pairs: Vec<(N, Micros)> = times.iter().map(|(name, at)| (name.clone(), *at)).collect();
    pairs.sort_unstable();
    pairs
}
