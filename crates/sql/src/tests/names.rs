//! Resolution of table, column and output names.

use super::catalog::{NOW, Tables};
use super::{error, query, show};
use crate::{Context, Statement, UnknownColumns, lower};

fn key(sql: &str) -> String {
    show::keys(&query(sql)).trim_start_matches("rows ").to_owned()
}

#[test]
fn columns_are_found_as_written_then_by_letters() {
    for (name, expected) in [
        ("service", "service::string"),
        ("SERVICE", "service::string"),
        ("country", "Country::string"),
        ("\"Country\"", "Country::string"),
        ("\"a b\"", "a b::string"),
        ("http.status", "http.status::number"),
        ("HTTP.Status", "http.status::number"),
        ("\"http.status\"", "http.status::number"),
        ("\"http\".\"status\"", "http.status::number"),
        ("requests.service", "service::string"),
        ("Requests.http.status", "http.status::number"),
        ("user", "user::string"),
        ("path", "path::string"),
        ("Time", "time"),
        ("requests.time", "time"),
    ] {
        let shown = key(&format!("SELECT {name} FROM requests ORDER BY 1"));
        assert_eq!(shown, expected, "{name}");
    }
    assert_eq!(key("SELECT r.service FROM requests AS r ORDER BY 1"), "service::string");
    assert!(error("SELECT requests.service FROM requests AS r").to_string().contains("no column"));
    assert!(error("SELECT \"SERVICE\" FROM requests").to_string().contains("no column SERVICE"));
}

#[test]
fn time_is_the_time_column_unless_another_column_has_that_name() {
    assert_eq!(key("SELECT time FROM events ORDER BY 1"), "time::number");
    assert_eq!(key("SELECT ts FROM events ORDER BY 1"), "time");
    assert_eq!(key("SELECT time FROM \"my-table\""), "time");
    assert_eq!(key("SELECT at FROM \"my-table\""), "time");
}

#[test]
fn two_columns_that_differ_in_case_are_two() {
    assert_eq!(key("SELECT x FROM events ORDER BY 1"), "x::number");
    assert_eq!(key("SELECT X FROM events ORDER BY 1"), "X::number");
}

#[test]
fn tables_are_found_likewise() {
    for name in ["requests", "REQUESTS", "\"requests\""] {
        assert_eq!(query(&format!("SELECT 1 FROM {name}")).table.as_str(), "requests");
    }
    assert!(error("SELECT 1 FROM \"Requests\"").to_string().contains("no table Requests"));
}

#[test]
fn outputs_are_named_as_written() {
    let query = query(
        "SELECT Service, \"a b\", COUNT( * ), latency  +  1 -- more\n, lower(service) AS \"L\", \
         requests.bytes, 'x, y', percentile_cont(0.5) WITHIN GROUP (ORDER BY bytes), \
         extract(hour FROM time) FROM requests GROUP BY ALL",
    );
    let names: Vec<&str> = query.outputs.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Service",
            "a b",
            "COUNT( * )",
            "latency + 1",
            "L",
            "requests.bytes",
            "'x, y'",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY bytes)",
            "extract(hour FROM time)",
        ]
    );
}

#[test]
fn an_absent_column_can_be_null() {
    let tables = Tables::new();
    let context = Context { catalog: &tables, now: NOW, unknown_columns: UnknownColumns::Null };
    let sql = "SELECT nope, count(*) FROM requests WHERE nope = 'x' AND time > 0 GROUP BY nope";
    let Ok(Statement::Query { query, notes }) = lower(sql, &context) else {
        panic!("an absent column is no error here");
    };
    assert_eq!(show::filter(&query), "null");
    assert_eq!(show::keys(&query), "null");
    let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["unknown_column"], "said once");
}

#[test]
fn of_a_table_without_a_row_that_can_be_read_every_column_is_null() {
    let (query, notes) = super::noted("SELECT sum(v), p95(v) FROM lost WHERE v > 1 GROUP BY s");
    assert_eq!((show::filter(&query), show::keys(&query)), ("null".to_owned(), "null".to_owned()));
    let said: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
    let null = |name| {
        format!("no row can be read, so nobody knows a column {name}; it is null in every row")
    };
    for name in ["v", "s"] {
        assert!(said.contains(&null(name).as_str()), "{said:?}");
    }
    let error = error("SELECT sum(v) FROM lots");
    assert!(matches!(error.message, crate::Message::UnknownTable { .. }));
}
