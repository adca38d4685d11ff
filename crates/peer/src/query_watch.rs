//! Watching a query: what is known of its answer before all leaves have answered.
//!
//! The holder of a part of the answer shows it to the [`QueryWatch`] that came with the query: an
//! aggregator shows what it has merged, and a leaf what its threads have scanned. A part moves up
//! when a leaf answers, so two holders may show rows of the same leaf for a moment. Of these, only
//! the holder with more leaves counts: no row counts twice. A query that nobody watches has an
//! empty watch, which costs a comparison per block.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hadal_aggregate::{Coverage, LeafCoverage, Partial};
use hadal_query::Query;
use hadal_types::LeafName;
use hadal_types::limits::WATCHED_PARTIAL_BYTES_MAX;
use parking_lot::Mutex;

/// Watches one query, or none. Clones watch the same query.
#[derive(Clone, Debug, Default)]
pub struct QueryWatch(Option<Arc<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    /// Threads of leaves show what they have once per round.
    round: AtomicU64,
    next_id: AtomicU64,
    parts: Mutex<BTreeMap<u64, Part>>,
}

/// What one holder shows.
#[derive(Debug, Default)]
struct Part {
    /// The coverage of the leaves whose rows are in the partial.
    covered: Vec<Coverage>,
    /// The coverage of each leaf that has not answered the holder.
    silent: Vec<Coverage>,
    /// Rows that were scanned and are not in `covered` yet.
    rows_scanned: Arc<AtomicU64>,
    partial: Option<Partial>,
    /// Bytes of the partial.
    bytes: usize,
    /// Threads scan the leaves: the round in which the partial began, and the coverage of each leaf
    /// without it.
    scan: Option<(u64, Vec<Coverage>)>,
}

/// The place of one holder, empty until it shows something. Dropping it takes the part back.
#[derive(Debug, Default)]
pub struct WatchedPart {
    shared: Option<(Arc<Shown>, u64)>,
    rows_scanned: Arc<AtomicU64>,
}

/// How far a query has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryProgress {
    /// Leaves that were asked.
    pub leaves_asked: u32,
    /// Leaves that have answered.
    pub leaves_answered: u32,
    /// Rows of the table that should be scanned.
    pub rows_expected: u64,
    /// Rows that were scanned, or proved not to match.
    pub rows_scanned: u64,
}

impl QueryWatch {
    /// Returns the watch of a query.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns a place for what one holder shows.
    #[must_use]
    pub fn part(&self) -> WatchedPart {
        let shared = self.0.as_ref().map(|shared| {
            let id = shared.next_id.fetch_add(1, Ordering::Relaxed);
            (Arc::clone(shared), id)
        });
        WatchedPart { shared, rows_scanned: Arc::default() }
    }

    /// Asks the threads of leaves to show what they have scanned.
    pub fn begin_round(&self) {
        if let Some(shared) = &self.0 {
            shared.round.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the progress, and a copy of all parts merged, if they have rows of more than
    /// `rows_min` rows of the table. Leaves that have not answered are late in its coverage.
    /// Takes milliseconds for many groups.
    #[must_use]
    pub fn collect(&self, query: &Query, rows_min: u64) -> (QueryProgress, Option<Partial>) {
        let (mut progress, mut merged) = (QueryProgress::default(), Partial::empty(query));
        let Some(shared) = &self.0 else { return (progress, None) };
        let parts = shared.parts.lock();
        let mut parts: Vec<&Part> = parts.values().collect();
        parts.sort_by_key(|part| Reverse(part.leaves().count()));
        let mut counted: HashSet<&LeafName> = HashSet::new();
        for part in &parts {
            if part.leaves().any(|leaf| counted.contains(&leaf.name)) {
                continue;
            }
            counted.extend(part.leaves().map(|leaf| &leaf.name));
            let coverage = part.coverage();
            progress.add(&coverage, part.rows_scanned.load(Ordering::Relaxed));
            match part.partial.as_ref().and_then(|it| it.copy(WATCHED_PARTIAL_BYTES_MAX)) {
                Some(partial) => merged.merge(Partial { coverage, ..partial }),
                // The rows are not in the partial.
                None => merged.coverage.merge(without_rows(coverage)),
            }
        }
        for coverage in parts.iter().flat_map(|part| &part.silent) {
            if coverage.leaves.iter().all(|leaf| counted.insert(&leaf.name)) {
                progress.add(coverage, 0);
                merged.coverage.merge(coverage.clone());
            }
        }
        let is_answer = merged.coverage.rows_scanned > rows_min && merged.errors.is_empty();
        (progress, is_answer.then_some(merged))
    }
}

impl Shown {
    /// Shows a part, without its partial if all together would be too large by now.
    fn insert(&self, id: u64, mut part: Part) {
        let mut parts = self.parts.lock();
        if part.bytes > room_beside(&parts, id) {
            (part.partial, part.bytes) = (None, 0);
        }
        parts.insert(id, part);
    }
}

/// Bytes that the partial of part `id` may have.
fn room_beside(parts: &BTreeMap<u64, Part>, id: u64) -> usize {
    let others = parts.iter().filter(|(other, _)| **other != id);
    let used = others.fold(0usize, |used, (_, part)| used.saturating_add(part.bytes));
    WATCHED_PARTIAL_BYTES_MAX.saturating_sub(used)
}

fn without_rows(mut coverage: Coverage) -> Coverage {
    coverage.rows_scanned = 0;
    coverage.leaves.iter_mut().for_each(|leaf| leaf.rows_scanned = 0);
    coverage
}

impl QueryProgress {
    fn add(&mut self, coverage: &Coverage, rows_scanned: u64) {
        self.leaves_asked += coverage.leaves_asked;
        self.leaves_answered += coverage.leaves_answered;
        self.rows_expected += coverage.rows_expected;
        // A scan that is repeated counts its rows again.
        let rows_scanned = coverage.rows_scanned.max(rows_scanned);
        self.rows_scanned += rows_scanned.min(coverage.rows_expected);
    }
}

impl Part {
    /// The leaves whose rows are in the partial.
    fn leaves(&self) -> impl Iterator<Item = &LeafCoverage> {
        self.covered.iter().flat_map(|coverage| &coverage.leaves)
    }

    fn coverage(&self) -> Coverage {
        let mut all = Coverage::default();
        self.covered.iter().for_each(|coverage| all.merge(coverage.clone()));
        all
    }
}

impl WatchedPart {
    /// Whether somebody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.shared.is_some()
    }

    /// The number of the round, 0 before the first one.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.shared.as_ref().map_or(0, |(shared, _)| shared.round.load(Ordering::Relaxed))
    }

    /// Shows the merged answers of some leaves in place of what was shown, and the coverage of each
    /// leaf that has not answered. A coverage there that has no leaf adds its losses. Shows only
    /// the coverage if all that is shown of the query would be too large.
    pub fn show(&self, merged: &Partial, silent: Vec<Coverage>) {
        let Some((shared, id)) = &self.shared else { return };
        let partial = merged.copy(room_beside(&shared.parts.lock(), *id));
        let part = Part {
            covered: vec![merged.coverage.clone()],
            silent,
            bytes: partial.as_ref().map_or(0, Partial::bytes),
            partial,
            ..Part::default()
        };
        shared.insert(*id, part);
    }

    /// Shows that threads begin to scan leaves, with the coverage of each. Their scanned rows are
    /// those that need no scan.
    pub fn begin_scan(&self, leaves: Vec<Coverage>) {
        let Some((shared, id)) = &self.shared else { return };
        let rows: u64 = leaves.iter().map(|leaf| leaf.rows_scanned).sum();
        self.rows_scanned.store(rows, Ordering::Relaxed);
        let part = Part {
            covered: leaves.clone(),
            rows_scanned: Arc::clone(&self.rows_scanned),
            scan: Some((0, leaves)),
            ..Part::default()
        };
        shared.parts.lock().insert(*id, part);
    }

    /// Counts scanned rows. Cheap.
    pub fn count_rows(&self, rows: u64) {
        if self.is_watched() {
            self.rows_scanned.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Adds what one thread has scanned to what other threads have added in this round: its
    /// partial, and its rows of each leaf of [`Self::begin_scan`]. Nothing if all that is shown of
    /// the query would be too large.
    pub fn add(&self, round: u64, partial: &Partial, rows: impl Iterator<Item = u64>) {
        let Some((shared, id)) = &self.shared else { return };
        let room = room_beside(&shared.parts.lock(), *id);
        let Some(copy) = partial.copy(room) else { return };
        let mut parts = shared.parts.lock();
        let room = room_beside(&parts, *id);
        let Some(part) = parts.get_mut(id) else { return };
        let Some((last, leaves)) = &mut part.scan else { return };
        if *last != round {
            *last = round;
            part.covered.clone_from(leaves);
            (part.partial, part.bytes) = (None, 0);
        }
        if part.bytes.saturating_add(copy.bytes()) > room {
            return;
        }
        for (coverage, rows) in part.covered.iter_mut().zip(rows) {
            coverage.rows_scanned += rows;
            coverage.leaves.iter_mut().for_each(|leaf| leaf.rows_scanned += rows);
        }
        match &mut part.partial {
            Some(all) => all.merge(copy),
            None => part.partial = Some(copy),
        }
        // Less than the sum, where both have the same groups.
        part.bytes = part.partial.as_ref().map_or(0, Partial::bytes);
    }
}

impl Drop for WatchedPart {
    fn drop(&mut self) {
        if let Some((shared, id)) = &self.shared {
            shared.parts.lock().remove(id);
        }
    }
}

#[cfg(test)]
mod tests;
