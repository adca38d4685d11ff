//! Flags that the command line refuses, and the help that it gives.

use crate::harness::run;

#[test]
fn bad_flags_are_refused_before_anything_happens() {
    for args in [
        &["serve", "--no-such-flag"][..],
        &["serve", "--listen", "nonsense"],
        &["serve", "--leaves", "0"],
        &["serve", "--leaves", "1000"],
        &["serve", "--memory", "--data", "x"],
        &["log"],
        &["log", "not/a/table"],
        &["log", "t", "--batch", ""],
        &["import", "--table", "t"],
        &["import", "x", "--separator", "ab"],
        &["query", "SELECT 1", "--format", "xml"],
        &["query", "SELECT 1", "--server", "https://127.0.0.1"],
        &["demo", "--now", "yesterday"],
        &["demo", "--rows", "-1"],
        &["no-such-command"],
        &[],
    ] {
        let finished = run(args, b"");
        assert_eq!(finished.code, 2, "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "", "{args:?}");
        assert!(!finished.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn help_teaches_by_example() {
    for args in [&["--help"][..], &["serve", "--help"], &["log", "--help"], &["query", "-h"]] {
        let finished = run(args, b"");
        assert_eq!(finished.code, 0);
        assert!(finished.stdout.contains("Examples:"), "{}", finished.stdout);
    }
}

#[test]
fn the_version_names_commit_and_cpu() {
    let finished = run(&["--version"], b"");
    assert_eq!(finished.code, 0);
    let line = finished.stdout.trim();
    assert!(line.starts_with(&format!("hadal {} (commit ", env!("CARGO_PKG_VERSION"))), "{line}");
    assert!(["avx512)", "avx2)", "baseline)"].iter().any(|end| line.ends_with(end)), "{line}");
}
