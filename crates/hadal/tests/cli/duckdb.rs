//! A share of the random queries that `make compare-duckdb` asks of Hadal and of DuckDB.

use std::path::Path;
use std::process::Command;

use crate::harness::finish;
use crate::harness::python;

/// The number of queries: some seconds.
const QUERIES: &str = "300";

#[test]
fn random_queries_have_the_answers_of_duckdb() {
    let Some(python) = python() else { return println!("skipped: needs duckdb") };
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compare/compare.py");
    let mut command = Command::new(python);
    command.arg("-B").arg(program).arg(env!("CARGO_BIN_EXE_hadal")).args(["--queries", QUERIES]);
    let finished = finish(command, b"");
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    println!("{}", finished.stdout);
}
