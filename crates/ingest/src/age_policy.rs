//! The age limit for the rows of a body, and whether the rows lift their table's age limit.

use hadal_types::{AgeLimit, Micros, TableSettings};

/// A new table whose first rows have a median age beyond it has no age limit.
const INFERENCE_SECONDS: i64 = 86_400;

/// The age limit for the rows of one body. Made from the table's settings and the client's options;
/// rows update it, and the sender of batches reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgePolicy {
    limit: AgeLimit,
    /// Whether the first rows decide the limit.
    is_inferred: bool,
    /// Whether the table had rows beyond the default limit before this body.
    table_has_old_rows: bool,
    /// Whether the body has rows beyond the default limit, or its first rows show that most are
    /// old.
    body_has_old_rows: bool,
}

/// The age of one row relative to the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowAge {
    /// Within the default limit and the table's limit.
    Recent,
    /// Beyond the default limit. The table's limit, if it has one, is longer.
    Old,
    /// Beyond the table's limit.
    BeyondLimit,
}

impl AgePolicy {
    /// The policy that accepts rows of any age.
    pub const UNLIMITED: Self = Self {
        limit: AgeLimit::Unlimited,
        is_inferred: false,
        table_has_old_rows: false,
        body_has_old_rows: false,
    };

    /// The policy for a body that arrives at `now`. `stored` are the table's settings, if any.
    /// `any_age` is the client's option for rows of any age; it applies if the settings have no
    /// limit. `oldest` is the first time in the table, if it has rows.
    #[must_use]
    pub fn new(
        stored: Option<&TableSettings>,
        any_age: bool,
        oldest: Option<Micros>,
        now: Micros,
    ) -> Self {
        let of_rows = Self::limit_by_rows(oldest, now);
        let set =
            stored.and_then(|settings| settings.age.or_else(|| (!any_age).then(AgeLimit::default)));
        Self {
            limit: match set {
                Some(limit) => limit,
                None if any_age => AgeLimit::Unlimited,
                None => of_rows,
            },
            is_inferred: set.is_none() && !any_age && oldest.is_none(),
            table_has_old_rows: of_rows == AgeLimit::Unlimited,
            body_has_old_rows: false,
        }
    }

    /// The limit of a table without settings whose first time is `oldest`: none if that time is
    /// beyond the default limit, else the default limit.
    #[must_use]
    pub fn limit_by_rows(oldest: Option<Micros>, now: Micros) -> AgeLimit {
        let default = AgeLimit::default();
        let is_old = |oldest: Micros| default.cutoff(now).is_some_and(|cutoff| oldest < cutoff);
        if oldest.is_some_and(is_old) { AgeLimit::Unlimited } else { default }
    }

    /// The age limit.
    #[must_use]
    pub const fn limit(self) -> AgeLimit {
        self.limit
    }

    /// Whether a table without settings should be created without an age limit.
    #[must_use]
    pub const fn lifts_limit_of_new_table(self) -> bool {
        self.table_has_old_rows || self.body_has_old_rows
    }

    /// Whether to lift the age limit of a table whose settings do not have one yet.
    #[must_use]
    pub const fn lifts_unset_limit(self) -> bool {
        self.body_has_old_rows
    }

    /// Whether the first rows decide the limit.
    pub(crate) const fn is_inferred(self) -> bool {
        self.is_inferred
    }

    /// Sets the limit by the median time of the first rows, if the first rows decide it.
    pub(crate) fn infer(&mut self, median: Option<Micros>, now: Micros) {
        if median.is_some_and(|median| now.seconds_since(median) > INFERENCE_SECONDS) {
            self.limit = AgeLimit::Unlimited;
            self.body_has_old_rows = true;
        }
    }

    /// Compares a row's age with the limits, and notes rows beyond the default limit.
    #[inline]
    pub(crate) fn judge(&mut self, age_seconds: i64) -> RowAge {
        let is_beyond = |limit: AgeLimit| limit.seconds().is_some_and(|most| age_seconds > most);
        if is_beyond(self.limit) {
            return RowAge::BeyondLimit;
        }
        if !is_beyond(AgeLimit::default()) {
            return RowAge::Recent;
        }
        self.body_has_old_rows = true;
        RowAge::Old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_795_000_000 * Micros::SECOND);
    const YEAR: i64 = 365 * 86_400;

    fn years_ago(years: i64) -> Option<Micros> {
        Some(Micros(NOW.0 - years * YEAR * Micros::SECOND))
    }

    #[test]
    fn old_rows_of_the_table_lift_the_limit_only_where_nothing_is_set() {
        let policy = AgePolicy::new(None, false, years_ago(1), NOW);
        assert_eq!(policy.limit(), AgeLimit::Unlimited);
        assert!(policy.lifts_limit_of_new_table() && !policy.lifts_unset_limit());
        let stored = TableSettings::default();
        let policy = AgePolicy::new(Some(&stored), false, years_ago(1), NOW);
        assert_eq!(policy.limit(), AgeLimit::default());
    }

    #[test]
    fn an_old_row_lifts_the_limit_where_it_is_taken() {
        let mut limited = AgePolicy::new(None, false, years_ago(0), NOW);
        assert_eq!(limited.judge(YEAR), RowAge::BeyondLimit);
        assert!(!limited.lifts_limit_of_new_table());
        let mut any = AgePolicy::new(Some(&TableSettings::default()), true, None, NOW);
        assert_eq!(any.judge(60), RowAge::Recent);
        assert!(!any.lifts_unset_limit());
        assert_eq!(any.judge(YEAR), RowAge::Old);
        assert!(any.lifts_unset_limit() && any.lifts_limit_of_new_table());
    }

    #[test]
    fn the_first_rows_decide_only_for_a_new_table_without_a_wish() {
        assert!(AgePolicy::new(None, false, None, NOW).is_inferred());
        assert!(!AgePolicy::new(None, true, None, NOW).is_inferred());
        assert!(!AgePolicy::new(None, false, years_ago(0), NOW).is_inferred());
        let mut policy = AgePolicy::new(None, false, None, NOW);
        policy.infer(years_ago(0), NOW);
        assert_eq!(policy.limit(), AgeLimit::default());
        policy.infer(years_ago(1), NOW);
        assert_eq!(policy.limit(), AgeLimit::Unlimited);
        assert!(policy.lifts_unset_limit());
    }
}
