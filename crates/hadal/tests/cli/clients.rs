//! The clients for JavaScript, Go and Java, each against a real server.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::harness::finish;
use crate::python_client::{check, server};

fn has(program: &str, flag: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(flag).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn client(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients").join(name)
}

#[test]
fn the_javascript_client_logs_and_queries() {
    if !has("node", "--version") {
        return println!("skipped: needs node");
    }
    let (running, url) = server();
    let mut command = Command::new("node");
    command.arg(client("js").join("test.js"));
    check(command, &url);
    assert!(running.stop(Signal::TERM).success());
}

#[test]
fn the_go_client_logs_and_queries() {
    if !has("go", "version") {
        return println!("skipped: needs go");
    }
    let (running, url) = server();
    let mut command = Command::new("go");
    command.args(["test", "-count=1", "./..."]).current_dir(client("go"));
    command.env("HADAL_TEST_URL", url).env("GOFLAGS", "-mod=mod").env("GOTOOLCHAIN", "local");
    let finished = finish(command, b"");
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert!(running.stop(Signal::TERM).success());
}

#[test]
fn the_java_client_logs_and_queries() {
    if !has("javac", "-version") {
        return println!("skipped: needs javac");
    }
    let classes = tempfile::tempdir().expect("a folder");
    let mut compile = Command::new("javac");
    compile.args(["--release", "17", "-d"]).arg(classes.path());
    let folder = client("java");
    let sources = ["io/hadal/Hadal.java", "io/hadal/Json.java", "test/HadalTest.java"];
    compile.args(sources.map(|source| folder.join(source)));
    let compiled = finish(compile, b"");
    assert_eq!(compiled.code, 0, "{}{}", compiled.stdout, compiled.stderr);
    let (running, url) = server();
    let mut command = Command::new("java");
    command.arg("-cp").arg(classes.path()).arg("HadalTest");
    check(command, &url);
    assert!(running.stop(Signal::TERM).success());
}
