//! Starts the binary and waits for its output: never for an amount of time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything that a test waits for.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// The binary with these arguments, and without the user's settings.
pub(crate) fn hadal(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hadal"));
    command.args(args);
    without_settings(command)
}

/// The Python with the packages of `tests/python-requirements.txt`.
pub(crate) fn python() -> Option<String> {
    std::env::var("HADAL_TEST_PYTHON").ok().filter(|python| !python.is_empty())
}

/// The same, started by a shell after another command: `ulimit -n 100`.
pub(crate) fn hadal_after(first: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{first} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_hadal")]).args(args);
    without_settings(command)
}

/// The same, with a signal handled by this option of coreutils' `env`, independent of the test
/// runner's handling.
pub(crate) fn hadal_with_signal(option: &str, args: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args([option, env!("CARGO_BIN_EXE_hadal")]).args(args);
    without_settings(command)
}

fn without_settings(mut command: Command) -> Command {
    command.stdin(Stdio::null());
    for name in [
        "HADAL_LISTEN",
        "HADAL_PG_LISTEN",
        "HADAL_DATA",
        "HADAL_SERVER",
        "HADAL_TOKEN",
        "HOME",
        "XDG_DATA_HOME",
    ] {
        command.env_remove(name);
    }
    command
}

/// The result of a finished command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary to its end.
pub(crate) fn run(args: &[&str], input: &[u8]) -> Finished {
    finish(hadal(args), input)
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Finished {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The process may end without reading.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running process and its output lines.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts a command.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Waits for the next line on standard output that contains `text`.
    pub(crate) fn wait_for_output(&self, text: &str) -> String {
        wait_for(&self.stdout, text).unwrap_or_else(|output| {
            let said: Vec<String> = self.stderr.iter().collect();
            panic!("there is no {text:?} in {output:#?}; it said {said:#?}")
        })
    }

    /// Waits for the next line on standard error that contains `text`.
    pub(crate) fn wait_for_error(&self, text: &str) -> String {
        wait_for(&self.stderr, text)
            .unwrap_or_else(|output| panic!("there is no {text:?} in {output:#?}"))
    }

    /// Writes to its standard input.
    pub(crate) fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Closes its standard input.
    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal, and waits until the process has ended.
    pub(crate) fn stop(self, signal: Signal) -> ExitStatus {
        self.send(signal);
        self.wait()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until the process has ended by itself.
    pub(crate) fn wait(mut self) -> ExitStatus {
        // Its output ends when the process does.
        let is_over = loop {
            match self.stdout.recv_timeout(DEADLINE) {
                Ok(_) => {}
                Err(error) => break error == RecvTimeoutError::Disconnected,
            }
        };
        assert!(is_over, "it does not end");
        self.child.wait().unwrap()
    }

    /// Kills the process at once, as a crash would.
    pub(crate) fn kill_now(&self) {
        kill_process(self.pid(), Signal::KILL).unwrap();
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // The test may have stopped reading.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Returns the next line with `text` in it, or all lines if none has it.
fn wait_for(lines: &Receiver<String>, text: &str) -> Result<String, Vec<String>> {
    let mut others = Vec::new();
    loop {
        match lines.recv_timeout(DEADLINE) {
            Ok(line) if line.contains(text) => return Ok(line),
            Ok(line) => others.push(line),
            Err(_) => return Err(others),
        }
    }
}

/// A server and its address.
pub(crate) struct Server {
    pub(crate) process: Running,
    pub(crate) url: String,
    pub(crate) announcement: String,
}

impl Server {
    /// Serves a data folder on a free port.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(&["--data", folder.to_str().unwrap(), "--leaves", "2"])
    }

    /// Serves with these flags, on a free port unless they name an address.
    pub(crate) fn start_with(flags: &[&str]) -> Self {
        let listen = ["--listen", "127.0.0.1:0"];
        let listen = if flags.contains(&listen[0]) { &[][..] } else { &listen };
        Self::by(hadal(&[&["serve"], listen, flags].concat()))
    }

    /// A server that a command starts.
    pub(crate) fn by(command: Command) -> Self {
        let process = Running::start(command);
        let announcement = process.wait_for_output("http://");
        Self { url: url_in(&announcement), process, announcement }
    }

    /// Runs a client command against it.
    pub(crate) fn run(&self, args: &[&str], input: &[u8]) -> Finished {
        run(&[args, &["--server", &self.url]].concat(), input)
    }

    /// Returns the answer to a query as CSV without its head. The query must succeed.
    pub(crate) fn query(&self, sql: &str) -> Vec<String> {
        let finished = self.run(&["query", "--format", "csv", sql], b"");
        assert_eq!(finished.code, 0, "{sql}: {}", finished.stderr);
        finished.stdout.lines().skip(1).map(str::to_owned).collect()
    }

    /// Logs lines. The command must succeed. Returns its messages.
    pub(crate) fn log(&self, args: &[&str], input: &str) -> String {
        let finished = self.run(&[&["log"], args].concat(), input.as_bytes());
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        finished.stderr
    }

    /// Posts CSV. Returns the answer, which must be a success.
    pub(crate) fn post_csv(&self, table: &str, body: &[u8]) -> serde_json::Value {
        self.post_with(table, "Content-Type: text/csv\r\n", body)
    }

    /// Posts JSON. Returns the answer, which must be a success.
    pub(crate) fn post_json(&self, table: &str, body: &[u8]) -> serde_json::Value {
        self.post_with(table, "Content-Type: application/json\r\n", body)
    }

    /// Posts a body with rows of any age. Returns the answer, which must be a success.
    pub(crate) fn post_with(&self, table: &str, headers: &str, body: &[u8]) -> serde_json::Value {
        let path = format!("/v1/log/{table}");
        let headers = format!("{headers}Hadal-Any-Age: true\r\n");
        let (status, answer) = exchange(&self.url, &path, &headers, body).unwrap();
        assert_eq!(status, "200", "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Posts a file of any format by its name. Returns the status and the body of the answer.
    pub(crate) fn post_file(&self, table: &str, name: &str, body: &[u8]) -> (String, String) {
        let headers = format!("Hadal-Name: {name}\r\nHadal-Any-Age: true\r\n");
        exchange(&self.url, &format!("/v1/log/{table}"), &headers, body).unwrap()
    }

    /// Returns the server's answer to a GET request, with its head.
    pub(crate) fn get(&self, path: &str) -> String {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Returns the status and the body of the answer to a query.
    pub(crate) fn ask(&self, sql: &str) -> (String, String) {
        let body = format!("{{\"sql\": \"{sql}\"}}");
        exchange(&self.url, "/v1/query", "Content-Type: application/json\r\n", body.as_bytes())
            .unwrap()
    }

    /// Posts a batch: see [`post`].
    pub(crate) fn post(&self, path: &str, batch: &str, body: &str) -> Option<bool> {
        post(&self.url, path, batch, body)
    }
}

/// Posts a body. Returns the status and the body of the answer, or `None` if the server is gone.
pub(crate) fn exchange(
    url: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> Option<(String, String)> {
    let address = url.strip_prefix("http://").unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    exchange_raw(url, &[head.as_bytes(), body].concat())
}

/// Sends the bytes of a request. Returns the status and the body of the answer, or `None` if the
/// server is gone.
pub(crate) fn exchange_raw(url: &str, request: &[u8]) -> Option<(String, String)> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()))
}

/// Runs a query with a deadline of `deadline_ms`. Returns the status and the body of the answer.
pub(crate) fn try_ask(url: &str, sql: &str, deadline_ms: u64) -> Option<(String, String)> {
    let body = serde_json::json!({ "sql": sql, "deadline_ms": deadline_ms }).to_string();
    exchange(url, "/v1/query", "Content-Type: application/json\r\n", body.as_bytes())
}

/// Posts a batch. Returns whether it was acknowledged, or `None` if the server is gone.
pub(crate) fn post(url: &str, path: &str, batch: &str, body: &str) -> Option<bool> {
    let headers = format!("Hadal-Batch: {batch}\r\nContent-Type: application/x-ndjson\r\n");
    exchange(url, path, &headers, body.as_bytes()).map(|(status, _)| status == "200")
}

/// The URL in a line.
pub(crate) fn url_in(line: &str) -> String {
    let url = &line[line.find("http://").unwrap()..];
    url.split_whitespace().next().unwrap().to_owned()
}
