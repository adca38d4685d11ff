//! The names of columns that hold times.

/// The names that a row's time may have if the caller names none, the best first. The time column
/// of a new table may have them in any case, and at the end of a dotted name.
pub const CANDIDATES: [&str; 13] = [
    "time",
    "@timestamp",
    "timestamp",
    "ts",
    "_time",
    "datetime",
    "date",
    "eventTime",
    "event_time",
    "created_at",
    "created",
    "t",
    "__REALTIME_TIMESTAMP",
];

/// The names of the time column if rows have no times; the first that no row uses is taken.
pub(super) const ARRIVAL_NAMES: [&str; 3] = [CANDIDATES[0], "received", "_received"];

/// Ends of names that suggest a time, in lower case; before each there is a `_`, a `.`, a `-` or a
/// `$`, or in a name such as `createdAt` a change of case.
const ENDINGS: [&str; 8] = ["at", "time", "date", "ts", "timestamp", "datetime", "when", "day"];

/// The place of a column's name among the usual ones.
pub(super) fn usual_place(name: &str) -> Option<usize> {
    let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
    CANDIDATES.iter().position(|usual| usual.eq_ignore_ascii_case(last))
}

/// Whether a name suggests a time: a usual one, or one that ends like `created_at`, `eventTime`.
pub(super) fn suggests_time(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    usual_place(name).is_some() || ENDINGS.iter().any(|ending| ends_with_word(name, &lower, ending))
}

fn ends_with_word(name: &str, lower: &str, ending: &str) -> bool {
    let Some(before) = lower.strip_suffix(ending) else { return false };
    let is_camel = name.as_bytes().get(before.len()).is_some_and(u8::is_ascii_uppercase)
        && before.ends_with(|c: char| c.is_ascii_alphanumeric());
    before.is_empty() || before.ends_with(['_', '.', '-', ' ', '$']) || is_camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suggest_times() {
        for name in
            ["Timestamp", "meta.ts", "created_at", "pickup-time", "eventTime", "when", "t.$date"]
        {
            assert!(suggests_time(name), "{name}");
        }
        for name in
            ["format", "uptime", "seat", "update", "message", "parts", "yesterday", "sentiment"]
        {
            assert!(!suggests_time(name), "{name}");
        }
        assert_eq!(
            (usual_place("TIME"), usual_place("meta.ts"), usual_place("at")),
            (Some(0), Some(3), None)
        );
        // Numbers are times only in columns with a usual name.
        assert!(["created", "__REALTIME_TIMESTAMP"].iter().all(|name| usual_place(name).is_some()));
    }
}
