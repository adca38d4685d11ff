//! Errors: what they say, where, and what they advise.

use super::error;

#[test]
fn errors_have_places_and_hints() {
    for (sql, message, at, hint) in [
        ("SELECT servce FROM requests", "no column servce", "servce", "did you mean service?"),
        ("SELECT 1 FROM reqests", "no table reqests", "reqests", "did you mean requests?"),
        ("SELECT nosuchthing FROM requests", "no column nosuchthing", "nosuchthing", "DESCRIBE"),
        ("SELECT cuont(*) FROM requests", "no function cuont", "cuont", "did you mean count?"),
        (
            "SELECT lenght(service) FROM requests",
            "no function lenght",
            "lenght",
            "did you mean length?",
        ),
        (
            "SELECT tags FROM requests WHERE tags = 5",
            "a set cannot be compared with a number",
            "5",
            "includes_any",
        ),
        (
            "SELECT 1 FROM requests WHERE tags = 'x'",
            "a set cannot be compared with a string",
            "'x'",
            "includes_any",
        ),
        (
            "SELECT 1 FROM requests WHERE service < bytes",
            "a string cannot be compared",
            "service",
            "to_number",
        ),
        (
            "SELECT 1 FROM requests WHERE service < 5",
            "a string cannot be compared",
            "5",
            "to_number",
        ),
        (
            "SELECT 1 FROM requests WHERE ok = 'maybe'",
            "a bool cannot be compared with a string",
            "'maybe'",
            "",
        ),
        (
            "SELECT 1 FROM requests WHERE time > 1700049600000",
            "milliseconds?",
            "1700049600000",
            "divide",
        ),
        ("SELECT 1 FROM requests WHERE time > 'noon'", "not a time", "'noon'", "INTERVAL"),
        ("SELECT 1 FROM requests WHERE time > now() - 1e15", "years 1 to 9999", "now", ""),
        ("SELECT 1 FROM requests WHERE latency", "must be a bool", "latency", "<> 0"),
        ("SELECT 1 FROM requests WHERE service ~ '('", "not a regular expression", "'('", ""),
        ("SELECT 1 FROM requests WHERE service ~ user", "a constant text", "user", ""),
        (
            "SELECT 1 FROM requests WHERE tags LIKE 'x'",
            "matched with a string",
            "tags",
            "includes_any",
        ),
        ("SELECT 1 FROM requests WHERE service LIKE 'x' ESCAPE '!'", "escapes with", "'!'", ""),
        ("SELECT 1 FROM requests WHERE count(*) > 5", "WHERE has none", "count", "HAVING"),
        ("SELECT sum(count(*)) FROM requests", "inside another", "count", ""),
        ("SELECT sum(service) FROM requests", "a number is needed", "service", "to_number"),
        ("SELECT sum(*) FROM requests", "not *", "sum", ""),
        ("SELECT sum(DISTINCT bytes) FROM requests", "no DISTINCT", "sum", "count(DISTINCT"),
        ("SELECT min(tags) FROM requests", "min of a set", "tags", "strings"),
        ("SELECT percentile(latency, 101) FROM requests", "between 0 and 100", "101", "0.95"),
        ("SELECT histogram(latency, 0) FROM requests", "1 to 1000", "0", ""),
        (
            "SELECT service, count(*) FROM requests",
            "service is neither in GROUP BY",
            "service",
            "add service",
        ),
        ("SELECT *, count(*) FROM requests", "raw rows", "", "count(*)"),
        ("SELECT count(*) FROM requests GROUP BY 1", "is an aggregate", "1", ""),
        ("SELECT count(*) FROM requests GROUP BY 2", "no output 2", "2", ""),
        ("SELECT bytes FROM requests ORDER BY count(*)", "is an aggregate", "count", ""),
        ("SELECT per_minute(count(*)) FROM requests", "both ends", "per_minute", "time <"),
        ("SELECT per_minute(bytes) FROM requests", "takes an aggregate", "bytes", "sum(x)"),
        (
            "SELECT includes_start(tags, 'a') FROM requests",
            "needs a vector",
            "tags",
            "includes_all",
        ),
        (
            "SELECT includes_any(service, 'a') FROM requests",
            "needs a set or vector",
            "service",
            "LIKE",
        ),
        ("SELECT time_bucket('1 month', time) FROM requests", "\"1 month\"", "'1 month'", "days"),
        ("SELECT time_bucket(0, time) FROM requests", "more than zero", "0", ""),
        ("SELECT date_trunc('month', time) FROM requests", "month", "'month'", "extract"),
        ("SELECT time + INTERVAL '1 month' FROM requests", "\"1 month \"", "'1 month'", "days"),
        ("SELECT service + 1 FROM requests", "this is a string", "service", "to_number"),
        ("SELECT latency::banana FROM requests", "no type banana", "latency", "kinds"),
        ("SELECT 1 FROM requests LIMIT -1", "not negative", "1", ""),
        ("SELECT 1 FROM requests LIMIT 0 SERIES", "count of series", "0", ""),
        ("SELECT 1 FROM requests WHERE", "end of the text", "", ""),
        ("SELECT 1 FROM requests WHERE x y", "unexpected y", "y", ""),
        ("SELECT 'open FROM requests", "unterminated", "'open", ""),
        ("SELECT abs(1, 2) FROM requests", "takes 1 argument, not 2", "abs", ""),
    ] {
        let found = error(sql);
        assert!(found.message.contains(message), "{sql}: {found:?}");
        assert!(found.hint.clone().unwrap_or_default().contains(hint), "{sql}: {found:?}");
        if !at.is_empty() {
            let place = found.position.unwrap_or_else(|| panic!("{sql}: no place in {found:?}"));
            assert!(sql[place.offset..].starts_with(at), "{sql}: {found:?}");
            assert_eq!((place.line, place.column), (1, place.offset as u64 + 1), "{sql}");
        }
        let word = found.message.split(' ').next().expect("a word");
        let lower = !word.starts_with(char::is_uppercase);
        assert!(lower || word == "Hadal" || word == word.to_uppercase(), "{found:?}");
        assert!(!found.message.ends_with('.'), "{found:?}");
    }
}

#[test]
fn places_count_lines_and_characters() {
    let found = error("SELECT 'é',\n  servce\nFROM requests");
    let place = found.position.expect("a place");
    assert_eq!((place.line, place.column, place.offset), (2, 3, 15));
}
