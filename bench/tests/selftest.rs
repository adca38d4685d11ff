//! Self-tests of the comparisons and the siege: `selftest.py` of `bench/rivals`, `bench/posts` and
//! `bench/siege`.

use std::process::Command;

#[expect(clippy::print_stdout, reason = "tells why nothing was tested")]
fn passes(script: &str) {
    // Cargo runs tests in their package's folder.
    let Ok(output) = Command::new("python3").args(["-B", script]).output() else {
        println!("skipped: needs python3");
        return;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("OK"), "{stderr}");
}

#[test]
fn the_comparison_judges_rightly() {
    passes("rivals/selftest.py");
}

#[test]
fn published_benchmarks_are_told_rightly() {
    passes("posts/selftest.py");
}

#[test]
fn the_siege_judges_rightly() {
    passes("siege/selftest.py");
}
