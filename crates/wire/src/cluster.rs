//! Codec of the messages by which members of a cluster find and restart each other.

use std::time::Duration;

use bytes::Bytes;
use hadal_peer::{Hello, LeafRestart};
use hadal_types::Micros;
use hadal_types::limits::ROLLOVER_STOP_SECONDS_MAX;
use prost::Message;

use crate::batch::SMALL_BYTES_MAX;
use crate::error::{At, DecodeError, unfit};
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

/// Encodes a request to restart a leaf. A longer time limit than [`ROLLOVER_STOP_SECONDS_MAX`]
/// becomes that one, and one under a millisecond becomes a millisecond.
#[must_use]
pub fn encode_restart(restart: &LeafRestart) -> Bytes {
    let LeafRestart { leaf, stop_max } = restart;
    let stop_max = (*stop_max).min(Duration::from_secs(ROLLOVER_STOP_SECONDS_MAX));
    let stop_millis = u32::try_from(stop_max.as_millis()).unwrap_or(u32::MAX).max(1);
    proto::RestartRequest { leaf: leaf.to_string(), stop_millis }.encode_to_vec().into()
}

/// Decodes the output of [`encode_restart`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_restart(bytes: Bytes) -> Result<LeafRestart, DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |request: proto::RestartRequest| {
        let stop_max = Duration::from_millis(u64::from(request.stop_millis));
        if stop_max.is_zero() || stop_max > Duration::from_secs(ROLLOVER_STOP_SECONDS_MAX) {
            let expected = format!("1 to {} ms", ROLLOVER_STOP_SECONDS_MAX * 1_000);
            return Err(unfit(request.stop_millis, expected)).at("stop_millis");
        }
        Ok(LeafRestart { leaf: decode_leaf_name(request.leaf).at("leaf")?, stop_max })
    })
}

/// Encodes whether a restart begins.
#[must_use]
pub fn encode_restart_answer(accepted: bool) -> Bytes {
    proto::RestartAnswer { accepted }.encode_to_vec().into()
}

/// Decodes the output of [`encode_restart_answer`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_restart_answer(bytes: Bytes) -> Result<bool, DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |answer: proto::RestartAnswer| Ok(answer.accepted))
}

#[cfg(test)]
mod tests {
    use hadal_types::LeafName;

    use super::*;

    #[test]
    fn the_time_of_a_restart_is_limited() {
        let leaf = LeafName("m/leaf-0".into());
        let sent = |stop_max| {
            let restart = LeafRestart { leaf: leaf.clone(), stop_max };
            decode_restart(encode_restart(&restart)).expect("it was encoded here").stop_max
        };
        let most = Duration::from_secs(ROLLOVER_STOP_SECONDS_MAX);
        assert_eq!(sent(Duration::from_millis(1_500)), Duration::from_millis(1_500));
        assert_eq!(sent(Duration::ZERO), Duration::from_millis(1));
        assert_eq!(sent(Duration::MAX), most);
        let longest = u32::try_from(most.as_millis()).expect("it fits");
        for stop_millis in [0, longest + 1] {
            let request = proto::RestartRequest { leaf: "m/leaf-0".to_owned(), stop_millis };
            let refused = decode_restart(request.encode_to_vec().into()).expect_err("refused");
            assert!(refused.to_string().contains("stop_millis"), "{refused}");
        }
        for accepted in [false, true] {
            assert_eq!(decode_restart_answer(encode_restart_answer(accepted)), Ok(accepted));
        }
    }
}
