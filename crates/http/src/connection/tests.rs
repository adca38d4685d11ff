//! Slow clients, on a clock that jumps as soon as everybody waits.

use axum::routing::{get, post};
use hadal_frontend::Shutdown;
use hadal_types::MemoryPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::config::Pace;
use crate::problem::Problem;
use crate::query_response::json;
use crate::request_body::RequestBody;

/// Bytes that a connection holds between client and server.
const PIPE_BYTES: usize = 4 << 10;

/// A client's end of a connection, and the sender that stops the server.
fn connect() -> (DuplexStream, watch::Sender<bool>) {
    let router = Router::new()
        .route("/", get(|| async { "ok" }))
        .route("/long", get(|| async { vec![b'x'; 1 << 20] }))
        .route(
            "/slow",
            get(|| async {
                sleep(Duration::from_secs(500)).await;
                "at last"
            }),
        )
        .route(
            "/body",
            post(|body: Body| async {
                let body = RequestBody::new(body, &Shutdown::default(), Pace::default());
                let read = body.all(usize::MAX).await.map(|body| body.len().to_string());
                read.map_err(Problem::from)
            }),
        );
    connect_to(router)
}

fn connect_to(router: Router) -> (DuplexStream, watch::Sender<bool>) {
    let (client, server) = duplex(PIPE_BYTES);
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(serve_connection(server, QueryClient::SERVER, router, stopped));
    (client, stop)
}

/// All that the server sends until it closes, and the seconds until then.
async fn rest(client: &mut DuplexStream) -> (String, u64) {
    let start = Instant::now();
    let mut text = Vec::new();
    // A connection that is cut off may end in an error; it only has to end.
    let _ = client.read_to_end(&mut text).await;
    (String::from_utf8_lossy(&text).into_owned(), start.elapsed().as_secs())
}

/// One answer that ends in `ok`.
async fn answer(client: &mut DuplexStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\nok") {
        text.push(client.read_u8().await.expect("an answer"));
    }
    String::from_utf8_lossy(&text).into_owned()
}

async fn send(client: &mut DuplexStream, text: &str) {
    client.write_all(text.as_bytes()).await.expect("bytes sent");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_cut_off() {
    let (mut client, _stop) = connect();
    send(&mut client, "GET / HT").await;
    for _ in 0..3 {
        sleep(Duration::from_secs(3)).await;
        send(&mut client, "T").await;
    }
    let (text, seconds) = rest(&mut client).await;
    assert_eq!((text.as_str(), 9 + seconds), ("", limits::HEADER_SECONDS));
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed() {
    let (mut client, _stop) = connect();
    assert_eq!(rest(&mut client).await, (String::new(), limits::IDLE_SECONDS));
}

#[tokio::test(start_paused = true)]
async fn between_requests_there_is_time() {
    let (mut client, _stop) = connect();
    for _ in 0..3 {
        send(&mut client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer(&mut client).await.starts_with("HTTP/1.1 200 OK"));
        sleep(Duration::from_secs(limits::IDLE_SECONDS - 1)).await;
    }
    let (text, seconds) = rest(&mut client).await;
    assert_eq!((text.as_str(), seconds), ("", 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_its_time() {
    let (mut client, _stop) = connect();
    send(&mut client, "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let (text, seconds) = rest(&mut client).await;
    assert!(text.ends_with("at last"), "{text}");
    assert_eq!(seconds, 500);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_coming_is_a_problem() {
    let (mut client, _stop) = connect();
    send(&mut client, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab").await;
    sleep(Duration::from_secs(limits::STALL_SECONDS - 1)).await;
    send(&mut client, "c").await;
    let (text, seconds) = rest(&mut client).await;
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert_eq!(seconds, limits::STALL_SECONDS);
}

/// Sends a body at this speed; returns the response and the number of seconds until it arrived.
async fn body_of(bytes_per_second: usize, seconds: u64) -> (String, u64) {
    let (mut client, _stop) = connect();
    let length = bytes_per_second * usize::try_from(seconds).expect("some");
    let head = format!("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    send(&mut client, &head).await;
    let (mut read, mut write) = tokio::io::split(client);
    let sending = tokio::spawn(async move {
        for _ in 0..seconds {
            sleep(Duration::from_secs(1)).await;
            if write.write_all(&vec![b'x'; bytes_per_second]).await.is_err() {
                break;
            }
        }
        write
    });
    let start = Instant::now();
    let mut head = [0; 12];
    read.read_exact(&mut head).await.expect("an answer");
    let seconds = start.elapsed().as_secs();
    sending.abort();
    (String::from_utf8_lossy(&head).into_owned(), seconds)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_a_problem() {
    let enough = usize::try_from(limits::BODY_BYTES_PER_SECOND_MIN).expect("some");
    let stalled = ("HTTP/1.1 408".to_owned(), limits::STALL_SECONDS);
    assert_eq!(body_of(1, 1_000).await, stalled);
    assert_eq!(body_of(enough - 1, 1_000).await, stalled);
    // A body that arrives fast enough may last any time.
    assert_eq!(body_of(enough, 1_000).await, ("HTTP/1.1 200".to_owned(), 1_000));
    // A small body is complete before the limit applies.
    assert_eq!(body_of(1, 29).await, ("HTTP/1.1 200".to_owned(), 29));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_is_cut_off() {
    let (mut client, stop) = connect();
    send(&mut client, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let start = Instant::now();
    // The server drops its end of the channel once the connection has ended.
    stop.closed().await;
    assert_eq!(start.elapsed().as_secs(), limits::STALL_SECONDS);
    let (text, _) = rest(&mut client).await;
    assert!(text.len() <= PIPE_BYTES);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_finishes_the_answer_and_closes() {
    let (mut client, stop) = connect();
    send(&mut client, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    sleep(Duration::from_secs(1)).await;
    stop.send(true).expect("a connection");
    let (text, seconds) = rest(&mut client).await;
    assert!(text.ends_with("at last"), "{text}");
    assert_eq!(seconds, 499);
    let (mut idle, stop) = connect();
    sleep(FIRST_REQUEST).await;
    let start = Instant::now();
    stop.send(true).expect("a connection");
    assert_eq!((rest(&mut idle).await.0, start.elapsed()), (String::new(), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_request_just_after_the_stop_is_answered() {
    let (mut late, stop) = connect();
    let start = Instant::now();
    stop.send(true).expect("a connection");
    sleep(FIRST_REQUEST / 2).await;
    send(&mut late, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let (text, _) = rest(&mut late).await;
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert_eq!(start.elapsed(), FIRST_REQUEST / 2);
    let (mut silent, stop) = connect();
    let start = Instant::now();
    stop.send(true).expect("a connection");
    assert_eq!((rest(&mut silent).await.0, start.elapsed()), (String::new(), FIRST_REQUEST));
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_read_hold_at_most_the_memory_pool() {
    const ANSWER_BYTES: usize = 1 << 20;
    let pool = MemoryPool::new(2 * ANSWER_BYTES);
    let answer = {
        let pool = Arc::clone(&pool);
        move || {
            let reservation = pool.reservation();
            async move { json(&"x".repeat(ANSWER_BYTES), reservation).map_err(Problem::from) }
        }
    };
    let router = Router::new().route("/", get(answer));
    let ask = async || {
        let (mut client, stop) = connect_to(router.clone());
        send(&mut client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let mut status = [0; 12];
        client.read_exact(&mut status).await.expect("an answer");
        (client, stop, String::from_utf8_lossy(&status).into_owned())
    };
    let first = ask().await;
    let one = pool.reserved();
    assert!((ANSWER_BYTES * 3 / 4..=ANSWER_BYTES).contains(&one), "{one} bytes are held");
    let second = ask().await;
    assert_eq!((first.2.as_str(), second.2.as_str()), ("HTTP/1.1 200", "HTTP/1.1 200"));
    assert_eq!(pool.reserved(), 2 * one);
    for _ in 0..3 {
        let (mut client, stop, status) = ask().await;
        assert_eq!((status.as_str(), pool.reserved()), ("HTTP/1.1 503", 2 * one));
        stop.send(true).expect("a connection");
        let (text, _) = rest(&mut client).await;
        assert!(text.contains("retry-after: 1\r\n"), "{text}");
    }
    // A client that hangs up frees memory immediately; one that stops reading frees it after the
    // time limit.
    drop(first.0);
    first.1.closed().await;
    assert_eq!(pool.reserved(), one);
    assert_eq!(ask().await.2, "HTTP/1.1 200");
    second.1.closed().await;
    sleep(Duration::from_secs(limits::STALL_SECONDS)).await;
    assert_eq!(pool.reserved(), 0);
}
