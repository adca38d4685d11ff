//! Bytes on the port that no member sends.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hadal_peer::Peer;
use hadal_types::limits::{QUERY_BYTES_MAX, RPC_HEADER_BYTES_MAX};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::fakes::{LONG, TestServer, identity, leaf_name, partial, query};
use crate::call::CallError;
use crate::method::Method;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Sends bytes, and reads what the server answers until it closes the connection.
async fn send(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    // The server may have closed the connection already.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let _ = timeout(Duration::from_secs(20), reading).await.expect("it closes the connection");
    answer
}

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

#[tokio::test]
async fn hostile_bytes_end_their_connection_only() {
    let server = TestServer::start().await;
    let seed = 0x5eed_u64;
    let mut state = seed;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut inputs: Vec<Vec<u8>> =
        (0..40).map(|_| (0..2_000).map(|_| random()).collect()).collect();
    inputs.push(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec());
    inputs.push(Vec::new());
    // The preface, and then noise; a frame of 16 MiB; a reserved stream; endless headers.
    let after = |bytes: &[u8]| [PREFACE, &frame(4, 0, 0, &[]), bytes].concat();
    for _ in 0..40 {
        let noise: Vec<u8> = (0..500).map(|_| random()).collect();
        inputs.push(after(&noise));
    }
    inputs.push(after(&[255, 255, 255, 0, 0, 0, 0, 0, 1]));
    inputs.push(after(&frame(0, 0, 0, b"data for nobody")));
    inputs.push(after(&frame(1, 4, 1, &[0xff; 100])));
    inputs.push(after(&frame(1, 0, 1, &[]).repeat(1_000)));
    inputs.push(after(&frame(9, 0, 1, &[]).repeat(100_000)));
    for input in &inputs {
        send(server.address, input).await;
    }
    let answered = server.leaf().query(query(), Instant::now() + LONG).await;
    assert_eq!(answered, partial(7), "seed {seed}");
}

#[tokio::test]
async fn a_message_beyond_its_limit_is_refused() {
    let server = TestServer::start().await;
    let connection = server.connection(identity("b"));
    for (bytes, is_limit) in [(QUERY_BYTES_MAX, false), (QUERY_BYTES_MAX + 1, true)] {
        let message = vec![255; bytes].into();
        let called = connection.call(Method::Query, Some((&leaf_name()).into()), message).await;
        let error = CallError::from(called.expect_err("no query"));
        assert_eq!(matches!(error, CallError::Limit(_)), is_limit, "{bytes}: {error}");
        assert_eq!(matches!(error, CallError::Failed(_)), !is_limit, "{bytes}: {error}");
    }
}

#[tokio::test]
async fn metadata_beyond_its_limit_is_refused() {
    let server = TestServer::start().await;
    // One header field without indexing, of a name and a value of this many bytes.
    let most = RPC_HEADER_BYTES_MAX as usize;
    let mut block = vec![0x00, 0x01, b'x', 0x7f];
    let mut length = most - 127;
    while length >= 128 {
        block.push(u8::try_from(length % 128).expect("seven bits") | 0x80);
        length /= 128;
    }
    block.push(u8::try_from(length).expect("seven bits"));
    block.extend(vec![b'y'; most]);
    let (head, rest) = block.split_at(16_000);
    let headers = [frame(1, 0, 1, head), frame(9, 4, 1, rest)].concat();
    send(server.address, &[PREFACE, &frame(4, 0, 0, &[]), &headers].concat()).await;
    assert_eq!(server.leaf().query(query(), Instant::now() + LONG).await, partial(7));
    assert_eq!(server.fake.remaining.lock().len(), 1, "only the query came through");
}
