//! Statements other than SELECT of a table.

use hadal_query::Type;
use hadal_types::Value;

use super::catalog::NOW;
use super::{error, statement};
use crate::Statement;

#[test]
fn tables_can_be_listed_and_described() {
    for sql in ["SHOW TABLES", "show tables ;", "-- all\nSHOW /* the */ TABLES;;"] {
        assert_eq!(statement(sql), Ok(Statement::ShowTables), "{sql}");
    }
    for (sql, summarized) in [
        ("DESCRIBE requests", false),
        ("desc table Requests;", false),
        ("SUMMARIZE \"my-table\"", true),
    ] {
        match statement(sql) {
            Ok(Statement::Describe(_)) => assert!(!summarized, "{sql}"),
            Ok(Statement::Summarize(table)) => {
                assert!(summarized, "{sql}");
                assert_eq!(table.as_str(), "my-table");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert_eq!(error("DESCRIBE reqests").hint.as_deref(), Some("did you mean requests?"));
    assert!(error("DESCRIBE").to_string().contains("missing"));
    assert!(error("SHOW DATABASES").to_string().contains("SHOW TABLES"));
}

#[test]
fn values_need_no_table() {
    let Ok(Statement::Values { columns, row }) =
        statement("SELECT 1, version(), now() AS t, 7/2, 7/2.0, 'a' || 'b', 'abc' LIKE 'a%';")
    else {
        panic!("values");
    };
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["1", "version()", "t", "7/2", "7/2.0", "'a' || 'b'", "'abc' LIKE 'a%'"]);
    assert_eq!(columns[2].1, Type::Time);
    assert_eq!(row[0], Value::integer(1));
    assert!(row[1].to_string().starts_with("Hadal "), "{}", row[1]);
    assert_eq!(row[2], Value::Time(NOW));
    let shown: Vec<String> = row[3..].iter().map(Value::to_string).collect();
    assert_eq!(shown, ["3", "3.5", "ab", "true"]);
    assert!(statement("SELECT 1 ORDER BY 1 LIMIT 1").is_ok());
    for bad in [
        "SELECT x",
        "SELECT *",
        "SELECT count(*)",
        "SELECT 1 WHERE true",
        "SELECT 1 LIMIT 0",
        "SELECT 1 OFFSET 1",
        "SELECT 1 LIMIT 3 SERIES",
        "SELECT search('x')",
    ] {
        error(bad);
    }
}

#[test]
fn what_hadal_has_not_says_what_to_do() {
    for (sql, hint) in [
        ("INSERT INTO t VALUES (1)", "POST /v1/log/TABLE"),
        ("COPY t FROM 'x'", "hadal import"),
        ("CREATE TABLE t (x int)", "send rows"),
        ("DROP TABLE t", "hadal drop TABLE"),
        ("DELETE FROM t", "hadal drop TABLE"),
        ("UPDATE t SET x = 1", "hadal import --replace"),
        ("BEGIN", "on its own"),
        ("EXPLAIN SHOW TABLES", "EXPLAIN SELECT"),
        ("EXPLAIN (FORMAT json) SELECT 1", "FORMAT TEXT"),
        ("EXPLAIN (ANALYZE maybe, nope) SELECT 1", "EXPLAIN ANALYZE SELECT"),
        ("ANALYZE requests", "EXPLAIN ANALYZE"),
        ("WITH t AS (SELECT 1) SELECT * FROM t", "hadal query --format csv"),
        ("SELECT 1 FROM requests JOIN events ON true", "hadal query --format csv"),
        ("SELECT 1 FROM requests, events", "hadal query --format csv"),
        ("SELECT 1 FROM (SELECT 1)", "hadal query --format csv"),
        ("SELECT 1 FROM requests WHERE bytes IN (SELECT 1)", "hadal query --format csv"),
        ("SELECT (SELECT 1) FROM requests", "hadal query --format csv"),
        ("SELECT 1 UNION SELECT 2", "hadal query --format csv"),
        ("SELECT sum(bytes) OVER () FROM requests", "hadal query --format csv"),
    ] {
        let error = error(sql);
        let given = error.hint.clone().unwrap_or_default();
        assert!(given.contains(hint), "{sql}: {error:?}");
    }
}

#[test]
fn one_statement_at_a_time() {
    let refused = error("SELECT 1; SELECT 2");
    assert_eq!(refused.position.map(|place| place.offset), Some(8));
    for empty in ["", "  ", ";", "-- nothing"] {
        assert!(error(empty).to_string().contains("no statement"), "{empty:?}");
    }
}
