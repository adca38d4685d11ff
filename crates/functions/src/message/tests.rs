use hadal_types::{FunctionKind, FunctionParameter, Value};
use proptest::prelude::*;

use super::*;

fn definition() -> FunctionDefinition {
    FunctionDefinition {
        name: "f".to_owned(),
        kind: FunctionKind::Scalar,
        parameters: vec![FunctionParameter {
            name: "a".to_owned(),
            value_type: FunctionType::Number,
        }],
        returns: FunctionType::Number,
        called_on_null: false,
        source: "return a".to_owned(),
    }
}

fn column(value_type: FunctionType, values: &[Value]) -> UdfColumn {
    let mut column = UdfColumn::with_capacity(value_type, values.len());
    values.iter().for_each(|value| column.push(value));
    column
}

fn call() -> Request {
    let numbers = column(FunctionType::Number, &[Value::integer(1), Value::Null]);
    let strings = column(FunctionType::String, &[Value::string("ä"), Value::string("")]);
    let bools = column(FunctionType::Bool, &[Value::Bool(true), Value::Bool(false)]);
    Request::Call { millis: 5, rows: 2, arguments: vec![numbers, strings, bools] }
}

fn responses() -> Vec<Response> {
    let Request::Call { arguments, .. } = call() else { return Vec::new() };
    let columns = arguments.into_iter().map(Response::Column);
    let error = Response::Error { line: 3, message: "no".to_owned() };
    let state = Response::State("[1]".to_owned());
    columns
        .chain([state, Response::Loaded, Response::Ready(vec!["note".to_owned()]), error])
        .collect()
}

#[test]
fn messages_come_through() {
    let Request::Call { arguments, .. } = call() else { return };
    let update = |state| Request::Update {
        millis: 5,
        state,
        rows: 2,
        weights: vec![1.0, 2.5],
        arguments: arguments.clone(),
    };
    for request in [
        Request::Load(definition()),
        call(),
        update(None),
        update(Some("{}".to_owned())),
        Request::Merge { millis: 5, states: vec!["1".to_owned(), "2".to_owned()] },
        Request::Finish { millis: 5, state: "3".to_owned() },
    ] {
        assert_eq!(Request::decode(&request.encode()), Ok(request));
    }
    for response in responses() {
        assert_eq!(Response::decode(&response.encode()), Ok(response));
    }
}

#[test]
fn messages_that_are_cut_or_too_long_are_refused() {
    let request = call().encode();
    for length in 0..request.len() {
        assert!(Request::decode(&request[..length]).is_err(), "{length}");
    }
    let longer = [&request[..], &[0]].concat();
    assert_eq!(Request::decode(&longer), Err(MessageError::Long(1)));
    for response in responses().iter().map(Response::encode) {
        for length in 0..response.len() {
            assert!(Response::decode(&response[..length]).is_err(), "{length}");
        }
    }
}

#[test]
fn rows_beyond_a_batch_are_refused() {
    let of = |rows: usize| {
        let arguments = vec![column(FunctionType::Bool, &vec![Value::Bool(true); rows])];
        Request::decode(&Request::Call { millis: 1, rows, arguments }.encode())
    };
    assert!(of(FUNCTION_BATCH_ROWS).is_ok());
    let error = of(FUNCTION_BATCH_ROWS + 1).expect_err("refused");
    assert_eq!(error, MessageError::TooMany(FUNCTION_BATCH_ROWS + 1, "rows", FUNCTION_BATCH_ROWS));
}

#[test]
fn states_beyond_their_limit_are_refused() {
    let of = |bytes| Response::decode(&Response::State("1".repeat(bytes)).encode());
    assert!(of(FUNCTION_STATE_BYTES_MAX).is_ok());
    assert!(of(FUNCTION_STATE_BYTES_MAX + 1).is_err());
    let merge = |count| Request::Merge { millis: 1, states: vec!["1".to_owned(); count] };
    assert!(Request::decode(&merge(STATES_MAX).encode()).is_ok());
    assert!(Request::decode(&merge(STATES_MAX + 1).encode()).is_err());
    assert!(Request::decode(&merge(0).encode()).is_err());
}

#[test]
fn frames_beyond_the_limit_are_refused_before_they_are_read() {
    let head = |bytes: usize| u32::try_from(bytes).expect("fits").to_le_bytes();
    assert_eq!(message_length(head(FUNCTION_MESSAGE_BYTES_MAX)), Some(FUNCTION_MESSAGE_BYTES_MAX));
    assert_eq!(message_length(head(FUNCTION_MESSAGE_BYTES_MAX + 1)), None);
    assert!(read_frame(&mut &u32::MAX.to_le_bytes()[..]).is_err());
    let mut bytes = Vec::new();
    write_frame(&mut bytes, b"abc").expect("written");
    assert_eq!(read_frame(&mut &bytes[..]).expect("read"), b"abc");
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // Neither panics, nor takes memory that the bytes do not pay for.
        if let Ok(request) = Request::decode(&bytes) {
            prop_assert!(request.encode().len() < 1_000);
        }
        if let Ok(response) = Response::decode(&bytes) {
            prop_assert!(response.encode().len() < 1_000);
        }
    }
}
