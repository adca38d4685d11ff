//! `bench/figures.py`, which fails if a figure misses its promise.

use std::process::Command;

use crate::source::root;

/// The exit code and the output of `make bench` for these measurements.
fn measured(lines: &str) -> Option<(i32, String)> {
    let script = format!("import sys, figures\np = figures.Promises()\n{lines}sys.exit(p.end())\n");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", &script]).env("PYTHONPATH", root().join("bench"));
    let Ok(output) = python.output() else {
        println!("skipped: needs python3");
        return None;
    };
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap()))
}

#[test]
fn a_missed_figure_is_a_failure() {
    let both = "p.measured('memory of an idle server', 60)\n\
                p.measured('demo: all rows', 59.9, ' of them')\n";
    let Some((code, text)) = measured(both) else { return };
    assert_eq!(code, 0, "{text}");
    let is_line = |words: &[&str]| text.lines().any(|line| words.iter().all(|w| line.contains(w)));
    assert!(is_line(&["memory of an idle server", "60.0 MB", "<= 60 MB: ok"]), "{text}");
    assert!(is_line(&["demo: all rows", "59.9 s of them", "<= 60 s: ok"]), "{text}");
    // A promise without a measurement is reported.
    assert!(is_line(&["make test, cold", "not measured", "<= 1500 s"]), "{text}");
    assert!(text.contains("\n2 ok, 0 missed, "), "{text}");

    let missed = "p.measured('memory of an idle server', 60.1)\n\
                  p.measured('demo: all rows', 59.9)\n";
    let Some((code, text)) = measured(missed) else { return };
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("<= 60 MB: MISSED"), "{text}");
    assert!(text.contains("\n1 ok, 1 missed, "), "{text}");
}
