//! `docs/where-is.md`: its files exist, and it leaves out no crate.

use std::collections::BTreeSet;

use crate::source::{assert_clean, paths, repository};

const DOCUMENT: &str = "docs/where-is.md";
const QUESTIONS_MIN: usize = 30;

/// The file that each question names. A row is `` | question? | `path` | ``.
fn files(text: &str) -> Vec<&str> {
    let rows = text.lines().filter(|line| line.contains("? | `"));
    rows.filter_map(|line| line.rsplit('`').nth(1)).collect()
}

/// Files that are gone, crates that no question is about, and too few questions.
fn check(text: &str, questions_min: usize, paths: &[String]) -> Vec<String> {
    let files = files(text);
    let mut findings = Vec::new();
    if files.len() < questions_min {
        findings.push(format!("{DOCUMENT}: {} questions of {questions_min}", files.len()));
    }
    let gone = files.iter().filter(|file| !paths.iter().any(|path| path == **file));
    findings.extend(gone.map(|file| format!("{DOCUMENT}: no file `{file}`: name its new place")));
    let crates: BTreeSet<&str> = paths.iter().filter_map(|path| crate_of(path)).collect();
    let named: BTreeSet<&str> = files.iter().filter_map(|path| crate_of(path)).collect();
    let missing = crates.difference(&named);
    findings.extend(missing.map(|name| format!("{DOCUMENT}: no question about crates/{name}")));
    findings
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split_once('/').map(|(folder, _)| folder)
}

#[test]
fn where_is_names_files_that_exist() {
    let sources = repository();
    let document = sources.iter().find(|source| source.path == DOCUMENT).unwrap();
    assert_clean(&check(&document.text, QUESTIONS_MIN, &paths()));
}

#[test]
fn a_moved_file_is_found() {
    let text = "| question | file |\n|---|---|\n\
                | Where is the log? | `crates/store/src/log.rs` |\n\
                | Where are leaves? | `crates/leaf/src/leaf.rs` |\n";
    let paths = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let here = paths(&["crates/leaf/src/leaf.rs", "crates/store/src/log.rs"]);
    assert!(check(text, 2, &here).is_empty());
    assert_eq!(check(text, 3, &here).len(), 1);
    let moved = paths(&["crates/leaf/src/leaf.rs", "crates/store/src/wal.rs"]);
    assert_eq!(
        check(text, 2, &moved),
        ["docs/where-is.md: no file `crates/store/src/log.rs`: name its new place"]
    );
    let more = [here, paths(&["crates/udf/src/lib.rs"])].concat();
    assert_eq!(check(text, 2, &more), ["docs/where-is.md: no question about crates/udf"]);
}
