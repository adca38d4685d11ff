//! `make/tally`, which counts tests in the log of a run, and `make/failures`, which extracts the
//! names of failed tests.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::source::root;

/// The output of `make/tally` for a log and a list of skips.
fn tally(log: &str, allowed_skips: &str) -> String {
    let mut list = tempfile::NamedTempFile::new().unwrap();
    list.write_all(allowed_skips.as_bytes()).unwrap();
    output("make/tally", list.path(), log)
}

/// The output of a program for a log on its standard input.
fn output(program: &str, argument: impl AsRef<OsStr>, log: &str) -> String {
    let mut child = Command::new(root().join(program))
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn all_test_binaries_are_summed() {
    let log = "test a ... ok\n\
               test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
               test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
               the words 5 passed; 6 failed; are not a result\n";
    assert_eq!(tally(log, ""), "7 2\n");
    assert_eq!(tally("", "# nothing\n"), "0 0\n");
}

#[test]
fn a_skip_that_is_not_listed_is_named() {
    let word = "skipped:";
    let log = format!(
        "{word} needs a tape drive\ntest a ... {word} needs chromium\n{word} needs chromium\n"
    );
    let allowed = "# reasons\n\nneeds chromium  # not on the small machines\n";
    assert_eq!(tally(&log, allowed), "0 0\nneeds a tape drive\n");
    assert_eq!(tally(&log, ""), "0 0\nneeds a tape drive\nneeds chromium\n");
}

#[test]
fn failed_tests_are_named() {
    let log = "test a::good ... ok\n\
               test a::bad ... FAILED\n\
               test a::bad ... FAILED\n\
               \u{1b}[31mFAILED  opens the demo\u{1b}[0m\n\
               11:35:58 FAULT in scene 3 of seed 4: a row is missing\n\
               FAULT: 3 batches are not archived\n\
               Traceback (most recent call last):\n\
               \x20 raise ValueError(\"no answer\")\n\
               json.decoder.JSONDecodeError: Expecting value\n\
               error: unused variable\n\
               error: test failed, to rerun pass `-p x`\n\
               test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let names = "x: a::bad\n\
                 x: opens the demo\n\
                 x: 11:35:58 FAULT in scene 3 of seed 4: a row is missing\n\
                 x: FAULT: 3 batches are not archived\n\
                 x: json.decoder.JSONDecodeError: Expecting value\n\
                 x: error: unused variable\n";
    assert_eq!(output("make/failures", "x", log), names);
    assert_eq!(output("make/failures", "x", "test a ... ok\n"), "");
}
