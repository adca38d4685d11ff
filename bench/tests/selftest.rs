//! `bench/rivals/selftest.py`: what the comparison with other engines must never get wrong.

use std::process::Command;

#[test]
fn the_comparison_judges_rightly() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/rivals/selftest.py");
    let Ok(output) = Command::new("python3").args(["-B", script]).output() else {
        println!("skipped: needs python3");
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("OK"), "{told}");
}
