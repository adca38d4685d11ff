//! `docs/decisions`: numbered without gaps, each with its context and decision, and in the index.

use crate::source::{Source, assert_clean, repository};

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";
/// Headings of a decision, in this order; the last two are optional.
const HEADINGS: [&str; 4] = ["## Context", "## Decision", "## Rejected", "## Measured"];

fn check(sources: &[Source]) -> Vec<String> {
    let in_folder = sources.iter().filter(|source| source.path.starts_with(FOLDER));
    let pages = in_folder.filter(|source| source.path != INDEX);
    let index = sources.iter().find(|source| source.path == INDEX);
    let mut findings = Vec::new();
    for (before, page) in pages.enumerate() {
        let name = &page.path[FOLDER.len()..];
        let number = format!("{:03}", before + 1);
        if !name.starts_with(&format!("{number}-")) {
            findings.push(format!("{}: the next number is {number}", page.path));
        }
        let headings: Vec<&str> =
            page.text.lines().filter(|line| line.starts_with("## ")).collect();
        let mut remaining = HEADINGS.iter();
        let in_order = headings.iter().all(|heading| remaining.any(|allowed| allowed == heading));
        if !in_order || !headings.starts_with(&HEADINGS[..2]) {
            findings.push(format!("{}: its headings are not {HEADINGS:?}", page.path));
        }
        if !index.is_some_and(|index| index.text.contains(&format!("({name})"))) {
            findings.push(format!("{INDEX}: no link to {name}"));
        }
    }
    findings
}

#[test]
fn decisions_have_a_number_a_context_and_a_place_in_the_index() {
    assert_clean(&check(&repository()));
}

#[test]
fn a_bad_decision_is_found() {
    let page = |name: &str, text: &str| Source::made_up(&format!("{FOLDER}{name}"), text);
    let good = "# 1\n## Context\n## Decision\n## Measured\n";
    let index = page("README.md", "[1](001-a.md) [2](002-b.md)");
    let count = |pages: Vec<Source>| check(&pages).len();
    assert_eq!(count(vec![page("001-a.md", good)]), 1, "no index");
    let first = || page("001-a.md", good);
    assert_eq!(count(vec![first(), page("002-b.md", good), index]), 0);
    let index = || page("README.md", "[1](001-a.md) [3](003-c.md)");
    assert_eq!(count(vec![first(), page("003-c.md", good), index()]), 1, "a gap");
    assert_eq!(count(vec![page("001-a.md", "## Context\n"), index()]), 1, "no decision");
    let swapped = "## Context\n## Decision\n## Measured\n## Rejected\n";
    assert_eq!(count(vec![page("001-a.md", swapped), index()]), 1);
}
