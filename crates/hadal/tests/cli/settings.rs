//! `hadal settings`, and the definitions over restarts.

use rustix::process::Signal;

use crate::harness::{Server, finish, hadal};

#[test]
fn settings_are_shown_changed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let show = |server: &Server, args: &[&str]| {
        let finished = server.run(&[&["settings", "t"], args].concat(), b"");
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        finished.stdout
    };
    assert!(show(&server, &[]).starts_with("table t: not there yet\n"));
    server.log(&["t"], "{\"a\": 1}\n");
    let shown = show(&server, &[]);
    assert!(shown.contains("age           30d         default"), "{shown}");
    assert!(shown.contains("time_column   time        default"), "{shown}");
    assert!(shown.contains("next expiry: nothing, at "), "{shown}");
    assert!(shown.contains("cold_after    none        default"), "{shown}");
    let shown = show(&server, &["age=7d", "bytes=2GB", "cold_after=72h"]);
    assert!(shown.contains("age           7d          set"), "{shown}");
    let sampling =
        ["sample_after=4d", "sample_keep=0.05", "sample_by=host,service", "sample_least=9"];
    let shown = show(&server, &sampling);
    for line in [
        "sample_after  4d          set",
        "sample_by     host,service  set",
        "sample_keep   1/20        set",
        "sample_least  9           set",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(server.process.stop(Signal::TERM).success());
    let data = folder.path().to_str().unwrap();
    let server = Server::start_with(&["--data", data, "--memory-max", "7GiB"]);
    let shown = show(&server, &["bytes=default"]);
    assert!(shown.contains("age           7d          set"), "{shown}");
    assert!(shown.contains("bytes         3GiB        default"), "{shown}");
    assert!(shown.contains("cold_after    3d          set"), "{shown}");
    assert!(shown.contains("sample_by     host,service  set"), "{shown}");
    let shown = show(&server, &["sample_by=default", "sample_keep=default"]);
    assert!(shown.contains("sample_by     -           default"), "{shown}");
    assert!(shown.contains("sample_keep   1/10        default"), "{shown}");
    let refused = server.run(&["settings", "t", "sample_key=user"], b"");
    assert_eq!(refused.code, 2);
    let expected =
        "sample_key: rows are kept by key or by group, not both; unset it, or sample_least";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    let shown = show(&server, &["sample_key=user", "sample_least=default"]);
    assert!(shown.contains("sample_key    user        set"), "{shown}");
    let shown = show(&server, &["units=took:ms,rate:per second"]);
    assert!(shown.contains("units         rate:per second,took:ms  set"), "{shown}");
    let refused = server.run(&["settings", "t", "units=took:meters"], b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("units: took: \"meters\" is no unit"), "{}", refused.stderr);
    let status = server.run(&["status"], b"");
    assert!(status.stdout.contains("none older than 7 days"), "{}", status.stdout);
    let refused = server.run(&["settings", "t", "age=soon"], b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("age: \"soon\" is no age; write 30d"), "{}", refused.stderr);
    let refused = server.run(&["settings", "t", "age=9d", "bytes=1GB", "age=8d"], b"");
    assert_eq!(refused.code, 2);
    let expected = "age is set twice, to 9d and to 8d; say it once";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(show(&server, &[]).contains("age           7d          set"), "nothing was set");
}

#[test]
fn definitions_that_are_gone_are_made_of_what_leaves_remember() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("definitions.sqlite");
    let server = Server::start(folder.path());
    server.log(&["t"], "{\"a\": 1}\n");
    assert_eq!(server.run(&["settings", "t", "age=9d"], b"").code, 0);
    assert!(server.process.stop(Signal::TERM).success());
    std::fs::remove_file(&file).unwrap();
    let server = Server::start(folder.path());
    let shown = server.run(&["settings", "t"], b"").stdout;
    assert!(shown.contains("age           9d          set"), "{shown}");
    assert!(file.is_file());
}

#[test]
fn a_server_without_its_definitions_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("definitions.sqlite");
    assert!(Server::start(folder.path()).process.stop(Signal::TERM).success());
    std::fs::write(&file, "not a database, however long it may be").unwrap();
    let path = folder.path().to_str().unwrap();
    let start = |flags: &[&str]| {
        finish(hadal(&[&["serve", "--listen", "127.0.0.1:0", "--data", path], flags].concat()), b"")
    };
    let refused = start(&[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let expected = "definitions.sqlite are damaged: ";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(refused.stderr.contains("the server does not start"), "{}", refused.stderr);
    // No process listens on this port.
    let nowhere = "postgres://ada:secret@127.0.0.1:1/hadal";
    let refused = start(&["--definitions", nowhere]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("postgres://127.0.0.1:1/hadal"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
    let elsewhere = format!("sqlite:{}", folder.path().join("other.sqlite").display());
    let server = Server::start_with(&["--data", path, "--definitions", &elsewhere]);
    server.process.wait_for_error("starting with new definitions: ");
    assert!(server.process.stop(Signal::TERM).success());
    assert_eq!(start(&["--definitions", "mysql://h/d"]).code, 2);
}

#[test]
fn only_a_server_with_an_archive_takes_tables_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = Server::start(folder.path());
    let shown = server.run(&["settings", "t"], b"").stdout;
    let line = "archive       off         default  rows are dropped; this server has no archive";
    assert!(shown.contains(line), "{shown}");
    let refused = server.run(&["settings", "t", "archive=on"], b"");
    assert_ne!(refused.code, 0);
    let expected = "this server has no archive; start it with --archive PLACE";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(server.process.stop(Signal::TERM).success());

    let show = |server: &Server, args: &[&str]| {
        server.run(&[&["settings", "t"], args].concat(), b"").stdout
    };
    let old = folder.path().join("old");
    std::fs::create_dir(&old).unwrap();
    let server = Server::start_with(&["--data", path, "--archive", old.to_str().unwrap()]);
    let shown = show(&server, &["archive=on"]);
    let place = old.canonicalize().unwrap();
    let line = format!(
        "archive       on          set      rows go to the archive first: {}",
        place.display()
    );
    assert!(shown.contains(&line), "{shown}");
    assert!(server.process.stop(Signal::TERM).success());

    let server = Server::start(folder.path());
    let shown = server.run(&["settings", "t"], b"").stdout;
    let note = "note: archive=on: this server has no archive, so no rows are dropped";
    assert!(shown.contains(note), "{shown}");
    let shown = show(&server, &["age=8d"]);
    assert!(shown.contains("age           8d          set") && shown.contains(note), "{shown}");
    for (place, expected) in [
        ("gs://old", "gs:// is not known"),
        ("s3://", "names no bucket"),
        ("s3://ada:secret@old", "user part"),
    ] {
        let refused = finish(hadal(&["serve", "--data", path, "--archive", place]), b"");
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
    }
    let almost = ["serve", "--data", path, "--definitions", "postgres:ada:secret@h"];
    let refused = finish(hadal(&almost), b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is no place for definitions"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
}

#[test]
fn an_archive_that_is_not_there_is_told_of_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let (data, old) = (folder.path().join("data"), folder.path().join("old"));
    let flags = ["--data", data.to_str().unwrap(), "--archive", old.to_str().unwrap()];
    let server = Server::start_with(&flags);
    let expected = format!("there is no folder {}", old.display());
    let warning = server.process.wait_for_error("the archive CANNOT BE WRITTEN: ");
    assert!(warning.contains(&expected), "{warning}");
    assert!(warning.ends_with("rows of tables with archive=on stay until it can be"), "{warning}");
    let set = server.run(&["settings", "t", "archive=on"], b"");
    assert_eq!(set.code, 0, "{}", set.stderr);
    let status = server.run(&["status"], b"").stdout;
    assert!(status.contains("CANNOT BE WRITTEN: ") && status.contains(&expected), "{status}");
    assert!(server.process.stop(Signal::TERM).success());
    assert!(!old.exists());

    std::fs::create_dir(&old).unwrap();
    let server = Server::start_with(&flags);
    let status = server.run(&["status"], b"").stdout;
    assert!(status.contains(&format!("archive: {}\n", old.display())), "{status}");
}
