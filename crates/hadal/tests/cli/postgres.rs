//! PostgreSQL clients as people have them: psql, psycopg, SQLAlchemy, pandas.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::harness::{Finished, Running, finish, hadal, python, run};

/// The line that names the door, before the address.
const DOOR: &str = "PostgreSQL clients connect to ";
/// The time of the first row, and of all others.
const ROWS: &str = r#"{"time": "2026-11-20T10:00:00Z", "host": "a", "status": 200, "ok": true, "tags": {"$set": ["x", "y"]}, "ms": 1.5}
{"time": "2026-11-20T10:00:30Z", "host": "a", "status": 500, "ok": false, "ms": 2.5}
{"time": "2026-11-20T10:01:00Z", "host": "b", "status": 200, "ok": true, "ms": 10}
"#;

/// A server with three rows, and its doors.
pub(crate) struct Server {
    running: Running,
    http: String,
    pub(crate) host: String,
    pub(crate) port: String,
}

impl Server {
    pub(crate) fn start(more: &[&str]) -> Self {
        // Lists of tables would have self tables or not, as time passes.
        let mut args = vec!["serve", "--memory", "--no-journal", "--listen", "127.0.0.1:0"];
        if !more.contains(&"--pg-listen") {
            args.extend(["--pg-listen", "127.0.0.1:0"]);
        }
        args.extend(more);
        let running = Running::start(hadal(&args));
        let door = running.wait_for_error(DOOR);
        let address = door.rsplit(' ').next().expect("an address").to_owned();
        let line = running.wait_for_output("http://");
        let http = line.split(' ').find(|word| word.starts_with("http://")).expect("a URL");
        let (host, port) = address.rsplit_once(':').expect("a port");
        let server = Self {
            http: http.to_owned(),
            host: host.replace("0.0.0.0", "127.0.0.1"),
            port: port.to_owned(),
            running,
        };
        let logged = run(&["log", "requests", "--server", &server.http], ROWS.as_bytes());
        assert_eq!(logged.code, 0, "{}", logged.stderr);
        server
    }

    /// Runs psql with commands from its standard input.
    fn psql(&self, flags: &[&str], commands: &str) -> Finished {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-v", "ON_ERROR_STOP=1", "-h", &self.host, "-p", &self.port]);
        psql.args(["-U", "me", "-d", "hadal"]).args(flags);
        psql.env("PGCONNECT_TIMEOUT", "60").env("LC_ALL", "C");
        finish(psql, commands.as_bytes())
    }

    /// The output of a psql that must succeed, without alignment and headings.
    #[track_caller]
    fn psql_output(&self, commands: &str) -> String {
        let finished = self.psql(&["-A", "-t"], commands);
        assert_eq!(finished.code, 0, "{commands}: {}{}", finished.stdout, finished.stderr);
        finished.stdout
    }

    pub(crate) fn stop(self) {
        assert!(self.running.stop(Signal::TERM).success());
    }
}

pub(crate) fn has(program: &str) -> bool {
    // openssl has a command instead of a flag.
    ["--version", "version"].iter().any(|version| {
        let mut command = Command::new(program);
        command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

#[test]
fn psql_queries_and_describes() {
    if !has("psql") {
        return println!("skipped: needs psql");
    }
    let server = Server::start(&[]);
    let counted = "SELECT host, count(*), avg(ms) FROM requests GROUP BY host ORDER BY host;";
    assert_eq!(server.psql_output(counted), "a|2|2\nb|1|10\n");
    let newest = "SELECT time, ok, status, ms, tags FROM requests ORDER BY time LIMIT 1;";
    assert_eq!(server.psql_output(newest), "2026-11-20 10:00:00+00|t|200|1.5|{x,y}\n");
    let zone = format!("SET TIME ZONE 'Europe/Berlin'; {newest}");
    assert!(server.psql_output(&zone).contains("2026-11-20 11:00:00+01|"), "{zone}");
    let several = "SELECT 1; SHOW tables;\nBEGIN; SELECT 2; COMMIT;";
    assert!(server.psql_output(several).contains("requests"));
    let tables = server.psql_output("\\dt\n");
    assert_eq!(tables, "public|requests|table|me\n");
    let columns = server.psql_output("\\d requests\n");
    assert!(columns.contains("status|numeric|") && columns.contains("tags|text[]|"), "{columns}");
    assert!(server.psql_output("\\l\n").contains("hadal|me|UTF8"));
    assert!(server.psql_output("\\dn\n").contains("public"));
    assert!(server.psql_output("\\d\n").contains("requests"));
    server.stop();
}

#[test]
fn psql_shows_errors_where_they_are() {
    if !has("psql") {
        return println!("skipped: needs psql");
    }
    let server = Server::start(&[]);
    let failed = server.psql(&[], "SELECT 1;\nSELECT nope FROM requests;\n");
    assert_eq!(failed.code, 3);
    assert!(failed.stderr.contains("has no column nope"), "{}", failed.stderr);
    let lines: Vec<&str> = failed.stderr.lines().collect();
    let mark = lines.iter().position(|line| line.trim() == "^").expect("a mark");
    let (text, caret) = (lines[mark - 1], lines[mark].find('^').expect("a mark"));
    assert!(text[caret..].starts_with("nope"), "{}", failed.stderr);
    let unknown = server.psql(&["-v", "VERBOSITY=verbose"], "SELECT * FROM requestz;\n");
    assert!(unknown.stderr.contains("42P01"), "{}", unknown.stderr);
    let join = server.psql(&[], "SELECT * FROM requests a JOIN requests b ON true;\n");
    assert!(join.stderr.contains("Hadal has no joins"), "{}", join.stderr);
    assert!(join.stderr.contains("HINT"), "{}", join.stderr);
    server.stop();
}

#[test]
fn psql_writes_rows() {
    if !has("psql") {
        return println!("skipped: needs psql");
    }
    let server = Server::start(&[]);
    let commands =
        "INSERT INTO events (time, host, n) VALUES (now(), 'it''s', 1), (now(), 'b', 2.5);
COPY events (time, host, n) FROM STDIN;
2026-11-20 10:00:00\tc\\td\t3
2026-11-20 10:00:00\t\\N\t4
\\.
COPY events (time, host, n) FROM STDIN WITH (FORMAT csv);
2026-11-20 10:00:00,\"x,y\",5
\\.
SELECT host, n FROM events ORDER BY n;
";
    let written = server.psql_output(commands);
    let expected = "INSERT 0 2\nCOPY 2\nCOPY 1\nit's|1\nb|2.5\nc\td|3\n|4\nx,y|5\n";
    assert_eq!(written, expected);
    assert_eq!(
        server.psql_output("DROP TABLE events; DROP TABLE IF EXISTS nope;"),
        "DROP TABLE\nDROP TABLE\n"
    );
    let gone = server.psql(&[], "SELECT * FROM events;\n");
    assert!(gone.stderr.contains("there is no table events"), "{}", gone.stderr);
    server.stop();
}

#[test]
fn a_door_for_other_machines_asks_for_the_token() {
    if !has("psql") {
        return println!("skipped: needs psql");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    let file_name = file.to_str().expect("UTF-8");
    let args = ["--pg-listen", "0.0.0.0:0", "--no-tls", "--token-file", file_name];
    let server = Server::start(&args);
    let token = std::fs::read_to_string(Path::new(&file)).expect("a token");
    let connect = |password: &str| {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-A", "-t", "-h", &server.host, "-p", &server.port, "-U", "me"]);
        psql.args(["-d", "hadal", "-c", "SELECT count(*) FROM requests"]);
        finish(with_password(psql, password), b"")
    };
    assert_eq!(connect(token.trim()).stdout, "3\n");
    let refused = connect("wrong");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("password authentication failed"), "{}", refused.stderr);
    server.stop();
}

fn with_password(mut command: Command, password: &str) -> Command {
    command.env("PGPASSWORD", password);
    command
}

/// A certificate for 127.0.0.1 and its key, made by openssl.
fn certificate(folder: &Path) -> (String, String) {
    let name = |file: &str| folder.join(file).to_str().expect("UTF-8").to_owned();
    let (certificate, key) = (name("certificate.pem"), name("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    openssl.args(["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]);
    openssl.args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", &key, "-out", &certificate]);
    let made = finish(openssl, b"");
    assert_eq!(made.code, 0, "{}", made.stderr);
    (certificate, key)
}

#[test]
fn psql_verifies_the_certificate() {
    if !has("psql") || !has("openssl") {
        return println!("skipped: needs psql and openssl");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = certificate(folder.path());
    let server = Server::start(&["--pg-certificate", &certificate, "--pg-key", &key]);
    let connect = |mode: &str, root: &str| {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-A", "-t", "-h", &server.host, "-p", &server.port, "-U", "me"]);
        psql.args(["-d", "hadal", "-c", "SELECT count(*) FROM requests"]);
        psql.env("PGSSLMODE", mode).env("PGSSLROOTCERT", root);
        finish(psql, b"")
    };
    let verified = connect("verify-full", &certificate);
    assert_eq!(verified.stdout, "3\n", "{}", verified.stderr);
    assert_eq!(connect("require", "/nowhere").stdout, "3\n");
    let unknown = connect("verify-full", "/nowhere");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{}", unknown.stderr);
    server.stop();
}

#[test]
fn psql_explains() {
    if !has("psql") {
        return println!("skipped: needs psql");
    }
    let server = Server::start(&[]);
    let finished = server.psql(&[], "EXPLAIN SELECT host, count(*) FROM requests GROUP BY host;\n");
    assert!(finished.stdout.contains("QUERY PLAN"), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("Scan of requests"), "{}", finished.stdout);
    let analyzed = server.psql_output("EXPLAIN (ANALYZE, COSTS off) SELECT max(ms) FROM requests;");
    assert!(analyzed.contains("Leaf leaf-0: answered"), "{analyzed}");
    server.stop();
}

#[test]
fn python_reads_and_writes() {
    let Some(python) = python() else { return println!("skipped: needs python packages") };
    let server = Server::start(&[]);
    let mut command = Command::new(python);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/postgres.py");
    command.arg(program).args([&server.host, &server.port]);
    let finished = finish(command, b"");
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.stdout.trim(), "fine");
    server.stop();
}
