//! Every limit: one less than it passes, one more fails by name.

use hadal_types::limits;

use super::{error, query, statement};

fn repeated(text: &str, count: usize, between: &str) -> String {
    vec![text; count].join(between)
}

#[test]
fn bytes_of_a_text() {
    let padded = |bytes: usize| format!("SELECT 1{}", " ".repeat(bytes - 8));
    assert!(statement(&padded(limits::SQL_BYTES_MAX)).is_ok());
    assert!(error(&padded(limits::SQL_BYTES_MAX + 1)).message.contains("65537 bytes"));
}

#[test]
fn items_of_an_in_list() {
    let sql = |items: usize| {
        format!("SELECT 1 FROM requests WHERE bytes IN ({})", repeated("7", items, ","))
    };
    query(&sql(limits::IN_ITEMS_MAX));
    assert!(error(&sql(limits::IN_ITEMS_MAX + 1)).message.contains("1001 items"));
}

#[test]
fn depth_of_an_expression() {
    let nested = |depth: usize| {
        let calls = depth - 1;
        format!("SELECT {}bytes{} FROM requests", "abs(".repeat(calls), ")".repeat(calls))
    };
    query(&nested(limits::EXPR_DEPTH_MAX));
    assert!(error(&nested(limits::EXPR_DEPTH_MAX + 1)).message.contains("64 deep"));
    let parentheses = |depth: usize| format!("SELECT {}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(statement(&parentheses(limits::EXPR_DEPTH_MAX)).is_ok());
    assert!(error(&parentheses(limits::EXPR_DEPTH_MAX + 1)).message.contains("64 deep"));
}

#[test]
fn group_keys() {
    let sql = |keys: usize| {
        let keys: Vec<String> = (0..keys).map(|key| format!("bytes + {key}")).collect();
        format!("SELECT count(*) FROM requests GROUP BY {}", keys.join(", "))
    };
    query(&sql(limits::GROUP_KEYS_MAX));
    assert!(error(&sql(limits::GROUP_KEYS_MAX + 1)).message.contains("more than 20 group keys"));
}

#[test]
fn output_columns() {
    let sql = |columns: usize| format!("SELECT {} FROM requests", repeated("ok", columns, ","));
    query(&sql(limits::OUTPUTS_MAX));
    assert!(error(&sql(limits::OUTPUTS_MAX + 1)).message.contains("5001 output columns"));
}

#[test]
fn patterns_of_a_query() {
    let sql = |patterns: usize| {
        format!("SELECT 1 FROM requests WHERE {}", repeated("path ~ 'a'", patterns, " OR "))
    };
    query(&sql(limits::PATTERNS_MAX));
    assert!(error(&sql(limits::PATTERNS_MAX + 1)).message.contains("100 patterns"));
}

#[test]
fn regular_expressions() {
    let sql = |pattern: &str| format!("SELECT 1 FROM requests WHERE path ~ '{pattern}'");
    query(&sql(&"a".repeat(limits::REGEX_BYTES_MAX)));
    let long = error(&sql(&"a".repeat(limits::REGEX_BYTES_MAX + 1)));
    assert!(long.message.contains("1025 bytes"), "{long:?}");
    let bomb = error(&sql(r"(\w{500}){9}"));
    assert!(bomb.message.contains("too big"), "{bomb:?}");
    assert!(bomb.position.is_some());
}

#[test]
fn operators_of_a_chain() {
    // Each term has two: `=` and `OR`.
    let sql = |terms: usize| {
        format!("SELECT 1 FROM requests WHERE {}", repeated("latency=1", terms, " OR "))
    };
    query(&sql(limits::EXPR_OPERATORS_MAX / 2 - 1));
    let long = error(&sql(limits::EXPR_OPERATORS_MAX / 2 + 1));
    assert!(long.message.contains("4096 operators"), "{long:?}");
}

#[test]
fn time_buckets_of_a_closed_range() {
    let sql = |minutes: usize| {
        format!(
            "SELECT count(*) FROM requests WHERE time >= now() - {} AND time < now() \
             GROUP BY time_bucket('1m', time)",
            minutes * 60
        )
    };
    query(&sql(limits::TIME_BUCKETS_MAX));
    let many = error(&sql(limits::TIME_BUCKETS_MAX + 1));
    assert!(many.message.contains("10081 time buckets"), "{many:?}");
}

#[test]
fn digits_of_limit_and_offset() {
    query("SELECT 1 FROM requests LIMIT 18446744073709551615 OFFSET 18446744073709551615");
    error("SELECT 1 FROM requests LIMIT 18446744073709551616");
    error("SELECT 1 FROM requests LIMIT 1.5");
}
