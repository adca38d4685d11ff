//! `ARCHITECTURE.md` describes every crate, and crates are named by their role.

use std::collections::BTreeSet;

use crate::source::{Source, assert_clean, paths, repository};

/// Names without a role, under which leftovers would collect.
const EMPTY_NAMES: [&str; 8] =
    ["common", "core", "helpers", "lib", "misc", "shared", "util", "utils"];

/// Folders of `crates/`.
fn crates(paths: &[String]) -> BTreeSet<&str> {
    let below = paths.iter().filter_map(|path| path.strip_prefix("crates/"));
    below.filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect()
}

/// Crates whose name states no role.
fn empty_names(paths: &[String]) -> Vec<String> {
    let names = crates(paths).into_iter();
    let empty = names.filter(|name| name.split(['-', '_']).any(|w| EMPTY_NAMES.contains(&w)));
    empty
        .map(|name| format!("crates/{name}: name it by its role, or put it where it is used"))
        .collect()
}

/// Crates without a heading in the map, and headings without a crate. A crate's heading contains
/// its path in code quotes.
fn map_findings(map: &str, paths: &[String]) -> Vec<String> {
    let headings = map.lines().filter(|line| line.starts_with('#'));
    let named = headings.filter_map(|line| line.split('`').nth(1));
    let named: BTreeSet<&str> = named.filter_map(|name| name.strip_prefix("crates/")).collect();
    let crates = crates(paths);
    let missing = crates.difference(&named);
    let gone = named.difference(&crates);
    missing
        .map(|name| format!("ARCHITECTURE.md has no heading with `crates/{name}`"))
        .chain(gone.map(|name| format!("ARCHITECTURE.md describes `crates/{name}`: not there")))
        .collect()
}

#[test]
fn crates_are_named_by_their_role() {
    assert_clean(&empty_names(&paths()));
}

#[test]
fn an_empty_name_is_found() {
    let paths = ["crates/utils/Cargo.toml", "crates/wire-common/Cargo.toml", "crates/wire/x.rs"];
    assert_eq!(empty_names(&paths.map(str::to_owned)).len(), 2);
}

#[test]
fn the_map_names_every_crate() {
    let sources = repository();
    let map = sources.iter().find(|source: &&Source| source.path == "ARCHITECTURE.md").unwrap();
    assert_clean(&map_findings(&map.text, &paths()));
}

#[test]
fn a_crate_that_the_map_forgets_is_found() {
    let paths = ["crates/tree/Cargo.toml", "crates/leaf/Cargo.toml"].map(str::to_owned);
    let findings = map_findings("# Map\n### `crates/leaf`: rows\n`crates/tree`\n", &paths);
    assert_eq!(findings, ["ARCHITECTURE.md has no heading with `crates/tree`"]);
    let findings = map_findings("### `crates/leaf`\n### `crates/tree`\n## `crates/udf`\n", &paths);
    assert_eq!(findings, ["ARCHITECTURE.md describes `crates/udf`: not there"]);
}
