//! Hostile texts: each must give a result or an error quickly, without a panic or a stack overflow.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::statement;

/// Far above the time that any of them needs, so that a slow machine does not fail.
const SOON: Duration = Duration::from_secs(5);

/// Whether the text is a statement. A quarter of a server's stack must suffice.
#[track_caller]
fn read_soon(sql: &str) -> bool {
    let (start, text) = (Instant::now(), sql.to_owned());
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let reading = thread.spawn(move || statement(&text).is_ok()).expect("a thread");
    let read = reading.join().unwrap_or_else(|_| panic!("{sql:.300}"));
    assert!(start.elapsed() < SOON, "{sql:.300}: {:?}", start.elapsed());
    read
}

#[test]
fn enormous_texts_are_refused_at_once() {
    let deep = format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let items = format!("SELECT 1 FROM requests WHERE bytes IN ({}1)", "1,".repeat(100_000));
    let ors = format!("SELECT 1 FROM requests WHERE {}ok", "ok OR ".repeat(100_000));
    let long = format!("SELECT '{}'", "x".repeat(10 << 20));
    for sql in [deep, items, ors, long] {
        assert!(!read_soon(&sql), "{sql:.100}");
    }
}

#[test]
fn deep_trees_within_the_bytes_allowed_are_refused() {
    for (before, inside, after, times) in [
        ("(", "1", ")", 30_000),
        ("-", "1", "", 60_000),
        ("- ", "1", "", 30_000),
        ("NOT ", "true", "", 16_000),
        ("", "1", "+1", 30_000),
        ("", "1", "!", 60_000),
        ("", "1", "::int", 12_000),
        ("", "1", " IS NULL", 8_000),
        ("", "ok", " OR ok", 10_000),
        ("", "ok", "[1]", 20_000),
        ("", "a", ".a", 30_000),
        ("abs(", "1", ")", 12_000),
        ("abs(", "1", "", 12_000),
        ("CASE WHEN ", "ok", " THEN 1 END", 2_900),
        ("CASE ", "1", "", 12_000),
        ("CAST(", "1", " AS int)", 4_000),
        ("(SELECT ", "1", ")", 7_000),
        ("interval ", "'1'", "", 7_000),
        ("ARRAY[", "1", "]", 9_000),
        ("[", "1", "]", 30_000),
        ("{", "1", "}", 30_000),
        ("x -> ", "1", "", 12_000),
        ("f(a => ", "1", ")", 8_000),
        ("date ", "'2023-11-15'", "", 12_000),
        ("EXISTS(", "SELECT 1", ")", 8_000),
        ("/*", "", "*/", 16_000),
    ] {
        let sql =
            format!("SELECT {}{inside}{} FROM requests", before.repeat(times), after.repeat(times));
        read_soon(&sql);
    }
}

#[test]
fn the_longest_chains_allowed_leave_the_stack_alone() {
    for (first, rest) in
        [("ok", " OR ok"), ("1", "+1"), ("ok", " AND ok"), ("'a'", "||'a'"), ("1", "!")]
    {
        for count in [4_090, 4_096] {
            let sql = format!("SELECT {first}{} FROM requests", rest.repeat(count));
            read_soon(&sql);
        }
    }
}

#[test]
fn backtracking_does_not_explode() {
    for word in
        ["case ", "interval ", "date ", "if(", "current_time(", "(", "not ", "array(", "cast("]
    {
        for times in [20, 60] {
            let sql = format!("SELECT {}x FROM requests", word.repeat(times));
            read_soon(&sql);
        }
    }
}

#[test]
fn repeated_operands_do_not_explode() {
    let repeated = |sql: &str| {
        let error = statement(sql).expect_err("a refusal");
        assert!(error.to_string().contains("repeat too much"), "{error:?}");
    };
    let doubling = |after: &str| format!("SELECT 1 FROM requests WHERE ok{}", after.repeat(40));
    repeated(&doubling(" IS TRUE"));
    repeated(&doubling(" BETWEEN false AND true"));
    let nullif = format!("SELECT {}bytes{} FROM requests", "nullif(".repeat(40), ", 1)".repeat(40));
    repeated(&nullif);
    // A large output that is referred to many times.
    let large = ["abs(bytes)"; 30].join(" + ");
    for clause in ["GROUP BY 1", "HAVING 1 < x", "ORDER BY x", "GROUP BY x"] {
        let (words, name) = clause.rsplit_once(' ').expect("words");
        let between = if words.starts_with("HAVING") { " OR 1 < " } else { ", " };
        let names = vec![name; 1_800].join(between);
        let sql = format!("SELECT {large} AS x FROM requests {words} {names}");
        let start = Instant::now();
        // HAVING is over groups, so the output must be an aggregate.
        let grouped = if words == "HAVING 1 <" { "max(" } else { "abs(" };
        repeated(&sql.replace("abs(", grouped));
        assert!(start.elapsed() < SOON, "{clause}: {:?}", start.elapsed());
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "ORDER",
        "HAVING",
        "LIMIT",
        "SERIES",
        "OFFSET",
        "DISTINCT",
        "ALL",
        "AS",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST",
        "INTERVAL",
        "EXTRACT",
        "FILTER",
        "WITHIN",
        "DESC",
        "NULLS",
        "FIRST",
        "requests",
        "events",
        "service",
        "latency",
        "tags",
        "stack",
        "time",
        "ok",
        "mixed",
        "now",
        "count",
        "sum",
        "p95",
        "histogram",
        "per_minute",
        "time_bucket",
        "date_trunc",
        "includes_any",
        "search",
        "lower",
        "round",
        "coalesce",
        "*",
        "(",
        ")",
        ",",
        ".",
        ";",
        "::",
        "+",
        "-",
        "/",
        "%",
        "||",
        "=",
        "<>",
        "<",
        ">=",
        "~",
        "!~*",
        "[",
        "]",
        "1",
        "0.5",
        "1e400",
        "-1",
        "99999999999999999999",
        "'x'",
        "'1 minute'",
        "'2023-11-15'",
        "'('",
        "\"a b\"",
        "--",
        "/*",
        "'",
        "\"",
        "$1",
        "string",
        "number",
        "set",
        "é",
        "\n",
        "SHOW",
        "TABLES",
        "DESCRIBE",
        "SUMMARIZE",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_text_never_panics(text in any::<String>()) {
        let _ = statement(&text);
        let _ = statement(&format!("SELECT {text} FROM requests"));
    }

    #[test]
    fn random_tokens_never_panic(
        items in prop::collection::vec(token(), 0..12),
        rest in prop::collection::vec(token(), 0..20),
    ) {
        let sql = format!("SELECT {} FROM requests {}", items.join(" "), rest.join(" "));
        if let Err(error) = statement(&sql)
            && let Some(place) = error.position
        {
            prop_assert!(sql.is_char_boundary(place.offset), "{sql}: {error:?}");
        }
        let _ = statement(&items.join(" "));
    }

    #[test]
    fn random_expressions_never_panic(tokens in prop::collection::vec(token(), 1..10)) {
        let expr = tokens.join(" ");
        let _ = statement(&format!("SELECT count(*) FROM requests WHERE {expr}"));
        let _ = statement(&format!("SELECT sum({expr}) FROM requests GROUP BY {expr}"));
    }
}
