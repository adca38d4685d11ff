//! A long body in bounded memory, as `curl -T` sends it.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::client::read_reply;
use crate::fakes::{FakeLeaf, FakeSink};
use crate::server::{Server, backend_of};

/// The variable that is set in the process whose memory is measured.
const ALONE: &str = "HADAL_TEST_ALONE";
/// Bytes of the body.
const BODY_BYTES: usize = 64 << 20;
/// The maximum growth of the process's peak memory.
const GROWTH_BYTES_MAX: u64 = 48 << 20;

/// Other tests of this program use memory too, so the work is done in a separate process.
#[test]
fn a_long_body_takes_little_memory() {
    if std::env::var_os(ALONE).is_some() {
        return send_a_long_body();
    }
    let program = std::env::current_exe().expect("a program");
    let output = Command::new(program)
        .args(["--exact", "stream::a_long_body_takes_little_memory", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("a process");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("1 passed"), "{stdout}");
}

fn send_a_long_body() {
    let sink = Arc::new(FakeSink::default());
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::clone(&sink) as _);
    let server = Server::over(backend, "127.0.0.1:0", |_| {});
    let before = peak_bytes();
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let head = "PUT /v1/log/t HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("a head");
    let (mut sent, mut row) = (0, 0_u64);
    while sent < BODY_BYTES {
        let mut chunk = String::new();
        while chunk.len() < 64 << 10 {
            let (host, ms) = (row % 1_000, row % 977);
            chunk.push_str(&format!(
                "{{\"service\":\"web\",\"host\":\"host-{host}\",\"ms\":{ms}.5,\"id\":{row}}}\n"
            ));
            row += 1;
        }
        stream.write_all(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes()).expect("a chunk");
        sent += chunk.len();
    }
    stream.write_all(b"0\r\n\r\n").expect("an end");
    assert_eq!(read_reply(&mut stream).ok()["accepted"], row);
    assert_eq!(sink.rows.load(Ordering::SeqCst) as u64, row);
    let growth = peak_bytes() - before;
    assert!(growth < GROWTH_BYTES_MAX, "{} MiB more for {} MiB", growth >> 20, sent >> 20);
}

/// The peak memory of this process.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib << 10
}
