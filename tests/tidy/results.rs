//! `bench/results`: of each report the newest file, and those that a document links.

use std::collections::BTreeMap;

use crate::source::{Source, assert_clean, paths, repository};

const FOLDER: &str = "bench/results/";

/// Date and report of a file `DATE-COMMIT-REPORT.json`; the report may be left out.
fn date_and_report(name: &str) -> Option<(&str, &str)> {
    let (date, rest) = name.split_at_checked("2026-11-25".len())?;
    let end = rest.strip_prefix('-')?.find(['-', '.'])?;
    Some((date, &rest[1 + end..]))
}

/// Files that are neither the newest of their report nor linked.
fn check(paths: &[String], documents: &[Source]) -> Vec<String> {
    let names: Vec<&str> = paths.iter().filter_map(|path| path.strip_prefix(FOLDER)).collect();
    let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
    for (date, report) in names.iter().filter_map(|name| date_and_report(name)) {
        let date_max = newest.entry(report).or_insert(date);
        *date_max = date.max(date_max);
    }
    let mut findings = Vec::new();
    for name in names {
        let is_linked =
            documents.iter().any(|document| document.is_markdown() && document.text.contains(name));
        match date_and_report(name) {
            Some((date, report)) if newest[report] == date || is_linked => {}
            Some(_) => findings.push(format!("{FOLDER}{name}: there is a newer one: remove it")),
            None => findings.push(format!("{FOLDER}{name} is not `DATE-COMMIT-REPORT.json`")),
        }
    }
    findings
}

#[test]
fn old_results_are_removed() {
    assert_clean(&check(&paths(), &repository()));
}

#[test]
fn an_old_result_is_found() {
    let names = ["2026-01-01-a1.json", "2026-01-02-b2.json", "2026-01-01-a1-druid.json", "x.json"];
    let paths = names.map(|name| format!("{FOLDER}{name}"));
    let findings = check(&paths, &[]);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].contains("2026-01-01-a1.json: there is a newer one"));
    assert!(findings[1].contains("x.json is not"));
    let linked = [Source::made_up("docs/a.md", "[a](../bench/results/2026-01-01-a1.json)")];
    assert_eq!(check(&paths, &linked).len(), 1);
}
