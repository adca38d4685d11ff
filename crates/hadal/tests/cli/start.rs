//! The checks before a server starts: conditions that it refuses, mends or works around, and its
//! messages.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::harness::{Finished, Running, Server, finish, hadal, hadal_after};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The output of a start that is refused; a server that starts is ended after a while. A shell runs
/// `first` before.
fn refused_after(first: &str, args: &[&str]) -> Finished {
    let mut command = Command::new("sh");
    let script = format!("{first} && exec timeout 30 \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_hadal"), "serve", "--listen", "127.0.0.1:0"]);
    command.args(args);
    finish(command, b"")
}

fn refused(args: &[&str]) -> Finished {
    refused_after("true", args)
}

#[test]
fn too_few_open_files_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let args = ["serve", "--listen", "127.0.0.1:0", "--leaves", "2", "--data", data];
    for limit in [8, 24, 40, 144] {
        let finished = refused_after(&format!("ulimit -n {limit}"), &args[3..]);
        assert_eq!(finished.code, 1, "{limit}: {}", finished.stderr);
        for words in
            [&*format!("open files is {limit}"), "at least 145", "ulimit -n", "LimitNOFILE="]
        {
            assert!(
                finished.stderr.contains(words),
                "{limit}: no {words:?} in {}",
                finished.stderr
            );
        }
        assert!(!Path::new(data).exists(), "{limit}: nothing is made");
    }
    let server = Server::by(hadal_after("ulimit -n 145", &args));
    server.log(&["t"], "{\"a\": 1}\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_folder_that_others_could_write_to_is_theirs_no_more() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("data");
    let server = Server::start(&data);
    server.log(&["t"], "{\"a\": 1}\n");
    server.process.stop(Signal::TERM);
    let token = data.join("admin-token");
    for path in [&data, &data.join("leaf-1"), &data.join("leaf-0/manifest")] {
        chmod(path, mode(path) | 0o022 | 0o055);
    }
    chmod(&token, 0o644);
    let server = Server::start(&data);
    let said = server.process.wait_for_error("others could write");
    assert!(said.contains(data.to_str().unwrap()) && said.contains("3"), "{said}");
    server.process.wait_for_error("others could read the token");
    for path in [&data, &data.join("leaf-1"), &data.join("leaf-0/manifest")] {
        assert_eq!(mode(path) & 0o022, 0, "{}", path.display());
    }
    assert_eq!(mode(&token), 0o600);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_folder_of_other_things_that_others_can_write_to_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("shared");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("notes.txt"), "somebody's").unwrap();
    chmod(&data, 0o1777);
    let error = refused(&["--leaves", "2", "--data", data.to_str().unwrap()]).stderr;
    assert!(error.contains("others can write to it"), "{error}");
    assert!(error.contains("chmod go-w ") && error.contains(data.to_str().unwrap()), "{error}");
    assert_eq!(mode(&data), 0o1777, "it may be everybody's, such as /tmp");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing is made");
    // An empty folder is mended: it was created for this purpose, with the usual permissions.
    fs::remove_file(data.join("notes.txt")).unwrap();
    chmod(&data, 0o775);
    let server = Server::start(&data);
    server.process.wait_for_error("others could write");
    assert_eq!(mode(&data), 0o755);
}

#[test]
fn a_token_file_that_others_can_write_to_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let token = scratch.path().join("token");
    fs::write(&token, "7".repeat(64)).unwrap();
    chmod(&token, 0o666);
    let finished = refused(&["--memory", "--token-file", token.to_str().unwrap()]);
    assert_eq!(finished.code, 2, "{}", finished.stderr);
    assert!(finished.stderr.contains("others can write to it"), "{}", finished.stderr);
    assert!(finished.stderr.contains("chmod go-w "), "{}", finished.stderr);
}

/// The folders of leaves in a tmpfs.
fn memories(tmpfs: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> =
        fs::read_dir(tmpfs).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

#[test]
fn memory_that_is_anothers_is_not_used_and_keeps_nobody_from_starting() {
    let (scratch, tmpfs) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
    let data = scratch.path().join("data");
    let (data, shm) = (data.to_str().unwrap(), tmpfs.path().to_str().unwrap());
    let flags = ["--data", data, "--leaves", "3", "--tmpfs", shm];
    let rows: String = (0..60).map(|n| format!("{{\"a\": {n}}}\n")).collect();
    let server = Server::start_with(&flags);
    server.log(&["t"], &rows);
    server.process.stop(Signal::TERM);
    let folders = memories(tmpfs.path());
    assert_eq!(folders.len(), 3, "{folders:?}");
    // Another user has created files with their names.
    chmod(&folders[0], 0o777);
    fs::write(folders[0].join("planted"), "x").unwrap();
    fs::remove_dir_all(&folders[1]).unwrap();
    symlink(scratch.path(), &folders[1]).unwrap();
    fs::remove_dir_all(&folders[2]).unwrap();
    fs::write(&folders[2], "a file").unwrap();
    for more in [&[][..], &["--take-over"]] {
        let server = Server::start_with(&[&flags, more].concat());
        for _ in 0..3 {
            let said = server.process.wait_for_error("memory is not used");
            assert!(said.contains("leaf-") && said.contains(shm), "{said}");
            assert!(said.contains("read from disk"), "{said}");
        }
        assert_eq!(server.query("SELECT count(*), sum(a) FROM t"), ["60,1770"]);
        server.process.stop(Signal::TERM);
    }
    assert!(folders[0].join("planted").exists(), "what is another's stays");
    assert_eq!(mode(&folders[0]) & 0o777, 0o777);
    // Once they are removed, memory is used again.
    fs::remove_dir_all(&folders[0]).unwrap();
    folders[1..].iter().for_each(|path| fs::remove_file(path).unwrap());
    let server = Server::start_with(&flags);
    assert_eq!(server.query("SELECT count(*), sum(a) FROM t"), ["60,1770"]);
    assert_eq!(memories(tmpfs.path()), folders);
}

#[test]
fn a_successor_says_what_it_waits_for_while_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let before = Server::start(folder.path());
    let listen = before.url.strip_prefix("http://").unwrap();
    before.process.send(Signal::STOP);
    let data = folder.path().to_str().unwrap();
    let args = [
        "serve",
        "--take-over",
        "--listen",
        listen,
        "--leaves",
        "2",
        "--no-journal",
        "--data",
        data,
    ];
    let successor = Running::start(hadal(&args));
    let said = successor.wait_for_error("waiting until the server before");
    assert!(said.contains("answers") && said.contains("at most 200 s"), "{said}");
    before.process.send(Signal::CONT);
    let said = successor.wait_for_error("waiting until the server before");
    assert!(said.contains("has stopped") && said.contains("at most 200 s"), "{said}");
    successor.wait_for_output("http://");
    assert_eq!(before.process.wait().code(), Some(0));
}

#[test]
fn no_word_of_an_addresss_user_part_is_said() {
    const SECRETS: [&str; 4] = ["adalina", "%61dalina", "geheim", "g%65heim"];
    let says_none = |address: &str, said: &str| {
        for secret in SECRETS {
            assert!(!said.contains(secret), "{address}: {secret} in {said}");
        }
    };
    for user in ["adalina:geheim", "%61dalina:g%65heim"] {
        for (option, address) in [
            // No process listens there, or the address cannot be parsed.
            ("--definitions", format!("postgres://{user}@127.0.0.1:1/hadal")),
            ("--definitions", format!("postgres://127.0.0.1:1/hadal?user=x&password={user}")),
            ("--definitions", format!("postgres://{user}@127.0.0.1:x/hadal")),
            ("--definitions", format!("mysql://{user}@127.0.0.1/hadal")),
            ("--archive", format!("s3://{user}@bucket/prefix")),
            ("--archive", format!("s3:/{user}@bucket/prefix")),
            ("--archive", format!("{user}@bucket://prefix")),
        ] {
            let finished = refused(&["--memory", option, &address]);
            assert_ne!(finished.code, 0, "{address}: {}", finished.stderr);
            says_none(&address, &finished.stderr);
            says_none(&address, &finished.stdout);
        }
    }
    // A bucket that is unreachable: the messages while the server runs.
    let mut command =
        hadal(&["serve", "--listen", "127.0.0.1:0", "--memory", "--archive", "s3://b/p"]);
    command.env("AWS_ENDPOINT_URL", "http://adalina:geheim@127.0.0.1:1");
    command.env("AWS_ACCESS_KEY_ID", "adalina").env("AWS_SECRET_ACCESS_KEY", "geheim");
    command.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "eu-west-1");
    let server = Server::by(command);
    says_none("s3", &server.announcement);
    says_none("s3", &server.process.wait_for_error("CANNOT BE WRITTEN"));
    let status = server.get("/v1/status");
    assert!(status.contains("s3://b/p"), "{status}");
    says_none("s3", &status);
}
