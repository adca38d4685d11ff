//! The seams of crate `peer` between processes: gRPC servers and clients.
