//! A partial answer: what a leaf, or an aggregator over some of them, knows of the answer.
//!
//! Partial answers merge in any order and grouping to the same whole, bit for bit. Only the root
//! finishes it (see `finish.rs`).

pub(crate) mod coverage;
pub(crate) mod top_rows;
pub(crate) mod warnings;

use hadal_query::{Query, QueryKind};
use hadal_types::MemoryReservation;

use crate::groups::Groups;
use crate::partial::coverage::{Coverage, ScanStats};
use crate::partial::top_rows::TopRows;
use crate::partial::warnings::{WarningCode, Warnings};
use crate::query_error::{ADVICE, QueryError, QueryErrorCode, QueryErrors, out_of_memory};

/// What rows were found, or what was kept of them.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialBody {
    /// Groups of rows.
    Groups(Groups),
    /// The rows themselves.
    Rows(TopRows),
}

/// A partial answer to one query.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// What was found.
    pub body: PartialBody,
    /// How much was looked at.
    pub coverage: Coverage,
    /// What it cost.
    pub stats: ScanStats,
    /// What a person should know.
    pub warnings: Warnings,
    /// The user's failures: one fails the query.
    pub errors: QueryErrors,
    /// What is held for what was found.
    pub reservation: MemoryReservation,
}

impl Partial {
    /// The partial answer of no rows and no leaves.
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

    /// The partial answer that says why the query fails.
    #[must_use]
    pub fn failed(query: &Query, fault: QueryError) -> Self {
        let mut partial = Self::empty(query);
        partial.errors.add(fault);
        partial
    }

    /// Adds a fault. What was found is of no use any more, and makes room for others.
    pub fn fail(&mut self, fault: QueryError) {
        self.errors.add(fault);
        self.forget();
    }

    /// Forgets what was found, and gives its memory back.
    fn forget(&mut self) {
        match &mut self.body {
            PartialBody::Groups(groups) => groups.clear(),
            PartialBody::Rows(rows) => rows.clear(),
        }
        self.reservation.shrink(usize::MAX);
    }

    /// Holds as many bytes as what was found takes by now. Beyond `bytes_max`, or beyond what is
    /// free, the partial answer [fails](Self::fail).
    pub fn hold(&mut self, bytes_max: usize) {
        if let Err(fault) = self.try_hold(bytes_max) {
            self.fail(fault);
        }
    }

    /// As [`Self::hold`], but what was found is kept where there is no room for it.
    ///
    /// # Errors
    /// The fault with which the partial answer would fail; it then holds as many bytes as before.
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

    /// Whether `other` answers the same question, so that the two can be merged.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        match (&self.body, &other.body) {
            (PartialBody::Groups(own), PartialBody::Groups(groups)) => own.fits(groups),
            (PartialBody::Rows(own), PartialBody::Rows(rows)) => own.fits(rows),
            _ => false,
        }
    }

    /// Adds what other leaves answered to the same query. An answer to another question (see
    /// [`Self::fits`]) is a fault.
    pub fn merge(&mut self, other: Self) {
        self.merge_unless(other, &|| false);
    }

    /// As [`Self::merge`], unless `is_over` says meanwhile that nobody waits for it any more: then it
    /// [fails](Self::fail). Groups are asked for every few milliseconds. So does what is merged with
    /// what failed already: nothing of it would be shown.
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
            (PartialBody::Groups(own), PartialBody::Groups(groups)) if fits => {
                let mut merging = own.begin_merge(groups);
                while !is_over() && own.merge_step(&mut merging) {}
            }
            (PartialBody::Rows(own), PartialBody::Rows(rows)) if fits => own.merge(rows),
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

    /// Bytes of what was found, about: to be compared with the query's budget.
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
