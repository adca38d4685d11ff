//! Every limit: a value at the limit passes, one above it fails with the limit's message.

use hadal_types::limits;

use super::catalog::Tables;
use super::{context, error, query, statement};
use crate::{QuerySpec, lower_spec};

fn repeated(text: &str, count: usize, between: &str) -> String {
    vec![text; count].join(between)
}

#[test]
fn bytes_of_a_text() {
    let padded = |bytes: usize| format!("SELECT 1{}", " ".repeat(bytes - 8));
    assert!(statement(&padded(limits::SQL_BYTES_MAX)).is_ok());
    assert!(error(&padded(limits::SQL_BYTES_MAX + 1)).to_string().contains("65537 bytes"));
}

#[test]
fn items_of_an_in_list() {
    let sql = |items: usize| {
        format!("SELECT 1 FROM requests WHERE bytes IN ({})", repeated("7", items, ","))
    };
    query(&sql(limits::IN_ITEMS_MAX));
    assert!(error(&sql(limits::IN_ITEMS_MAX + 1)).to_string().contains("1001 items"));
}

#[test]
fn depth_of_an_expression() {
    let nested = |depth: usize| {
        let calls = depth - 1;
        format!("SELECT {}bytes{} FROM requests", "abs(".repeat(calls), ")".repeat(calls))
    };
    query(&nested(limits::EXPR_DEPTH_MAX));
    assert!(error(&nested(limits::EXPR_DEPTH_MAX + 1)).to_string().contains("64 deep"));
    let parentheses = |depth: usize| format!("SELECT {}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(statement(&parentheses(limits::EXPR_DEPTH_MAX)).is_ok());
    assert!(error(&parentheses(limits::EXPR_DEPTH_MAX + 1)).to_string().contains("64 deep"));
}

#[test]
fn group_keys() {
    let sql = |keys: usize| {
        let keys: Vec<String> = (0..keys).map(|key| format!("bytes + {key}")).collect();
        format!("SELECT count(*) FROM requests GROUP BY {}", keys.join(", "))
    };
    query(&sql(limits::GROUP_KEYS_MAX));
    assert!(
        error(&sql(limits::GROUP_KEYS_MAX + 1)).to_string().contains("more than 20 group keys")
    );
}

#[test]
fn values_of_top_k() {
    let sql = |values: u16| format!("SELECT top_k(bytes, {values}) FROM requests");
    query(&sql(limits::TOP_VALUES_MAX));
    assert!(error(&sql(limits::TOP_VALUES_MAX + 1)).to_string().contains("1 to 1000 values"));
}

#[test]
fn histograms() {
    let base = |base: u16| format!("SELECT histogram_log(bytes, {base}) FROM requests");
    query(&base(limits::HISTOGRAM_BASE_MAX));
    let large = error(&base(limits::HISTOGRAM_BASE_MAX + 1)).to_string();
    assert!(large.contains("from 2 to 1000"), "{large}");
    let edges = |count: u16| {
        let edges: Vec<String> = (0..count).map(|edge| edge.to_string()).collect();
        format!("SELECT histogram(bytes, ARRAY[{}]) FROM requests", edges.join(","))
    };
    query(&edges(limits::HISTOGRAM_BUCKETS_MAX - 1));
    let many = error(&edges(limits::HISTOGRAM_BUCKETS_MAX)).to_string();
    assert!(many.contains("at most 999 edges"), "{many}");
}

#[test]
fn output_columns() {
    let sql = |columns: usize| format!("SELECT {} FROM requests", repeated("ok", columns, ","));
    query(&sql(limits::OUTPUTS_MAX));
    assert!(error(&sql(limits::OUTPUTS_MAX + 1)).to_string().contains("5001 output columns"));
}

#[test]
fn patterns_of_a_query() {
    let sql = |patterns: usize| {
        format!("SELECT 1 FROM requests WHERE {}", repeated("path ~ 'a'", patterns, " OR "))
    };
    query(&sql(limits::PATTERNS_MAX));
    assert!(error(&sql(limits::PATTERNS_MAX + 1)).to_string().contains("100 patterns"));
}

#[test]
fn regular_expressions() {
    let sql = |pattern: &str| format!("SELECT 1 FROM requests WHERE path ~ '{pattern}'");
    query(&sql(&"a".repeat(limits::REGEX_BYTES_MAX)));
    let long = error(&sql(&"a".repeat(limits::REGEX_BYTES_MAX + 1)));
    assert!(long.to_string().contains("1025 bytes"), "{long:?}");
    let bomb = error(&sql(r"(\w{500}){9}"));
    assert!(bomb.to_string().contains("too big"), "{bomb:?}");
    assert!(bomb.position.is_some());
}

#[test]
fn operators_of_a_chain() {
    // Words count as operators too, so FROM is one of them.
    let sql =
        |operators: usize| format!("SELECT 1, {} FROM requests", repeated("ok", operators, " OR "));
    query(&sql(limits::EXPR_OPERATORS_MAX));
    let long = error(&sql(limits::EXPR_OPERATORS_MAX + 1));
    assert!(long.to_string().contains("4096 operators"), "{long:?}");
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
    assert!(many.to_string().contains("10081 time buckets"), "{many:?}");
}

#[test]
fn buckets_of_a_histogram() {
    let sql = |buckets: u16| format!("SELECT histogram(bytes, {buckets}) FROM requests");
    query(&sql(limits::HISTOGRAM_BUCKETS_MAX));
    let many = error(&sql(limits::HISTOGRAM_BUCKETS_MAX + 1));
    assert!(many.to_string().contains("1 to 1000 buckets"), "{many:?}");
}

#[test]
fn copies_of_outputs() {
    // Each reference to the output copies its one node.
    let sql = |names: usize| {
        format!("SELECT bytes AS b FROM requests ORDER BY {}", repeated("b", names, ","))
    };
    query(&sql(limits::EXPR_COPIES_MAX));
    let many = error(&sql(limits::EXPR_COPIES_MAX + 1));
    assert!(many.to_string().contains("repeat too much"), "{many:?}");
}

#[test]
fn copies_of_patterns_are_patterns() {
    let sql = |names: usize| {
        format!("SELECT max(path) ~ 'a' AS m FROM requests HAVING {}", repeated("m", names, " OR "))
    };
    query(&sql(limits::PATTERNS_MAX - 1));
    assert!(error(&sql(limits::PATTERNS_MAX)).to_string().contains("100 patterns"));
}

#[test]
fn nesting_of_a_regular_expression() {
    // The library counts the whole expression as one level.
    let sql = |depth: usize| {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        format!("SELECT 1 FROM requests WHERE path ~ '{open}a{close}'")
    };
    let most = usize::try_from(limits::REGEX_NEST_MAX).expect("small");
    query(&sql(most));
    let deep = error(&sql(most + 1));
    assert!(deep.to_string().contains("not a regular expression"), "{deep:?}");
}

#[test]
fn deadline_of_a_spec() {
    let asked = |deadline_ms: u64| {
        let spec = QuerySpec {
            table: "requests".to_owned(),
            deadline_ms: Some(deadline_ms),
            ..QuerySpec::default()
        };
        lower_spec(&spec, &context(&Tables::new()))
    };
    assert!(asked(limits::QUERY_DEADLINE_MS_MAX).is_ok());
    let long = asked(limits::QUERY_DEADLINE_MS_MAX + 1).expect_err("too long");
    assert_eq!(long.field.as_deref(), Some("deadline_ms"));
}

#[test]
fn digits_of_limit_and_offset() {
    query("SELECT 1 FROM requests LIMIT 18446744073709551615 OFFSET 18446744073709551615");
    error("SELECT 1 FROM requests LIMIT 18446744073709551616");
    error("SELECT 1 FROM requests LIMIT 1.5");
}
