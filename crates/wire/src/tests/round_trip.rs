//! Decoding returns what was encoded, and equal values have equal bytes.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{LeafOutcome, Partial, QueryErrorCode, WarningCode};
use hadal_peer::{BatchLookup, Receipt};
use hadal_query::{Function, Type};
use hadal_types::{Kind, LeafState, Logical, limits};
use proptest::option;
use proptest::prelude::*;

use super::{decode_query, strategies};
use crate::admin::*;
use crate::batch::*;
use crate::codes::Code;
use crate::error::DecodeErrorKind;
use crate::expr::{decode_expr, encode_expr};
use crate::partial::{decode_partial, encode_partial};
use crate::query::QueryRequest;
use crate::status::{
    decode_report, decode_scope, decode_status, encode_report, encode_scope, encode_status,
};
use crate::value::{decode_number, decode_value, encode_number, encode_value};

proptest! {
    #[test]
    fn values_come_through(value in strategies::value(), number in strategies::number()) {
        prop_assert_eq!(decode_value(encode_value(&value)), Ok(value));
        prop_assert_eq!(decode_number(Some(encode_number(number))), Ok(number));
    }

    #[test]
    fn expressions_come_through(expr in strategies::row_expr()) {
        prop_assert_eq!(decode_expr(Some(encode_expr(&expr))), Ok(expr));
    }

    #[test]
    fn queries_come_through(
        query in strategies::query(), millis in 0u64..=600_000, attempt in any::<u32>(),
    ) {
        let remaining = Duration::from_millis(millis);
        let request = QueryRequest { query: Arc::new(query), remaining, attempt, plan: None };
        prop_assert_eq!(decode_query(request.encode()), Ok(request));
    }

    #[test]
    fn partial_answers_come_through((query, partial) in strategies::query_and_partial()) {
        let bytes = encode_partial(partial.clone());
        let decoded = decode_partial(bytes.clone(), &query).expect("it is valid");
        prop_assert_eq!(&decoded, &partial);
        prop_assert_eq!(encode_partial(decoded), bytes);
    }

    #[test]
    fn merging_does_not_see_the_wire(
        (query, left, right) in strategies::query().prop_flat_map(|query| {
            let partials = (strategies::partial_of(&query), strategies::partial_of(&query));
            (Just(query), partials.0, partials.1)
        }),
    ) {
        let over = |partial: &Partial| decode_partial(encode_partial(partial.clone()), &query);
        let mut sent = over(&left).expect("it is valid");
        sent.merge(over(&right).expect("it is valid"));
        let mut merged = left;
        merged.merge(right);
        prop_assert_eq!(sent, merged);
    }

    #[test]
    fn states_of_leaves_come_through(status in strategies::status()) {
        prop_assert_eq!(decode_status(encode_status(&status)), Ok(status));
    }

    #[test]
    fn batches_come_through(batch in strategies::foreign_batch()) {
        prop_assert_eq!(decode_batch(encode_foreign(batch.clone())), Ok(batch.clone()));
        let request = decode_look_up(encode_look_up(&batch.table, &batch.id));
        prop_assert_eq!(request, Ok((batch.table.clone(), batch.id)));
    }

    #[test]
    fn changes_come_through(change in strategies::table_change()) {
        prop_assert_eq!(decode_change(encode_change(&change)), Ok(change));
    }

    #[test]
    fn reports_come_through(report in strategies::table_report()) {
        prop_assert_eq!(decode_report(encode_report(&report)), Ok(report));
    }

    #[test]
    fn scopes_come_through(scope in strategies::status_scope()) {
        prop_assert_eq!(decode_scope(encode_scope(&scope)), Ok(scope));
    }

    #[test]
    fn responses_of_sinks_come_through(
        error in option::of(strategies::sink_error()), rows in 0usize..=65_536,
        duplicate in any::<bool>(), durable in any::<bool>(), overflowing in any::<bool>(),
        report in option::of(strategies::table_report()),
    ) {
        let receipt = Receipt { rows, duplicate, durable, overflowing, report };
        let accepted = error.clone().map_or(Ok(receipt), Err);
        prop_assert_eq!(decode_accepted(encode_accepted(&accepted)), Ok(accepted));
        let applied = error.map_or(Ok(rows as u64), Err);
        prop_assert_eq!(decode_applied(encode_applied(&applied)), Ok(applied));
        let lookup = BatchLookup {
            is_answered: true,
            is_known: durable,
            is_accepted: durable && overflowing,
            is_revoked: overflowing,
            is_refused: overflowing && !durable,
            takes_batches: duplicate,
            free_bytes: rows as u64,
        };
        prop_assert_eq!(decode_lookup(encode_lookup(lookup)), Ok(lookup));
    }
}

#[track_caller]
fn assert_codes<C: Code + Copy + Debug + PartialEq>(count: i32) {
    for code in 1..=count {
        assert_eq!(C::of_code(code).map(C::code), Ok(code));
    }
    assert_eq!(C::of_code(0).map_err(|error| error.kind), Err(DecodeErrorKind::Missing));
    for code in [count + 1, -1, i32::MAX] {
        assert_eq!(
            C::of_code(code).map_err(|error| error.kind),
            Err(DecodeErrorKind::UnknownCode(code))
        );
    }
}

#[test]
fn every_code_is_read_and_no_other() {
    assert_codes::<Kind>(4);
    assert_codes::<Logical>(3);
    assert_codes::<Type>(8);
    assert_codes::<Function>(99);
    assert_codes::<LeafOutcome>(5);
    assert_codes::<LeafState>(4);
    assert_codes::<WarningCode>(13);
    assert_codes::<QueryErrorCode>(4);
}

#[test]
fn deadlines_are_whole_milliseconds_and_bounded() {
    let query = Arc::new(super::vectors::rows_query());
    let received = |remaining| {
        let request = QueryRequest { query: Arc::clone(&query), remaining, attempt: 0, plan: None };
        decode_query(request.encode()).expect("it is valid").remaining
    };
    assert_eq!(received(Duration::from_micros(1_999)), Duration::from_millis(1));
    assert_eq!(received(Duration::ZERO), Duration::ZERO);
    assert_eq!(received(Duration::MAX), Duration::from_millis(limits::QUERY_DEADLINE_MS_MAX));
}
