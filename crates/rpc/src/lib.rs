//! The seams of crate `peer` between processes: gRPC servers and clients.
//!
//! ```text
//! RemoteLeaf ────────┐                                    ┌── Peer, PlannedPeer
//! RemoteAggregator ──┼── Connection ══ HTTP/2 ══ serve ───┼── Sink
//! RemoteDefinitions ─┤                admission           ├── Admin, ReportSource
//! say_hello ─────────┤                                    ├── DefinitionStore
//! ask_to_restart ────┘                                    └── LeafRestarter
//! ```
//!
//! Every call carries the caller's [`Identity`] as metadata. The server checks it before it reads a
//! message, and refuses callers of another cluster, of an unknown version or without the token in
//! one sentence (`spec/proto/README.md`). Messages are encoded and decoded by crate `wire` alone:
//! to gRPC they are bytes.

mod admission;
mod bytes_codec;
mod call;
mod connection;
mod definitions;
mod expected_rows;
mod hello;
mod identity;
mod method;
mod remote_aggregator;
mod remote_leaf;
mod remote_query;
mod restart;
mod server;
mod tls;
mod transport;

pub use connection::Connection;
pub use definitions::{DefinitionsMember, RemoteDefinitions};
pub use expected_rows::{PullError, pull_expected_rows};
pub use hello::{HelloError, say_hello};
pub use identity::{ClusterToken, Identity, IdentityError};
pub use remote_aggregator::RemoteAggregator;
pub use remote_leaf::{RemoteLeaf, ReportEvent};
pub use restart::ask_to_restart;
pub use server::{ServeError, Services, serve, serve_streams};
pub use tls::Tls;
pub use transport::{ByteStream, Tcp, Transport};

#[cfg(test)]
mod tests;
