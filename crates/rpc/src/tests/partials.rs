//! Large partials: in pieces, as fast as they are taken, within the memory of queries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{Partial, PartialBody, QueryErrorCode, SparseRow, TopRows};
use hadal_peer::Peer;
use hadal_query::{ColumnRef, Expr, Query, QueryKind, RowInput};
use hadal_types::limits::{PARTIAL_PIECE_BYTES_MAX, STRING_BYTES_MAX};
use hadal_types::{ColumnName, Kind, Logical, MemoryPool, Value};
use hadal_wire::QueryRequest;
use tokio::time::timeout;

use super::fakes::{LONG, TestServer, identity, leaf_name, partial, table};
use crate::RemoteLeaf;
use crate::method::Method;

/// Rows of one long text each: about eight pieces.
const ROWS: usize = 8 * PARTIAL_PIECE_BYTES_MAX / STRING_BYTES_MAX;

fn rows_query() -> Arc<Query> {
    let name = ColumnName::new("path").expect("a name");
    let column = ColumnRef { name, kind: Kind::String, logical: Logical::Plain };
    let values = vec![Expr::Leaf(RowInput::Column(column))];
    Arc::new(Query::new(table(), QueryKind::Rows { values }))
}

fn large_partial() -> Partial {
    let text = "x".repeat(STRING_BYTES_MAX);
    let rows = (0..ROWS).map(|_| SparseRow::from(vec![Value::string(&text)])).collect();
    let rows = TopRows::from_parts(&rows_query(), rows).expect("rows of the query");
    Partial { body: PartialBody::Rows(rows), ..partial(7) }
}

async fn server() -> TestServer {
    let server = TestServer::start().await;
    *server.fake.partial.lock() = Some(large_partial());
    server
}

#[tokio::test]
async fn a_large_partial_comes_in_pieces_and_is_counted() {
    let server = server().await;
    let memory = MemoryPool::new(64 * PARTIAL_PIECE_BYTES_MAX);
    let leaf = server.leaf().with_memory(Arc::clone(&memory));
    let answer = leaf.query(rows_query(), Instant::now() + LONG).await;
    assert_eq!(answer, large_partial());
    assert!(answer.reservation.bytes() >= ROWS * STRING_BYTES_MAX);
    assert_eq!(memory.reserved(), answer.reservation.bytes());
    drop(answer);
    assert_eq!((memory.reserved(), server.fake.memory.reserved()), (0, 0));
}

#[tokio::test]
async fn a_partial_for_which_there_is_no_memory_fails_its_query() {
    let server = server().await;
    let memory = MemoryPool::new(2 * PARTIAL_PIECE_BYTES_MAX);
    let leaf = server.leaf().with_memory(Arc::clone(&memory));
    let answer = leaf.query(rows_query(), Instant::now() + LONG).await;
    let codes: Vec<_> = answer.errors.iter().map(|error| error.code).collect();
    assert_eq!((codes, memory.reserved()), (vec![QueryErrorCode::Memory], 0));
    // The other side stops sending.
    let free = timeout(LONG, server.fake.memory.wait_for_free(usize::MAX)).await;
    free.expect("its memory is released");
}

#[tokio::test]
async fn a_partial_is_sent_no_faster_than_it_is_taken() {
    let server = server().await;
    let connection = server.connection(identity("b"));
    let request = QueryRequest {
        query: rows_query(),
        remaining: Duration::from_secs(30),
        attempt: 0,
        plan: None,
    };
    let stream = connection.stream(Method::Query, &leaf_name(), request.encode()).await;
    let (mut pieces, _) = stream.expect("it answers");
    pieces.message().await.expect("no failure").expect("a piece");
    // A small query on the same connection is not held up.
    *server.fake.partial.lock() = None;
    let leaf = RemoteLeaf::new(leaf_name(), Arc::clone(&connection));
    let query = super::fakes::query();
    assert_eq!(leaf.query(query, Instant::now() + LONG).await, partial(7));
    let waiting = server.fake.memory.reserved();
    assert!(waiting >= 2 * PARTIAL_PIECE_BYTES_MAX, "{waiting} bytes wait");
    drop(pieces);
    let free = timeout(LONG, server.fake.memory.wait_for_free(usize::MAX)).await;
    free.expect("nobody waits for the rest");
}
