//! What the comparisons must never get wrong: `selftest.py` of `bench/rivals` and `bench/posts`.

use std::path::Path;
use std::process::Command;

#[expect(clippy::print_stdout, reason = "tells why nothing was tested")]
fn passes(script: &str) {
    // When it runs: what was built may be kept for a checkout elsewhere.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let script = Path::new(&package).join(script);
    let Ok(output) = Command::new("python3").arg("-B").arg(&script).output() else {
        println!("skipped: needs python3");
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("OK"), "{told}");
}

#[test]
fn the_comparison_judges_rightly() {
    passes("rivals/selftest.py");
}

#[test]
fn published_benchmarks_are_told_rightly() {
    passes("posts/selftest.py");
}
