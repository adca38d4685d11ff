//! What a client should know of an answer: its coverage, and doubts about it.

use hadal_aggregate::{RowKind, WarningCode};
use hadal_frontend::{QueryResult, QueryWarning};

use crate::backend_message::Notice;

/// Answers that are based on less than this part of the rows have a warning.
const COVERAGE_MIN: f64 = 0.995;
/// Rows that a message names.
const ROWS_NAMED: usize = 10;

/// The messages about an answer, warnings first. That a query has no time range is for those who
/// ask for details.
pub(crate) fn notices_of(result: &QueryResult) -> Vec<Notice> {
    let coverage = &result.coverage;
    let is_short = coverage.rows_expected > 0 && coverage.fraction() <= COVERAGE_MIN;
    let short = is_short.then(|| {
        let (scanned, expected) = (coverage.rows_scanned, coverage.rows_expected);
        let most = if coverage.unknown_losses > 0 { "at most " } else { "" };
        let percent = coverage.fraction() * 100.0;
        let message = format!(
            "the answer is based on {most}{percent:.1} % of the rows: {scanned} of {expected}"
        );
        let hint = "SET hadal.require_complete TO on makes such answers errors";
        Notice { hint: Some(hint.to_owned()), ..notice("WARNING", message) }
    });
    let warnings = result.warnings.iter().map(of_warning);
    short.into_iter().chain(warnings).chain(of_sums(result)).collect()
}

/// Says which rows are sums, as nothing in them does.
fn of_sums(result: &QueryResult) -> Option<Notice> {
    let kinds = result.row_kinds.as_deref()?;
    let of_kind = |named: RowKind, what: &str| {
        let numbered = kinds.iter().zip(1_usize..).filter(|(kind, _)| **kind == named);
        let numbers: Vec<String> = numbered.map(|(_, row)| row.to_string()).collect();
        let shown = numbers.iter().take(ROWS_NAMED).cloned().collect::<Vec<String>>().join(", ");
        let more = numbers.len().saturating_sub(ROWS_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let row = if numbers.len() == 1 { "row" } else { "rows" };
        (!numbers.is_empty()).then(|| format!("{row} {shown}{more}: {what}"))
    };
    let other = of_kind(RowKind::Other, "the sum of other groups");
    let total = of_kind(RowKind::Total, "the total");
    let sums: Vec<String> = other.into_iter().chain(total).collect();
    if sums.is_empty() {
        return None;
    }
    let message = format!("not all rows are groups; {}", sums.join("; "));
    let hint = "SET hadal.row_kinds TO on adds a column row_kind to such answers";
    Some(Notice { hint: Some(hint.to_owned()), ..notice("NOTICE", message) })
}

fn of_warning(warning: &QueryWarning) -> Notice {
    let is_usual = warning.code == WarningCode::NoTimeRange.name();
    notice(if is_usual { "DEBUG" } else { "NOTICE" }, warning.message.clone())
}

/// A message of this severity.
pub(crate) fn notice(severity: &'static str, message: String) -> Notice {
    let sqlstate = if severity == "WARNING" { "01000" } else { "00000" };
    Notice { severity, sqlstate, message, detail: None, hint: None, position: None }
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::Coverage;

    use super::*;

    fn severities(scanned: u64, code: Option<&'static str>) -> Vec<&'static str> {
        let coverage =
            Coverage { rows_expected: 1_000, rows_scanned: scanned, ..Coverage::default() };
        let warning =
            |code| QueryWarning { code, subject: String::new(), count: 1, message: "m".to_owned() };
        let warnings = code.into_iter().map(warning).collect();
        let result = QueryResult { coverage, warnings, ..QueryResult::default() };
        notices_of(&result).iter().map(|notice| notice.severity).collect()
    }

    #[test]
    fn rows_that_are_no_groups_are_named() {
        let messages = |kinds: Vec<RowKind>| {
            let result = QueryResult { row_kinds: Some(kinds), ..QueryResult::default() };
            notices_of(&result).into_iter().map(|notice| notice.message).collect::<Vec<String>>()
        };
        assert_eq!(messages(vec![RowKind::Group]), [] as [&str; 0]);
        assert_eq!(
            messages(vec![RowKind::Group, RowKind::Other, RowKind::Other, RowKind::Total]),
            ["not all rows are groups; rows 2, 3: the sum of other groups; row 4: the total"]
        );
        let many = messages(vec![RowKind::Other; ROWS_NAMED + 2]);
        assert!(many[0].contains("9, 10 and 2 more:"), "{many:?}");
    }

    #[test]
    fn an_answer_that_lacks_rows_has_a_warning() {
        assert_eq!(severities(1_000, None), [] as [&str; 0]);
        assert_eq!(severities(996, None), [] as [&str; 0]);
        assert_eq!(severities(995, None), ["WARNING"]);
        assert_eq!(severities(0, Some("limit_reached")), ["WARNING", "NOTICE"]);
        assert_eq!(severities(1_000, Some(WarningCode::NoTimeRange.name())), ["DEBUG"]);
    }
}
