//! Licences that dependencies may have.

use crate::cargo::{Package, packages};
use crate::source::assert_clean;

/// Each allows anybody to use, change and distribute the whole under Apache-2.0.
const ALLOWED: [&str; 9] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn check(packages: &[Package]) -> Vec<String> {
    let bad = packages.iter().filter_map(|package| match &package.license {
        None => Some(format!("package `{}` names no licence", package.name)),
        Some(licence) if !is_allowed(licence) => {
            Some(format!("package `{}` is under `{licence}`, which is not allowed", package.name))
        }
        Some(_) => None,
    });
    bad.collect()
}

/// Whether the allowed licences alone satisfy an SPDX expression.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>) -> bool {
    let mut allowed = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        allowed |= all_of(words);
    }
    allowed
}

fn all_of(words: &mut Words<'_>) -> bool {
    let mut allowed = one(words);
    while words.next_if_eq(&"AND").is_some() {
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let allowed = any_of(words);
        return words.next() == Some(")") && allowed;
    }
    let mut licence = words.next().unwrap_or_default().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        licence = format!("{licence} WITH {}", words.next().unwrap_or_default());
    }
    ALLOWED.contains(&licence.as_str())
}

#[test]
fn all_licences_are_allowed() {
    assert_clean(&check(packages()));
}

#[test]
fn each_allowed_licence_is_needed() {
    let expressions: Vec<&str> = packages().iter().filter_map(|p| p.license.as_deref()).collect();
    let idle = ALLOWED.iter().filter(|licence| !expressions.iter().any(|e| e.contains(*licence)));
    let idle: Vec<String> = idle.map(|licence| format!("nothing is under `{licence}`")).collect();
    assert_clean(&idle);
}

#[test]
fn a_licence_that_is_not_allowed_is_found() {
    let package = |name: &str, license: Option<&str>| Package {
        name: name.to_owned(),
        license: license.map(str::to_owned),
        source: None,
        dependencies: Vec::new(),
    };
    let findings =
        check(&[package("a", Some("MIT")), package("b", Some("GPL-3.0")), package("c", None)]);
    assert_eq!(
        findings,
        ["package `b` is under `GPL-3.0`, which is not allowed", "package `c` names no licence"]
    );
}

#[test]
fn expressions_are_read_as_written() {
    for allowed in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT GPL-3.0",
        "(MIT",
        "(MIT OR Apache-2.0) AND GPL-3.0",
        "GPL-2.0 WITH LLVM-exception",
    ] {
        assert!(!is_allowed(refused), "{refused}");
    }
}
