//! The files of the repository, as input of the rules.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file: its path from the root of the repository, with slashes, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// A made-up file for the tests of a rule.
    pub(crate) fn made_up(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_typescript(&self) -> bool {
        self.path.ends_with(".ts") || self.path.ends_with(".tsx")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    /// Whether a package manager writes the file.
    pub(crate) fn is_lock_file(&self) -> bool {
        self.path.ends_with("Cargo.lock") || self.path.ends_with("package-lock.json")
    }

    /// Whether the whole file is test code, as its name or folder says.
    pub(crate) fn is_test(&self) -> bool {
        let (folders, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        folders.split('/').any(|folder| folder == "tests" || folder == "e2e")
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
            || name.contains(".test.ts")
    }

    /// `path:line` of the byte at `offset`.
    pub(crate) fn place(&self, offset: usize) -> String {
        let line = self.text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{}:{line}", self.path)
    }
}

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    // Read at run time: the build cache may come from a checkout in another folder.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    Path::new(&package).join("..").canonicalize().unwrap()
}

/// Paths of all files that git tracks or would add, sorted.
pub(crate) fn paths() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    let mut paths: Vec<String> = list.split_terminator('\0').map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| root().join(path).is_file());
    paths
}

/// All text files of the repository.
pub(crate) fn repository() -> Vec<Source> {
    let root = root();
    let read = |path: String| {
        let bytes = std::fs::read(root.join(&path)).ok()?;
        Some(Source { path, text: String::from_utf8(bytes).ok()? })
    };
    let sources: Vec<Source> = paths().into_iter().filter_map(read).collect();
    assert!(sources.iter().any(|source| source.path == "Cargo.toml"), "this is not the root");
    sources
}

/// Fails with every finding on a line of its own.
#[track_caller]
pub(crate) fn assert_clean(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings\n{}\n", findings.len(), findings.join("\n"));
}

#[test]
fn test_code_is_recognized_by_name_and_folder() {
    let is_test = |path: &str| Source::made_up(path, "").is_test();
    assert!(is_test("tests/src/oracle/row.rs"));
    assert!(is_test("crates/query/src/scalar_functions/tests.rs"));
    assert!(is_test("crates/store/src/store/crash_tests.rs"));
    assert!(is_test("ui/src/base/time.test.ts"));
    assert!(!is_test("crates/query/src/scalar_functions.rs"));
    assert!(!is_test("crates/query/src/contests.rs"));
}
