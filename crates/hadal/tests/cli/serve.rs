//! Starting and stopping servers.

use rustix::process::Signal;

use crate::harness::{Server, hadal, run};

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
    // The first one is none the worse for it.
    server.log(&["t"], "{\"a\": 1}\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
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
    for found in [asked, looked] {
        assert_eq!(found.code, 0, "{}", found.stderr);
        for expected in
            ["table t: 2 rows", "a (number): 2 rows", "s (string): 1 row", "block of 2 rows"]
        {
            assert!(found.stdout.contains(expected), "{expected} is not in {}", found.stdout);
        }
    }
    let missing = run(&["inspect", "nothing", "--data", path], b"");
    assert_eq!(missing.code, 2);
}
