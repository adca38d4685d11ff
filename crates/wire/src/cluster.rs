//! Codec of the messages by which members of a cluster find each other.

use bytes::Bytes;
use hadal_peer::Hello;
use hadal_types::Micros;
use prost::Message;

use crate::batch::SMALL_BYTES_MAX;
use crate::error::{At, DecodeError};
use crate::proto;
use crate::size_guard;
use crate::value::decode_leaf_name;

/// Encodes a process's introduction.
#[must_use]
pub fn encode_hello(hello: &Hello) -> Bytes {
    let Hello { cluster, name, wire_version, release, started, clock } = hello.clone();
    let hello = proto::Hello {
        cluster,
        name: name.to_string(),
        wire_version,
        release,
        started_micros: started,
        clock_micros: clock.0,
    };
    hello.encode_to_vec().into()
}

/// Decodes the output of [`encode_hello`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_hello(bytes: Bytes) -> Result<Hello, DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |hello: proto::Hello| {
        Ok(Hello {
            cluster: hello.cluster,
            name: decode_leaf_name(hello.name).at("name")?,
            wire_version: hello.wire_version,
            release: hello.release,
            started: hello.started_micros,
            clock: Micros(hello.clock_micros),
        })
    })
}
