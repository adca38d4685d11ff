//! Starting and stopping servers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hadal_types::limits::IDLE_SECONDS;
use rustix::process::{Signal, geteuid};

use crate::harness::{Server, hadal, hadal_after, hadal_with_signal, run};

#[test]
fn it_says_where_it_is_and_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let said = &server.announcement;
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");
    assert!(said.contains("no rows yet"), "{said}");
    assert!(["cpu: avx512", "cpu: avx2", "cpu: baseline"].iter().any(|cpu| said.contains(cpu)));
}

#[test]
fn a_name_of_this_machine_is_an_address() {
    let server = Server::start_with(&["--memory", "--listen", "localhost:0"]);
    assert_eq!(server.query("SELECT 1"), ["1"]);
    let refused = run(&["serve", "--memory", "--listen", "localhost"], b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("such as 127.0.0.1:4280"), "{}", refused.stderr);
}

#[test]
fn a_clean_stop_keeps_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (round, signal) in [Signal::TERM, Signal::INT, Signal::TERM].into_iter().enumerate() {
        let server = Server::start(folder.path());
        if round > 0 {
            let recovered = format!("recovered {round} row");
            assert!(server.announcement.contains(&recovered), "{}", server.announcement);
        }
        server.log(&["t"], &format!("{{\"round\": {round}}}\n"));
        assert!(server.process.stop(signal).success());
    }
    let server = Server::start(folder.path());
    assert_eq!(server.query("SELECT round FROM t ORDER BY round"), ["0", "1", "2"]);
}

#[test]
fn a_terminal_that_is_closed_stops_a_server_that_was_not_started_to_outlive_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let args = ["serve", "--data", path, "--listen", "127.0.0.1:0", "--leaves", "1"];
    let server = Server::by(hadal_with_signal("--default-signal=HUP", &args));
    server.log(&["t"], "{\"a\": 1}\n");
    server.process.send(Signal::HUP);
    server.process.wait_for_error("stopping: SIGHUP");
    assert!(server.process.wait().success());
    // As `nohup` does.
    let server = Server::by(hadal_with_signal("--ignore-signal=HUP", &args));
    assert!(server.announcement.contains("recovered 1 row"), "{}", server.announcement);
    server.process.send(Signal::HUP);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    server.process.send(Signal::TERM);
    server.process.wait_for_error("stopping: SIGTERM");
    assert!(server.process.wait().success());
}

#[test]
fn a_client_stops_a_server_as_a_signal_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.log(&["t"], "{\"a\": 1}\n");
    let stopped = server.run(&["stop"], b"");
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, ""));
    assert!(stopped.stderr.contains("is stopping"), "{}", stopped.stderr);
    server.process.wait_for_error("stopping: a client said so");
    assert!(server.process.wait().success());
    let gone = run(&["stop", "--server", &server.url], b"");
    assert_eq!(gone.code, 1, "{}", gone.stderr);
    let server = Server::start(folder.path());
    assert!(server.announcement.contains("recovered 1 row"), "{}", server.announcement);
}

#[test]
fn fewer_leaves_than_before_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = Server::start_with(&["--data", path, "--leaves", "3"]);
    for n in 0..30 {
        assert_eq!(server.post("/v1/log/t", &format!("b{n}"), "{\"a\": 1}\n"), Some(true));
    }
    assert!(server.process.stop(Signal::TERM).success());
    let server = Server::start_with(&["--data", path, "--leaves", "1"]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["30"]);
}

#[test]
fn two_servers_on_one_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = Server::start(folder.path());
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--data", path], b"");
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("in use"), "{}", second.stderr);
    // The first server is not affected.
    server.log(&["t"], "{\"a\": 1}\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_leaf_that_is_a_copy_of_another_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for n in 0..30 {
        assert_eq!(server.post("/v1/log/t", &format!("b{n}"), "{\"a\": 1}\n"), Some(true));
    }
    assert!(server.process.stop(Signal::TERM).success());
    let [leaf, other, aside] = ["leaf-0", "leaf-1", "aside"].map(|name| folder.path().join(name));
    std::fs::rename(&other, &aside).unwrap();
    let copied = Command::new("cp").arg("-r").args([&leaf, &other]).status();
    assert!(copied.unwrap().success());
    let path = folder.path().to_str().unwrap();
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--data", path], b"");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let expected = "leaf-0 and leaf-1 are one folder and a copy of it";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    std::fs::remove_dir_all(&other).unwrap();
    std::fs::rename(&aside, &other).unwrap();
    let server = Server::start(folder.path());
    assert_eq!(server.query("SELECT count(*) FROM t"), ["30"]);
}

#[test]
fn two_servers_on_one_address_are_refused() {
    let server = Server::start_with(&["--memory"]);
    let address = server.url.strip_prefix("http://").unwrap();
    let second = run(&["serve", "--listen", address, "--memory"], b"");
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains(address), "{}", second.stderr);
}

#[test]
fn memory_keeps_nothing() {
    let server = Server::start_with(&["--memory"]);
    assert!(server.announcement.contains("in memory"), "{}", server.announcement);
    server.log(&["t"], "{\"a\": 1}\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    assert!(server.process.stop(Signal::TERM).success());
}

#[test]
fn a_wide_bind_needs_a_token_and_gets_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let refused = run(&["serve", "--listen", "0.0.0.0:0", "--data", path], b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--no-tls"), "{}", refused.stderr);
    let server = Server::start_with(&["--data", path, "--no-tls", "--listen", "0.0.0.0:0"]);
    let refused = server.run(&["query", "SELECT 1"], b"");
    assert_eq!(refused.code, 1, "{refused:?}");
    let token = std::fs::read_to_string(folder.path().join("admin-token")).unwrap();
    let admitted = server.run(&["query", "SELECT 1", "--token", token.trim()], b"");
    assert_eq!(admitted.code, 0, "{admitted:?}");
}

#[test]
fn the_default_folder_is_the_users_own() {
    let home = tempfile::tempdir().unwrap();
    let mut command = hadal(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("XDG_DATA_HOME", home.path());
    let process = crate::harness::Running::start(command);
    process.wait_for_output("http://");
    assert!(home.path().join("hadal/leaf-0").is_dir());
}

#[test]
fn inspect_shows_what_a_server_or_a_folder_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = Server::start(folder.path());
    server.log(&["t"], "{\"a\": 1, \"s\": \"x\"}\n{\"a\": 2}\n");
    let busy = run(&["inspect", "t", "--data", path], b"");
    assert_eq!(busy.code, 1);
    assert!(busy.stderr.contains("in use"), "{}", busy.stderr);
    let asked = server.run(&["inspect", "t", "--blocks"], b"");
    assert!(server.process.stop(Signal::TERM).success());
    let looked = run(&["inspect", "t", "--data", path, "--blocks"], b"");
    for inspected in [asked, looked] {
        assert_eq!(inspected.code, 0, "{}", inspected.stderr);
        for expected in
            ["table t: 2 rows", "a (number): 2 rows", "s (string): 1 row", "block of 2 rows"]
        {
            assert!(
                inspected.stdout.contains(expected),
                "{expected} is not in {}",
                inspected.stdout
            );
        }
    }
    let missing = run(&["inspect", "nothing", "--data", path], b"");
    assert_eq!(missing.code, 2);
}

/// A folder and all files below it.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => paths.extend(tree(&entry.path())),
            false => paths.push(entry.path()),
        }
    }
    paths
}

#[test]
fn what_is_kept_is_its_users_own() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("new/data");
    let args = ["serve", "--listen", "127.0.0.1:0", "--data", folder.to_str().unwrap()];
    let server = Server::by(hadal_after("umask 000", &args));
    server.log(&["t"], "{\"a\": 1}\n");
    let made = tree(&scratch.path().join("new"));
    assert!(made.iter().filter(|path| path.is_file()).count() > 4, "{made:?}");
    for path in made {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn root_is_warned_once() {
    let server = Server::start_with(&["--memory"]);
    let address = server.url.strip_prefix("http://").unwrap();
    // A server that ends by itself, so that its output is complete.
    let said = run(&["serve", "--listen", address, "--memory"], b"").stderr;
    let warnings = said.lines().filter(|line| line.contains("runs as root")).count();
    assert_eq!(warnings, usize::from(geteuid().is_root()), "{said}");
}

/// Opens a connection that stays open, and reads the first status line on it.
fn knock(server: &Server) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    // Shorter than the timeout of an idle connection, so that no connection is freed by that.
    stream.set_read_timeout(Some(Duration::from_secs(IDLE_SECONDS / 2))).unwrap();
    // A refused connection may be closed before it has sent its request.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut first = [0; "HTTP/1.1 200".len()];
    let status = match stream.read_exact(&mut first) {
        Ok(()) => String::from_utf8(first.to_vec()).unwrap(),
        Err(_) => "closed".to_owned(),
    };
    (stream, status)
}

#[test]
fn connections_leave_files_to_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let args = ["serve", "--listen", "127.0.0.1:0", "--leaves", "2", "--data", path];
    let server = Server::by(hadal_after("ulimit -n 160", &args));
    server.process.wait_for_error("leaves 16 connections at the same time");
    let mut inside: Vec<TcpStream> = Vec::new();
    // The remainder after 128 for the process, and 8 for each leaf.
    for _ in 0..160 - 128 - 2 * 8 {
        let (stream, status) = knock(&server);
        assert_eq!(status, "HTTP/1.1 200", "connection {}", inside.len() + 1);
        inside.push(stream);
    }
    // Refused connections hold no more files than are left for them.
    let outside: Vec<(TcpStream, String)> = (0..200).map(|_| knock(&server)).collect();
    assert_eq!(outside[0].1, "HTTP/1.1 503");
    assert!(outside.iter().all(|(_, status)| ["HTTP/1.1 503", "closed"].contains(&&**status)));
    // A new table needs files of its own.
    let mut stream = inside.pop().unwrap();
    let rows = "{\"a\": 1}\n";
    let head = "POST /v1/log/t HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{rows}", rows.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"accepted\":1"), "{answer}");
}

#[test]
fn the_limit_of_open_files_is_raised_as_far_as_it_may_be() {
    let args = ["serve", "--listen", "127.0.0.1:0", "--memory"];
    let server = Server::by(hadal_after("ulimit -Sn 100 && ulimit -Hn 1000", &args));
    server.process.wait_for_error("leaves 872 connections at the same time");
    let inside: Vec<(TcpStream, String)> = (0..300).map(|_| knock(&server)).collect();
    assert!(inside.iter().all(|(_, status)| status == "HTTP/1.1 200"));
}
