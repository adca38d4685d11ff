//! A separate PostgreSQL server of the test, in a temporary folder, reached by a socket there.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hadal_definitions::{DefinitionStore, Definitions, DefinitionsError, Location};

use super::{days, runtime, table, versions};

/// Debian's folder of the programs, besides the search path.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The user and group "nobody": PostgreSQL does not run as root.
const NOBODY: u32 = 65_534;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    pg_ctl: PathBuf,
}

impl Server {
    /// Starts one; `None` if its programs are missing.
    pub(crate) fn start() -> Option<Self> {
        let (initdb, pg_ctl) = (program("initdb")?, program("pg_ctl")?);
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let is_root = folder.path().metadata().expect("facts").uid() == 0;
        if is_root {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        let server = Self { folder, pg_ctl };
        let data = server.data();
        let init = ["-A", "trust", "-U", "hadal", "-N", "-E", "UTF8", "-D"];
        server.run(&initdb, init, &[&data]);
        let socket = server.folder.path().display().to_string();
        let options = format!("-c listen_addresses='' -c fsync=off -k {socket}");
        let log = server.folder.path().join("log");
        let start = ["-w", "-s", "-o", &options, "-l"];
        server.run(&server.pg_ctl, start, &[&log, Path::new("-D"), &data, Path::new("start")]);
        Some(server)
    }

    pub(crate) fn location(&self) -> Location {
        self.url().parse().expect("a location")
    }

    /// Sends a signal to all processes of the server.
    fn signal(&self, signal: &str) {
        let pid = std::fs::read_to_string(self.data().join("postmaster.pid")).expect("it runs");
        let pid = pid.lines().next().expect("a number").to_owned();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.expect("its children");
        for process in std::iter::once(pid.as_str()).chain(children.split_whitespace()) {
            let sent = Command::new("kill").args([&format!("-{signal}"), process]).status();
            assert!(sent.expect("it runs").success(), "{signal} to {process}");
        }
    }

    fn url(&self) -> String {
        let socket = self.folder.path().display();
        format!("postgres://hadal@localhost/postgres?host={socket}")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    #[track_caller]
    fn run<const N: usize>(&self, program: &Path, arguments: [&str; N], paths: &[&Path]) {
        let mut command = as_owner(self.folder.path(), program);
        let command = command.args(arguments).args(paths).stdin(Stdio::null());
        // Not a pipe: the server would keep it open.
        let output = self.folder.path().join("output");
        let file = std::fs::File::create(&output).expect("a file");
        let error = file.try_clone().expect("a file");
        let status = command.stdout(file).stderr(error).status().expect("it runs");
        let said = std::fs::read_to_string(&output).unwrap_or_default();
        assert!(status.success(), "{}: {said}", program.display());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut command = as_owner(self.folder.path(), &self.pg_ctl);
        let command = command.args(["-m", "immediate", "-w", "-s", "-D"]).arg(self.data());
        // An error here was already reported before.
        let _ = command.arg("stop").stdin(Stdio::null()).stdout(Stdio::null()).status();
    }
}

/// The program, run as the owner of the folder: as root, through `setpriv`.
fn as_owner(folder: &Path, program: &Path) -> Command {
    let is_root = std::fs::metadata("/proc/self").expect("facts").uid() == 0;
    let mut command = if is_root { Command::new("setpriv") } else { Command::new(program) };
    if is_root {
        let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
        command.args([&user, &group, "--clear-groups"]).arg(program);
    }
    command.current_dir(folder);
    command
}

/// A program of the search path, or Debian's latest.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().filter_map(Result::ok);
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[test]
fn a_later_version_is_refused_by_its_number() {
    let Some(server) = Server::start() else { return println!("skipped: needs postgres") };
    runtime().block_on(async {
        drop(Definitions::open(&server.location()).await.expect("opens"));
        sqlx::any::install_default_drivers();
        let pool = sqlx::AnyPool::connect(&server.url()).await.expect("a connection");
        let later = sqlx::query("UPDATE hadal_definitions SET version = 9");
        later.execute(&pool).await.expect("done");
        let error = Definitions::open(&server.location()).await.expect_err("later");
        assert!(matches!(error, DefinitionsError::Newer { version: 9, .. }), "{error:?}");
    });
}

#[test]
fn a_store_of_an_earlier_version_becomes_one_of_the_next() {
    let Some(server) = Server::start() else { return println!("skipped: needs postgres") };
    runtime().block_on(versions::exercise(&server.location(), &server.url()));
}

#[test]
fn many_may_begin_at_the_same_time() {
    let Some(server) = Server::start() else { return println!("skipped: needs postgres") };
    runtime().block_on(async {
        let mut openers = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let location = server.location();
            openers.spawn(async move { Definitions::open(&location).await.map(drop) });
        }
        while let Some(opened) = openers.join_next().await {
            opened.expect("no panic").expect("opens");
        }
    });
}

#[test]
fn a_frozen_server_is_an_error_and_works_again_when_it_thaws() {
    let Some(server) = Server::start() else { return println!("skipped: needs postgres") };
    runtime().block_on(async {
        let store = Definitions::open(&server.location()).await.expect("opens");
        let store: &dyn DefinitionStore = &store;
        store.version().await.expect("read");
        server.signal("STOP");
        let began = Instant::now();
        let error = store.version().await.expect_err("frozen").to_string();
        let asked = began.elapsed();
        server.signal("CONT");
        assert!(
            error.contains("postgres://localhost/postgres: no connection within 4 s"),
            "{error}"
        );
        assert!(asked < Duration::from_secs(20), "{asked:?}");
        store.version().await.expect("read");
    });
}

#[test]
fn a_change_by_one_process_shows_in_the_version_of_all() {
    let Some(server) = Server::start() else { return println!("skipped: needs postgres") };
    runtime().block_on(async {
        let one = Definitions::open(&server.location()).await.expect("opens");
        let other = Definitions::open(&server.location()).await.expect("opens");
        let before = other.version().await.expect("read");
        let set = one.set_table_settings(&table("t"), 0, &days(1)).await.expect("set");
        assert_eq!((other.version().await.expect("read"), set > before), (set, true));
        assert!(other.remove_table_settings(&table("t"), Some(set)).await.expect("removed"));
        assert!(one.version().await.expect("read") > set);
    });
}

#[test]
fn a_server_that_is_not_there_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("postgres://ada:secret@localhost/d?host={}", folder.path().display());
    let location: Location = url.parse().expect("a location");
    let error = runtime().block_on(Definitions::open(&location)).expect_err("nobody there");
    let text = error.to_string();
    assert!(text.contains("postgres://localhost/d"), "{text}");
    assert!(!text.contains("secret") && !text.contains("ada"), "{text}");
}
