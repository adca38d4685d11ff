//! The Python client, with and without its optional packages.

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::harness::{Running, finish, hadal, python};

/// A server, and its URL.
pub(crate) fn server() -> (Running, String) {
    let running = Running::start(hadal(&["serve", "--memory", "--listen", "127.0.0.1:0"]));
    let line = running.wait_for_output("http://");
    let url = line.split(' ').find(|word| word.starts_with("http://")).expect("a URL");
    (running, url.to_owned())
}

/// Runs a test program of a client against a server; it prints "fine" at its end.
pub(crate) fn check(mut command: Command, url: &str) {
    let finished = finish(
        {
            command.arg(url);
            command
        },
        b"",
    );
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.stdout.trim(), "fine", "{}", finished.stderr);
}

#[test]
fn the_python_client_logs_and_queries() {
    let Some(python) = python() else { return println!("skipped: needs python packages") };
    let (running, url) = server();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(python);
    command.env("PYTHONPATH", root.join("../../clients/python"));
    command.arg("-B").arg(root.join("tests/cli/python_client.py"));
    check(command, &url);
    assert!(running.stop(Signal::TERM).success());
}
