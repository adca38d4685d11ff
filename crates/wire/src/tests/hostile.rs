//! Hostile bytes: they are refused with a position, and never cause a panic.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hadal_types::limits::{FAULTS_MAX, MESSAGE_MEMORY_MAX, QUERY_BYTES_MAX};
use proptest::prelude::*;
use proptest::sample::Index;
use prost::Message;

use super::vectors::{groups_partial, groups_query, rows_partial, rows_query};
use super::{decode_query, strategies};
use crate::admin::*;
use crate::batch::*;
use crate::definitions::{decode_definitions_answer, decode_definitions_request};
use crate::error::DecodeErrorKind;
use crate::expected_rows::{decode_expected_rows, decode_expected_rows_since};
use crate::partial::{decode_partial, encode_partial};
use crate::proto;
use crate::query::QueryRequest;
use crate::status::{decode_report, decode_scope, decode_status, encode_status};

/// Decodes bytes as every kind of message.
fn decode_as_all(bytes: &Bytes) {
    let _ = decode_query(bytes.clone());
    for query in [groups_query(), rows_query()] {
        let _ = decode_partial(bytes.clone(), &query);
    }
    let _ = decode_status(bytes.clone());
    let _ = decode_batch(bytes.clone());
    let _ = decode_accepted(bytes.clone());
    let _ = decode_look_up(bytes.clone());
    let _ = decode_lookup(bytes.clone());
    let _ = decode_change(bytes.clone());
    let _ = decode_applied(bytes.clone());
    let _ = decode_scope(bytes.clone());
    let _ = decode_report(bytes.clone());
    let _ = decode_definitions_request(bytes.clone());
    let _ = decode_definitions_answer(bytes.clone());
    let _ = decode_expected_rows(bytes.clone());
    let _ = decode_expected_rows_since(bytes.clone());
}

/// Changes some bytes, and cuts out or doubles others.
fn damage(bytes: &[u8], changes: &[(Index, u8)], cut: &(Index, Index, bool)) -> Bytes {
    let mut damaged = bytes.to_vec();
    if damaged.is_empty() {
        return Bytes::new();
    }
    for (at, change) in changes {
        damaged[at.index(bytes.len())] ^= change;
    }
    let (from, to) = (cut.0.index(bytes.len()), cut.1.index(bytes.len()));
    let range = from.min(to)..from.max(to);
    if cut.2 {
        let part = damaged[range.clone()].to_vec();
        damaged.splice(range.start..range.start, part);
    } else if range.len() < bytes.len() / 2 {
        damaged.drain(range);
    }
    damaged.into()
}

fn damages() -> impl Strategy<Value = (Vec<(Index, u8)>, (Index, Index, bool))> {
    let changes = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    (changes, any::<(Index, Index, bool)>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode_as_all(&bytes.into());
    }

    #[test]
    fn damaged_frozen_messages_never_panic((changes, cut) in damages()) {
        let request = QueryRequest {
            query: Arc::new(groups_query()),
            remaining: Duration::from_secs(1),
            attempt: 0,
            plan: None,
        };
        for bytes in
            [request.encode(), encode_partial(groups_partial()), encode_partial(rows_partial())]
        {
            decode_as_all(&damage(&bytes, &changes, &cut));
        }
    }
}

proptest! {
    #[test]
    fn damaged_queries_never_panic(query in strategies::query(), (changes, cut) in damages()) {
        let request =
            QueryRequest { query: Arc::new(query), remaining: Duration::ZERO, attempt: 0, plan: None };
        decode_as_all(&damage(&request.encode(), &changes, &cut));
    }

    #[test]
    fn damaged_partial_answers_never_panic(
        (query, partial) in strategies::query_and_partial(), (changes, cut) in damages(),
    ) {
        // A partial that is decoded in spite of the damage can be merged and finished.
        let bytes = damage(&encode_partial(partial.clone()), &changes, &cut);
        if let Ok(mut read) = decode_partial(bytes, &query) {
            read.merge(partial);
            let _ = hadal_aggregate::finish(read, &query, &|| false);
        }
    }

    #[test]
    fn damaged_states_of_leaves_never_panic(
        status in strategies::status(), (changes, cut) in damages(),
    ) {
        decode_as_all(&damage(&encode_status(&status), &changes, &cut));
    }
}

/// The error of the frozen query after a change.
fn refused_query(change: impl FnOnce(&mut proto::QueryRequest)) -> String {
    let query = Arc::new(groups_query());
    let request = QueryRequest { query, remaining: Duration::from_secs(1), attempt: 0, plan: None };
    let mut wire = proto::QueryRequest::decode(request.encode()).expect("protobuf");
    change(&mut wire);
    decode_query(wire.encode_to_vec().into()).expect_err("refused").to_string()
}

fn query_of(wire: &mut proto::QueryRequest) -> &mut proto::Query {
    wire.query.as_mut().expect("a query")
}

fn groups_of(wire: &mut proto::QueryRequest) -> &mut proto::GroupsShape {
    match query_of(wire).shape.as_mut() {
        Some(proto::query::Shape::Groups(groups)) => groups,
        _ => panic!("no groups"),
    }
}

#[test]
fn queries_are_refused_by_name() {
    assert_eq!(refused_query(|wire| wire.query = None), "QueryRequest.query: is missing");
    assert_eq!(
        refused_query(|wire| wire.deadline_ms = 600_001),
        "QueryRequest.deadline_ms: found 600001, expected 0 to 600000"
    );
    assert_eq!(
        refused_query(|wire| query_of(wire).table = "a/b".to_owned()),
        "QueryRequest.query.table: found table name \"a/b\" has '/'; allowed are letters, digits and _ . : - \
         of ASCII, expected a table name"
    );
    assert_eq!(
        refused_query(|wire| query_of(wire).shape = None),
        "QueryRequest.query.shape: is missing"
    );
    assert_eq!(
        refused_query(|wire| query_of(wire).deadline_nanos = 1_000_000_000),
        "QueryRequest.query.deadline: found 1000000000 nanoseconds, expected less than a second"
    );
    assert_eq!(
        refused_query(|wire| groups_of(wire).measures[1].kind = 99),
        "QueryRequest.query.shape.measures[1].kind: code 99 is unknown"
    );
    for (kind, parameter, error) in [
        (0, 0, "is missing"),
        (99, 0, "code 99 is unknown"),
        (1, 20, "found parameter 20, expected none"),
        (5, 0, "found no buckets, expected one or more"),
        (5, 1_001, "1001 buckets; at most 1000 are allowed"),
        (5, u32::MAX, "65535 buckets; at most 1000 are allowed"),
    ] {
        let measured = |wire: &mut proto::QueryRequest| {
            let measure = &mut groups_of(wire).measures[4];
            (measure.kind, measure.parameter) = (kind, parameter);
        };
        let place = "QueryRequest.query.shape.measures[4].kind";
        assert_eq!(refused_query(measured), format!("{place}: {error}"));
    }
    assert_eq!(
        refused_query(|wire| groups_of(wire).measures[4].parameter = 10),
        "QueryRequest.query.outputs[3]: found Histogram(20), expected something of Histogram(10)"
    );
    assert_eq!(
        refused_query(|wire| groups_of(wire).keys = vec![proto::Expr::default(); 21]),
        "QueryRequest.query.shape: 21 keys; at most 20 are allowed"
    );
    assert_eq!(
        refused_query(|wire| groups_of(wire).keys[0].nodes.clear()),
        "QueryRequest.query.shape.keys[0]: is missing"
    );
    assert_eq!(
        refused_query(|wire| query_of(wire).outputs = vec![proto::Output::default(); 5_001]),
        "QueryRequest.query.outputs: 5001 columns; at most 5000 are allowed"
    );
}

#[test]
fn slots_name_what_the_query_has() {
    let slot = |slot| proto::Expr {
        nodes: vec![proto::ExprNode {
            node: Some(proto::expr_node::Node::Slot(proto::Slot { slot: Some(slot) })),
        }],
    };
    let refused = |wrong: proto::slot::Slot| {
        refused_query(|wire| query_of(wire).outputs[1].expr = Some(slot(wrong)))
    };
    assert_eq!(
        refused(proto::slot::Slot::Key(2)),
        "QueryRequest.query.outputs[1]: found key 2, expected one of 2"
    );
    let measure = |index, finish: proto::Finish| {
        let finish = finish.into();
        proto::slot::Slot::Measure(proto::MeasureSlot { index, finish, parameter: 0 })
    };
    assert_eq!(
        refused(measure(5, proto::Finish::Sum)),
        "QueryRequest.query.outputs[1]: found measure 5, expected one of 5"
    );
    assert_eq!(
        refused(measure(1, proto::Finish::Sum)),
        "QueryRequest.query.outputs[1]: found Sum, expected something of MinMax"
    );
}

/// The error of the frozen partial after a change.
pub(super) fn refused_partial(change: impl FnOnce(&mut proto::Partial)) -> String {
    let mut wire = proto::Partial::decode(encode_partial(groups_partial())).expect("protobuf");
    change(&mut wire);
    let bytes = wire.encode_to_vec().into();
    decode_partial(bytes, &groups_query()).expect_err("refused").to_string()
}

#[test]
fn partial_answers_are_refused_by_name() {
    assert_eq!(
        refused_partial(|partial| partial.answering = None),
        "Partial.answering: is missing"
    );
    assert_eq!(refused_partial(|partial| partial.coverage = None), "Partial.coverage: is missing");
    let rows = || Some(proto::partial::Answering::Rows(proto::Rows::default()));
    assert_eq!(
        refused_partial(|partial| partial.answering = rows()),
        "Partial.rows: found rows, expected groups"
    );
    assert_eq!(
        refused_partial(|partial| partial.faults = vec![proto::Fault::default(); FAULTS_MAX + 1]),
        "Partial.faults: 17 faults; at most 16 are allowed"
    );
    assert_eq!(
        refused_partial(|partial| partial.coverage.as_mut().expect("there").leaves.reverse()),
        "Partial.coverage: found leaves out of order, expected ascending names"
    );
    assert_eq!(
        refused_partial(|partial| partial.coverage.as_mut().expect("there").leaves[1].outcome = 6),
        "Partial.coverage.leaves[1].outcome: code 6 is unknown"
    );
}

#[test]
fn more_rows_than_the_query_wants_are_refused() {
    let row = proto::Row { values: vec![crate::value::encode_value(&hadal_types::Value::Null); 2] };
    let partial = |rows: usize| proto::Partial {
        answering: Some(proto::partial::Answering::Rows(proto::Rows {
            rows: crate::frames::encode(vec![row.clone(); rows]),
        })),
        coverage: Some(proto::Coverage::default()),
        stats: Some(proto::ScanStats::default()),
        ..proto::Partial::default()
    };
    let decode = |rows| decode_partial(partial(rows).encode_to_vec().into(), &rows_query());
    assert!(decode(105).is_ok());
    let error = decode(106).expect_err("too many");
    assert_eq!(error.to_string(), "Partial.rows: 106 rows; at most 105 are allowed");
    assert!(error.is_limit());
}

#[test]
fn fields_of_a_later_release_are_refused() {
    let mut bytes = encode_partial(rows_partial()).to_vec();
    bytes.extend_from_slice(&[15 << 3, 1]);
    let error = decode_partial(bytes.into(), &rows_query()).expect_err("refused");
    assert_eq!(error.to_string(), "Partial: field 15 is unknown");
}

#[test]
fn bombs_are_refused_before_they_are_decoded() {
    // Two bytes each: a node without content, a state without content.
    let nodes = Bytes::from([0x0a, 0x00].repeat(QUERY_BYTES_MAX / 2 - 100));
    let field = |number: u8, content: &[u8]| {
        let mut bytes = vec![number << 3 | 2];
        prost::encode_length_delimiter(content.len(), &mut bytes).expect("room");
        bytes.extend_from_slice(content);
        bytes
    };
    let bytes = field(1, &field(4, &nodes));
    let error = decode_query(bytes.into()).expect_err("a bomb");
    assert_eq!(error.kind, DecodeErrorKind::Memory(MESSAGE_MEMORY_MAX));
    assert!(error.is_limit());

    // Keys of groups, without content.
    let keys = [0x22, 0x00].repeat(1 << 20);
    let error = decode_partial(field(1, &keys).into(), &groups_query()).expect_err("a bomb");
    assert_eq!(error.to_string(), "Partial: needs more than 67108864 bytes of memory");

    let long = vec![0; QUERY_BYTES_MAX + 1];
    let error = decode_query(long.into()).expect_err("too long");
    assert_eq!(error.to_string(), "QueryRequest: 4194305 bytes; at most 4194304 are allowed");
}
