use hadal_types::{Kind, LeafState};

use super::*;

fn column(name: &str, kinds: &[Kind]) -> proto::ColumnSchema {
    let part = |kind: &Kind| proto::ColumnPart {
        kind: kind.code(),
        logical: hadal_types::Logical::Plain.code(),
        rows: 1,
    };
    proto::ColumnSchema { name: name.to_owned(), parts: kinds.iter().map(part).collect() }
}

fn table(name: &str, columns: Vec<proto::ColumnSchema>) -> proto::TableStatus {
    let schema = proto::TableSchema {
        name: name.to_owned(),
        time_column: "time".to_owned(),
        columns,
        rows: 1,
        time_span: None,
    };
    proto::TableStatus { schema: Some(schema), ..Default::default() }
}

fn leaf(name: &str, tables: Vec<proto::TableStatus>) -> proto::LeafStatus {
    proto::LeafStatus {
        name: name.to_owned(),
        state: LeafState::Alive.code(),
        block_bytes: 0,
        tables: frames::encode(tables),
        losses: Vec::new(),
    }
}

fn refused(leaves: Vec<proto::LeafStatus>) -> String {
    let bytes = proto::Status { leaves }.encode_to_vec();
    decode_status(bytes.into()).expect_err("refused").to_string()
}

#[test]
fn everything_is_in_order() {
    assert_eq!(
        refused(vec![leaf("b", vec![]), leaf("a", vec![])]),
        "Status: found leaves out of order, expected ascending names"
    );
    assert_eq!(
        refused(vec![leaf("a", vec![table("t", vec![]), table("t", vec![])])]),
        "Status.leaves[0].tables[1]: found tables out of order, expected ascending names"
    );
    let twice = vec![column("c", &[Kind::Set]), column("c", &[Kind::Set])];
    assert_eq!(
        refused(vec![leaf("a", vec![table("t", twice)])]),
        "Status.leaves[0].tables[0].schema: found columns out of order, expected ascending names"
    );
    for kinds in [&[][..], &[Kind::Set, Kind::Number], &[Kind::Set, Kind::Set]] {
        assert_eq!(
            refused(vec![leaf("a", vec![table("t", vec![column("c", kinds)])])]),
            "Status.leaves[0].tables[0].schema.columns[0].parts: found parts missing or out of order, \
             expected ascending kinds"
        );
    }
}

/// `count` leaves without tables.
fn leaves(count: usize) -> Vec<proto::LeafStatus> {
    (0..count).map(|number| leaf(&format!("leaf-{number:05}"), vec![])).collect()
}

#[test]
fn leaves_and_tables_are_bounded() {
    let status = proto::Status { leaves: leaves(LEAVES_MAX) }.encode_to_vec();
    assert_eq!(decode_status(status.into()).expect("read").leaves.len(), LEAVES_MAX);
    let message = format!("Status: {} leaves; at most {LEAVES_MAX} are allowed", LEAVES_MAX + 1);
    assert_eq!(refused(leaves(LEAVES_MAX + 1)), message);
    let tables = |count| (0..count).map(|number| table(&format!("t{number:05}"), vec![])).collect();
    let status = proto::Status { leaves: vec![leaf("a", tables(TABLES_MAX))] }.encode_to_vec();
    assert_eq!(decode_status(status.into()).expect("read").leaves[0].tables.len(), TABLES_MAX);
    let message = refused(vec![leaf("a", tables(TABLES_MAX + 1))]);
    assert!(message.contains(&format!("at most {TABLES_MAX}")), "{message}");
}

#[test]
fn time_does_not_run_backwards() {
    let mut table = table("t", vec![]);
    let schema = table.schema.as_mut().expect("a schema");
    schema.time_span = Some(proto::TimeSpan { first_micros: 1, last_micros: 0 });
    assert_eq!(
        refused(vec![leaf("a", vec![table])]),
        "Status.leaves[0].tables[0].schema.time_span: found 1 to 0, expected the first time before the \
         last"
    );
}

#[test]
fn a_leaf_has_a_name_and_a_state() {
    let nameless = leaf("", vec![]);
    assert_eq!(
        refused(vec![nameless]),
        "Status.leaves[0].name: found no text, expected a leaf's name"
    );
    let unknown = proto::LeafStatus { state: 5, ..leaf("a", vec![]) };
    assert_eq!(refused(vec![unknown]), "Status.leaves[0].state: code 5 is unknown");
}
