//! Clients of PostgreSQL in other languages: node-postgres, pgJDBC, PDO, libpqxx. Each is a program
//! in `tests/postgres`, and is skipped where its language or library is missing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::finish;
use crate::postgres::{Server, has};

/// The programs of the clients.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/postgres").join(name)
}

/// The folder with node-postgres and pgJDBC, as `make/postgres-clients` fills it.
fn libraries() -> Option<PathBuf> {
    let folder = std::env::var_os("HADAL_TEST_POSTGRES_CLIENTS").filter(|name| !name.is_empty());
    folder.map(PathBuf::from)
}

/// Runs the client on a server with three rows.
#[track_caller]
fn is_fine(mut client: Command) {
    let server = Server::start(&[]);
    client.args([&server.host, &server.port]);
    let finished = finish(client, b"");
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.stdout.trim(), "fine");
    server.stop();
}

#[test]
fn node_postgres_reads_and_writes() {
    let Some(libraries) = libraries().filter(|folder| folder.join("node_modules/pg").is_dir())
    else {
        return println!("skipped: needs node-postgres");
    };
    let mut client = Command::new("node");
    client.arg(program("client.cjs")).env("NODE_PATH", libraries.join("node_modules"));
    is_fine(client);
}

#[test]
fn jdbc_reads_in_parts_and_writes() {
    let jar = libraries().map(|folder| folder.join("postgresql.jar")).filter(|jar| jar.is_file());
    let Some(jar) = jar.filter(|_| has("javac")) else {
        return println!("skipped: needs pgJDBC");
    };
    let mut client = Command::new("java");
    client.arg("-cp").arg(jar).arg(program("Client.java"));
    is_fine(client);
}

#[test]
fn pdo_reads_and_writes() {
    let mut modules = Command::new("php");
    modules.arg("-m").stdin(Stdio::null());
    if !has("php") || !finish(modules, b"").stdout.contains("pdo_pgsql") {
        return println!("skipped: needs pdo_pgsql");
    }
    let mut client = Command::new("php");
    client.arg(program("client.php"));
    is_fine(client);
}

#[test]
fn libpqxx_reads_and_writes() {
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "libpqxx"]);
    let is_there = has("pkg-config") && has("c++");
    let flags = is_there.then(|| finish(flags, b"")).filter(|flags| flags.code == 0);
    let Some(flags) = flags else { return println!("skipped: needs libpqxx") };
    let folder = tempfile::tempdir().expect("a folder");
    let built = folder.path().join("client");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-o"]).arg(&built).arg(program("client.cpp"));
    compiler.args(flags.stdout.split_whitespace());
    let compiled = finish(compiler, b"");
    assert_eq!(compiled.code, 0, "{}", compiled.stderr);
    is_fine(Command::new(built));
}
