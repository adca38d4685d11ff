//! The notes in SQL answers on rows that were left out because of their kind: only if a query did
//! not see them.

use hadal_tests::session::{Hops, Session};
use hadal_types::time::parse_timestamp;

const ROWS: &str = r#"{"time": 1795255200, "v": ["a", "b"]}
{"time": 1795255201, "v": ["c"]}
{"time": 1795255202, "v": ["d"]}
{"time": 1795255203, "v": "text"}
{"time": 1795255204, "v": "more text"}
{"time": 1795255205, "v": {"$set": ["x", "y"]}}
{"time": 1795255206, "v": {"$set": ["z"]}}
{"time": 1795255207, "n": 1}
{"time": 1795255208, "n": 2}
"#;

#[test]
fn only_what_was_left_out_is_warned_of() {
    let now = parse_timestamp("2026-11-21T12:00:00Z").expect("a time");
    for by_line in [false, true] {
        let mut session = Session::new(1, Hops::InProcess, now).expect("a session");
        let summary = session.log("t", ROWS, by_line).expect("logged");
        assert_eq!(summary.accepted, 9);
        let is_said = |sql: &str| {
            let warnings = session.ask(sql).expect(sql).warnings;
            warnings.iter().any(|code| code == "OtherKindSkipped")
        };
        for sql in [
            "SELECT * FROM t",
            "SELECT * FROM t WHERE v IS NULL",
            "SELECT * FROM t WHERE v IS NOT NULL",
            "SELECT count(*) FROM t WHERE v IS NULL",
            "SELECT v FROM t WHERE v IS NULL",
            "SELECT v, v::string, v::set FROM t",
            "SELECT sum(n) FROM t",
            "SELECT v FROM t WHERE time >= '2026-11-21 10:00:07' AND n > 0",
        ] {
            assert!(!is_said(sql), "{sql}");
        }
        for sql in [
            "SELECT v FROM t",
            "SELECT v, v::string FROM t",
            "SELECT count(v) FROM t",
            "SELECT count(v) FROM t WHERE v IS NOT NULL",
            "SELECT * FROM t WHERE v::string = 'text'",
            "SELECT * FROM t WHERE v::string = 'nobody has this'",
        ] {
            assert!(is_said(sql), "{sql}");
        }
    }
}
