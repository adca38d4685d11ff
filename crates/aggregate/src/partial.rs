//! A partial result: what a leaf, or an aggregator over leaves, contributes to the result.
//!
//! Partial results merge in any order and grouping to the same total, bit for bit. Only the root
//! finishes the total (see `finish.rs`).

pub(crate) mod coverage;
pub(crate) mod top_rows;
pub(crate) mod warnings;

use hadal_query::{Query, QueryKind, SentGroups};
use hadal_types::MemoryReservation;

use crate::groups::Groups;
use crate::partial::coverage::{Coverage, ScanStats};
use crate::partial::top_rows::TopRows;
use crate::partial::warnings::{WarningCode, Warnings};
use crate::query_error::{ADVICE, QueryError, QueryErrorCode, QueryErrors, out_of_memory};
use crate::top_list::{NextRound, Rank};

/// The groups or rows of a partial result.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialBody {
    /// Groups of rows.
    Groups(Groups),
    /// The rows themselves.
    Rows(TopRows),
}

/// A partial result of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// The groups or rows.
    pub body: PartialBody,
    /// How much of the data was scanned.
    pub coverage: Coverage,
    /// The cost of the scan.
    pub stats: ScanStats,
    /// Warnings for the user.
    pub warnings: Warnings,
    /// Errors; any of them fails the query.
    pub errors: QueryErrors,
    /// The memory reservation of the body.
    pub reservation: MemoryReservation,
}

impl Partial {
    /// The partial result of no rows and no leaves.
    #[must_use]
    pub fn empty(query: &Query) -> Self {
        let mut errors = QueryErrors::default();
        let body = match &query.kind {
            QueryKind::Groups { .. } => PartialBody::Groups(Groups::new(query)),
            QueryKind::Rows { .. } => match TopRows::new(query) {
                Ok(rows) => PartialBody::Rows(rows),
                Err(error) => {
                    errors.add(QueryError::new(QueryErrorCode::Invalid, &error.to_string()));
                    PartialBody::Groups(Groups::new(query))
                }
            },
        };
        Self::of(body, errors)
    }

    fn of(body: PartialBody, errors: QueryErrors) -> Self {
        Self {
            body,
            coverage: Coverage::default(),
            stats: ScanStats::default(),
            warnings: Warnings::default(),
            errors,
            reservation: MemoryReservation::default(),
        }
    }

    /// The partial result of a query that fails with this error.
    #[must_use]
    pub fn failed(query: &Query, error: QueryError) -> Self {
        let mut partial = Self::empty(query);
        partial.errors.add(error);
        partial
    }

    /// Adds an error. The groups or rows are useless then, and their memory is freed.
    pub fn fail(&mut self, error: QueryError) {
        self.errors.add(error);
        self.forget();
    }

    /// Drops the groups or rows, and releases their memory.
    fn forget(&mut self) {
        match &mut self.body {
            PartialBody::Groups(groups) => groups.clear(),
            PartialBody::Rows(rows) => rows.clear(),
        }
        self.reservation.shrink(usize::MAX);
    }

    /// Reserves as many bytes as the body takes by now. Beyond `bytes_max`, or beyond what is free,
    /// the partial result [fails](Self::fail).
    pub fn hold(&mut self, bytes_max: usize) {
        if let Err(error) = self.try_hold(bytes_max) {
            self.fail(error);
        }
    }

    /// As [`Self::hold`], but keeps the body if it does not fit.
    ///
    /// # Errors
    /// The error with which the partial result would fail; the reservation is as before then.
    pub fn try_hold(&mut self, bytes_max: usize) -> Result<(), QueryError> {
        let mut bytes = self.bytes();
        if bytes > bytes_max
            && let PartialBody::Groups(groups) = &mut self.body
            && groups.cut_back()
        {
            bytes = self.bytes();
        }
        if bytes > bytes_max {
            let message = format!(
                "the query needs {bytes} bytes on one leaf; at most {bytes_max} are allowed: \
                 {ADVICE}"
            );
            return Err(QueryError::new(QueryErrorCode::Memory, &message));
        }
        self.reservation.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))
    }

    /// Whether `other` belongs to the same query, so that the two can be merged.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        match (&self.body, &other.body) {
            (PartialBody::Groups(groups), PartialBody::Groups(others)) => groups.fits(others),
            (PartialBody::Rows(rows), PartialBody::Rows(others)) => rows.fits(others),
            _ => false,
        }
    }

    /// Adds the partial result of other leaves for the same query. A result of another query (see
    /// [`Self::fits`]) is an error.
    pub fn merge(&mut self, other: Self) {
        self.merge_unless(other, &|| false);
    }

    /// As [`Self::merge`], but [fails](Self::fail) as soon as `is_over` says that nobody waits any
    /// more. For groups `is_over` is asked every few milliseconds. A merge with a failed partial
    /// result fails too, because nothing of it would be shown.
    pub fn merge_unless(&mut self, other: Self, is_over: &dyn Fn() -> bool) {
        let fits = self.fits(&other);
        self.coverage.merge(other.coverage);
        self.stats.merge(other.stats);
        self.warnings.merge(other.warnings);
        self.errors.merge(other.errors);
        self.reservation.absorb(other.reservation);
        if !self.errors.is_empty() {
            return self.forget();
        }
        match (&mut self.body, other.body) {
            (PartialBody::Groups(groups), PartialBody::Groups(others)) if fits => {
                let mut merging = groups.begin_merge(others);
                while !is_over() && groups.merge_step(&mut merging) {}
            }
            (PartialBody::Rows(rows), PartialBody::Rows(others)) if fits => rows.merge(others),
            _ => {
                let message = "partial answers to different questions cannot be merged";
                self.errors.add(QueryError::new(QueryErrorCode::Invalid, message));
            }
        }
        match is_over() {
            true => self.fail(QueryError::new(
                QueryErrorCode::Busy,
                "nobody waits for the answer any more",
            )),
            false => self.hold(usize::MAX),
        }
    }

    /// A copy with a memory reservation of its own. `None` if the body has more than `bytes_max`
    /// bytes, if these are not free, or if the partial result has failed.
    #[must_use]
    pub fn copy(&self, bytes_max: usize) -> Option<Self> {
        let bytes = self.bytes();
        if bytes > bytes_max || !self.errors.is_empty() {
            return None;
        }
        let mut reservation = self.reservation.new_empty();
        reservation.resize(bytes).ok()?;
        Some(Self { reservation, ..self.clone() })
    }

    /// Leaves out the groups that the query does not want from another process. Takes a pass over
    /// all groups.
    pub fn keep_sent(&mut self, query: &Query) {
        if let PartialBody::Groups(groups) = &mut self.body
            && query.sent != SentGroups::All
        {
            groups.keep_sent(query);
            self.hold(usize::MAX);
        }
    }

    /// What the `n`-th largest group has at least, and what all groups have together, in the
    /// [units](Rank::units) of `rank`. `None` if there are fewer groups, or if a value is unknown.
    pub fn nth_largest(&mut self, rank: Rank, n: usize) -> Option<(i128, i128)> {
        match &mut self.body {
            PartialBody::Groups(groups) => groups.nth_largest(rank, n),
            PartialBody::Rows(_) => None,
        }
    }

    /// States that the scan left out groups with less than `least` each, in units of the top list.
    pub fn note_left_out(&mut self, least: i128) {
        let matched = self.stats.rows_matched;
        if let PartialBody::Groups(groups) = &mut self.body {
            groups.note_left_out(least, matched);
        }
    }

    /// The number of groups, deferred ones not included.
    #[must_use]
    pub fn groups(&self) -> usize {
        match &self.body {
            PartialBody::Groups(groups) => groups.len(),
            PartialBody::Rows(_) => 0,
        }
    }

    /// What remains to be asked for the top list of `query`, for which other processes may have
    /// left out groups.
    #[must_use]
    pub fn next_round(&self, query: &Query) -> NextRound {
        match &self.body {
            PartialBody::Groups(groups) => groups.next_round(query),
            PartialBody::Rows(_) => NextRound::None,
        }
    }

    /// Warns that the top list of `query` may be wrong, and by how much.
    pub fn warn_inexact(&mut self, query: &Query) {
        if let PartialBody::Groups(groups) = &self.body {
            let error = groups.largest_error(query);
            self.warnings.add(WarningCode::TopInexact, "", error);
        }
    }

    /// Approximate bytes of the body, for comparison with the query's memory limit.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.body {
            PartialBody::Groups(groups) => groups.bytes(),
            PartialBody::Rows(rows) => rows.bytes(),
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: WarningCode, subject: &str, count: u64) {
        self.warnings.add(code, subject, count);
    }
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
