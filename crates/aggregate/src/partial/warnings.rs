//! Warnings for the user about a result.
//!
//! Warnings are sorted and bounded. If there are too many warnings, the first ones are kept. The
//! kept warnings are the same whatever the order of merging.

use std::collections::BTreeMap;

use hadal_types::Micros;
use hadal_types::limits::WARNINGS_MAX;

use crate::query_error::cut;

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningCode {
    /// The subject's rows of another kind were skipped.
    OtherKindSkipped,
    /// Groups beyond the limit were dropped.
    GroupsDropped,
    /// Rows were cut by the limit that every result has, not by one that the client set.
    LimitReached,
    /// The query has no time range.
    NoTimeRange,
    /// Row blocks could not be read.
    BlocksUnreadable,
    /// Old row blocks were dropped because the table was full.
    RowsDropped,
    /// The subject is no column of the table, so it counts as null.
    ColumnAbsent,
    /// Rows from before a leaf's restart could not be recovered.
    RowsLost,
    /// The subject is a leaf that has lost rows; their number and tables are unknown.
    RowsLostUnknown,
    /// Rows were dropped because they were older than the table's age limit.
    RowsExpired,
    /// Rows of some series were folded into "other" before all series were ranked.
    SeriesFolded,
    /// A top list may be wrong. The count is the largest possible error of the measure that it is
    /// ordered by, rounded up.
    TopInexact,
    /// Values were counted among sampled rows only. The count is of rows of the result.
    DistinctOfSampled,
}

impl WarningCode {
    /// All codes.
    pub const ALL: [Self; 13] = [
        Self::OtherKindSkipped,
        Self::GroupsDropped,
        Self::LimitReached,
        Self::NoTimeRange,
        Self::BlocksUnreadable,
        Self::RowsDropped,
        Self::ColumnAbsent,
        Self::RowsLost,
        Self::RowsLostUnknown,
        Self::RowsExpired,
        Self::SeriesFolded,
        Self::TopInexact,
        Self::DistinctOfSampled,
    ];

    /// The code's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherKindSkipped => "other_kind_skipped",
            Self::GroupsDropped => "groups_dropped",
            Self::SeriesFolded => "series_folded",
            Self::TopInexact => "top_inexact",
            Self::DistinctOfSampled => "distinct_of_sampled",
            Self::LimitReached => "limit_reached",
            Self::NoTimeRange => "no_time_range",
            Self::BlocksUnreadable => "blocks_unreadable",
            Self::RowsDropped => "rows_dropped",
            Self::ColumnAbsent => "column_absent",
            Self::RowsLost => "rows_lost",
            Self::RowsLostUnknown => "rows_lost_unknown",
            Self::RowsExpired => "rows_expired",
        }
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of warning.
    pub code: WarningCode,
    /// The column, table or leaf that the warning is about; may be empty.
    pub subject: String,
    /// The number of rows, or of whatever the code counts.
    pub count: u64,
    /// The last affected time, if the warning concerns times.
    pub until: Option<Micros>,
}

impl Warning {
    /// The warning in words.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { subject, count, .. } = self;
        let one = *count == 1;
        match self.code {
            WarningCode::OtherKindSkipped => {
                let (rows_have, were) =
                    if one { ("row has", "was") } else { ("rows have", "were") };
                format!("{count} {rows_have} {subject} as another kind and {were} left out")
            }
            WarningCode::GroupsDropped => {
                let rows_are = if one { "row is" } else { "rows are" };
                format!("there are too many groups; {count} {rows_are} in groups that were dropped")
            }
            WarningCode::SeriesFolded => {
                let rows_are = if one { "row is" } else { "rows are" };
                format!(
                    "there are too many series to rank all of them; {count} {rows_are} in \"other\" of \
                     series that had little by then, and each that is shown may lack some of these"
                )
            }
            WarningCode::TopInexact => format!(
                "the list may be wrong: leaves left out small groups, and did not send them in \
                 time; a group may have up to {count} more than it shows, or be missing with up to \
                 {count}, and its other values may lack rows"
            ),
            WarningCode::DistinctOfSampled => format!(
                "count(DISTINCT) is a lower bound in {count} {}: rows were sampled, and values of \
                 the rows that were left out are not counted",
                if one { "row" } else { "rows" }
            ),
            WarningCode::LimitReached => {
                let rows_lie = if one { "row lies" } else { "rows lie" };
                format!("{count} more {rows_lie} beyond the limit that every answer has")
            }
            WarningCode::NoTimeRange => {
                format!("there is no time range, so all of {subject} was scanned")
            }
            WarningCode::BlocksUnreadable => {
                format!("{count} row blocks of {subject} could not be read")
            }
            WarningCode::RowsDropped => {
                let rows_were = if one { "row was" } else { "rows were" };
                let until = self.until.map(|until| format!(", the last of {until}"));
                let until = until.unwrap_or_default();
                format!("{subject} is full; its {count} oldest {rows_were} dropped{until}")
            }
            WarningCode::RowsExpired => {
                let rows_were = if one { "row was" } else { "rows were" };
                let until = self.until.map(|until| format!(", up to {until}")).unwrap_or_default();
                format!("{count} {rows_were} dropped{until}, as the age limit of {subject} has it")
            }
            WarningCode::ColumnAbsent => format!("there is no column {subject}; it counts as null"),
            WarningCode::RowsLost => {
                format!("{count} rows of {subject} are lost: their blocks are missing or damaged")
            }
            WarningCode::RowsLostUnknown => {
                let places = if one { "one place" } else { "several places" };
                format!(
                    "{subject} has lost rows in {places}, how many and of which tables is not known, so \
                     the share of rows is an upper bound"
                )
            }
        }
    }
}

/// Warnings, merged by code and subject; at most [`WARNINGS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    counts: BTreeMap<(WarningCode, String), (u64, Option<Micros>)>,
}

impl Warnings {
    /// Adds `count` to the warning of this code and subject. A subject is cut at
    /// [`NOTE_BYTES_MAX`] bytes.
    pub fn add(&mut self, code: WarningCode, subject: &str, count: u64) {
        self.add_until(code, subject, count, None);
    }

    /// Adds `count` as [`Warnings::add`] does, and notes the last affected time. The latest one
    /// counts.
    pub fn add_until(
        &mut self,
        code: WarningCode,
        subject: &str,
        count: u64,
        until: Option<Micros>,
    ) {
        let entry = self.counts.entry((code, cut(subject).to_owned())).or_default();
        *entry = (entry.0.saturating_add(count), entry.1.max(until));
        if self.counts.len() > WARNINGS_MAX {
            self.counts.pop_last();
        }
    }

    /// Adds the warnings of `other`.
    pub fn merge(&mut self, other: Self) {
        for ((code, subject), (count, until)) in other.counts {
            self.add_until(code, &subject, count, until);
        }
    }

    /// The warnings, sorted by code and subject.
    pub fn iter(&self) -> impl Iterator<Item = Warning> {
        self.counts.iter().map(|((code, subject), &(count, until))| Warning {
            code: *code,
            subject: subject.clone(),
            count,
            until,
        })
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_counted_by_code_and_subject() {
        let mut warnings = Warnings::default();
        warnings.add(WarningCode::OtherKindSkipped, "b", 1);
        let mut others = Warnings::default();
        others.add(WarningCode::OtherKindSkipped, "b", 2);
        others.add(WarningCode::OtherKindSkipped, "a", 4);
        warnings.merge(others);
        let shown: Vec<(String, u64)> =
            warnings.iter().map(|warning| (warning.subject, warning.count)).collect();
        assert_eq!(shown, [("a".to_owned(), 4), ("b".to_owned(), 3)]);
    }

    #[test]
    fn dropped_rows_are_told_up_to_the_last() {
        let mut warnings = Warnings::default();
        for (count, seconds) in [(2, Some(60)), (3, Some(90)), (5, None), (7, Some(30))] {
            let until = seconds.map(|seconds: i64| Micros(seconds * Micros::SECOND));
            let mut others = Warnings::default();
            others.add_until(WarningCode::RowsDropped, "t", count, until);
            warnings.merge(others);
        }
        let messages: Vec<String> = warnings.iter().map(|warning| warning.message()).collect();
        let last = Micros(90 * Micros::SECOND);
        assert_eq!(
            messages,
            [format!("t is full; its 17 oldest rows were dropped, the last of {last}")]
        );
    }

    #[test]
    fn of_too_many_warnings_the_same_are_kept_in_any_order() {
        let names: Vec<String> = (0..2 * WARNINGS_MAX).map(|index| format!("{index:03}")).collect();
        let all = |names: &mut dyn Iterator<Item = &String>| {
            let mut warnings = Warnings::default();
            names.for_each(|name| warnings.add(WarningCode::ColumnAbsent, name, 1));
            warnings
        };
        let forward = all(&mut names.iter());
        assert_eq!(all(&mut names.iter().rev()), forward);
        assert_eq!(forward.iter().count(), WARNINGS_MAX);
    }

    #[test]
    fn one_row_is_one_row() {
        let message =
            |code, count| Warning { code, subject: "v".to_owned(), count, until: None }.message();
        let other_kind = |count| message(WarningCode::OtherKindSkipped, count);
        assert_eq!(other_kind(1), "1 row has v as another kind and was left out");
        assert_eq!(other_kind(2), "2 rows have v as another kind and were left out");
        assert_eq!(message(WarningCode::RowsDropped, 1), "v is full; its 1 oldest row was dropped");
        for (count, places) in [(1, "one place"), (2, "several places")] {
            let expected = format!(
                "v has lost rows in {places}, how many and of which tables is not known, so the share \
                 of rows is an upper bound"
            );
            assert_eq!(message(WarningCode::RowsLostUnknown, count), expected);
        }
    }

    #[test]
    fn every_warning_has_words() {
        for code in WarningCode::ALL {
            let subject = "latency".to_owned();
            let warning = Warning { code, subject, count: 12, until: Some(Micros(0)) };
            assert!(!warning.message().is_empty());
            assert!(!code.name().contains(' '));
        }
    }
}
