use super::*;
use hadal_types::{AgeLimit, Document, DocumentKind, FunctionKind, FunctionType};

fn table(name: &str) -> TableName {
    TableName::new(name).expect("a name")
}

fn settings(days: i64) -> TableSettings {
    TableSettings { age: Some(AgeLimit::Seconds(days * 86_400)), ..TableSettings::default() }
}

fn revoked(batch: &str) -> RevokedBatch {
    let leaf = LeafName("m1/leaf-0".into());
    let batch = BatchId::new(batch).expect("an id");
    let instead = LeafName("m1/leaf-1".into());
    RevokedBatch { leaf, table: table("t"), batch, instead, at: Micros(-7), is_held: true }
}

fn function() -> FunctionDefinition {
    FunctionDefinition {
        name: "f".to_owned(),
        kind: FunctionKind::Scalar,
        parameters: Vec::new(),
        returns: FunctionType::Bool,
        called_on_null: false,
        source: "return true".to_owned(),
    }
}

fn view() -> Document {
    let text = r#"{"name": "v", "query": "table=t"}"#;
    Document::from_json(DocumentKind::View, text).expect("a view")
}

fn requests() -> Vec<DefinitionsRequest> {
    use DefinitionsRequest as Request;
    vec![
        Request::Version,
        Request::TableSettings(table("t")),
        Request::AllTableSettings,
        Request::AddTableSettings(vec![]),
        Request::AddTableSettings(vec![(table("b"), settings(1)), (table("a"), settings(2))]),
        Request::SetTableSettings { table: table("t"), based_on: i64::MAX, settings: settings(3) },
        Request::RemoveTableSettings { table: table("t"), based_on: None },
        Request::RemoveTableSettings { table: table("t"), based_on: Some(0) },
        Request::RecordRevocation(revoked("b1")),
        Request::Revocations { leaf: LeafName("m1/leaf-0".into()), after: None },
        Request::Revocations {
            leaf: LeafName("m1/leaf-0".into()),
            after: Some((table("t"), revoked("b1").batch)),
        },
        Request::NoteHeld {
            table: table("t"),
            batch: revoked("b1").batch,
            leaf: LeafName("m1/leaf-1".into()),
        },
        Request::Functions,
        Request::SetFunction { based_on: None, definition: function() },
        Request::SetFunction { based_on: Some(0), definition: function() },
        Request::RemoveFunction("f".to_owned()),
        Request::Documents(DocumentsRequest::List(DocumentKind::Dashboard)),
        Request::Documents(DocumentsRequest::Get(DocumentKind::Snapshot, "s".to_owned())),
        Request::Documents(DocumentsRequest::Set { based_on: Some(3), document: view() }),
        Request::Documents(DocumentsRequest::Remove {
            kind: DocumentKind::View,
            name: "v".to_owned(),
            based_on: None,
        }),
        Request::RemoveRevocations(vec![revoked("b1"), revoked("b2")]),
    ]
}

fn answers() -> Vec<DefinitionsAnswer> {
    use DefinitionsAnswer as Answer;
    vec![
        Answer::Done,
        Answer::Version(0),
        Answer::Settings(None),
        Answer::Settings(Some((7, settings(1)))),
        Answer::AllSettings(vec![]),
        Answer::AllSettings(vec![(table("a"), 7, settings(1)), (table("b"), 5, settings(2))]),
        Answer::Removed(false),
        Answer::Revocations(vec![revoked("b2"), revoked("b1")]),
        Answer::Recorded(revoked("b1")),
        Answer::Functions(Vec::new()),
        Answer::Functions(vec![(3, function())]),
        Answer::Documents(DocumentsAnswer::List(
            DocumentKind::View,
            vec![(3, view().summary().clone())],
        )),
        Answer::Documents(DocumentsAnswer::One(None)),
        Answer::Documents(DocumentsAnswer::One(Some((3, view())))),
        Answer::Documents(DocumentsAnswer::Full("there are enough".to_owned())),
        Answer::Conflict(0),
        Answer::Failed("a disk is full".to_owned()),
    ]
}

#[test]
fn requests_and_answers_come_back_as_they_were() {
    for request in requests() {
        let bytes = encode_definitions_request(&request);
        assert_eq!(decode_definitions_request(bytes), Ok(request));
    }
    for answer in answers() {
        let bytes = encode_definitions_answer(&answer);
        assert_eq!(decode_definitions_answer(bytes), Ok(answer));
    }
}

#[test]
fn every_cut_message_is_refused_or_another_one() {
    for bytes in requests().iter().map(encode_definitions_request) {
        for end in 0..bytes.len() {
            drop(decode_definitions_request(bytes.slice(..end)));
        }
    }
    for bytes in answers().iter().map(encode_definitions_answer) {
        for end in 0..bytes.len() {
            drop(decode_definitions_answer(bytes.slice(..end)));
        }
    }
}

#[test]
fn a_long_reason_is_cut() {
    let reason = "\u{e4}".repeat(NOTE_BYTES_MAX);
    let bytes = encode_definitions_answer(&DefinitionsAnswer::Failed(reason));
    let expected = "\u{e4}".repeat(NOTE_BYTES_MAX / 2);
    assert_eq!(decode_definitions_answer(bytes), Ok(DefinitionsAnswer::Failed(expected)));
}

#[test]
fn tables_out_of_order_and_lists_beyond_the_limits_are_refused() {
    let refusal = |answer: &DefinitionsAnswer| {
        let refused = decode_definitions_answer(encode_definitions_answer(answer));
        refused.expect_err("refused").to_string()
    };
    let twice = vec![(table("a"), 7, settings(1)), (table("a"), 5, settings(2))];
    let error = refusal(&DefinitionsAnswer::AllSettings(twice));
    assert_eq!(error, "DefinitionsAnswer.all_settings.tables[1]: found a, expected a later name");
    let most = vec![revoked("b"); REVOCATIONS_LISTED_MAX];
    let answer = DefinitionsAnswer::Revocations(most.clone());
    assert_eq!(decode_definitions_answer(encode_definitions_answer(&answer)), Ok(answer));
    let over = [most, vec![revoked("b")]].concat();
    let error = refusal(&DefinitionsAnswer::Revocations(over));
    assert!(error.ends_with("10001 batches; at most 10000 are allowed"), "{error}");
}
