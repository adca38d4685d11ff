use prost::Message;

use super::*;
use crate::proto;

/// Checks the estimate for lists of several lengths, of messages of two bytes each. The memory held
/// is at most the estimate, and at least an eighth of it.
#[track_caller]
fn assert_estimate<M: Message + Shaped + Default>(field: u8, held: impl Fn(&M) -> usize) {
    for count in [4, 5, 64, 65, 1_000] {
        let bytes = Bytes::from([field << 3 | 2, 0].repeat(count));
        let estimate = memory::<M>(&bytes, usize::MAX).expect("well-formed");
        let held = held(&M::decode(bytes).expect("protobuf"));
        assert!(held <= estimate, "{count}: {held} bytes are held, {estimate} were estimated");
        assert!(estimate <= 8 * held, "{count}: {held} bytes are held, {estimate} were estimated");
    }
}

fn room<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

#[test]
fn lists_take_what_is_estimated() {
    assert_estimate::<proto::Row>(1, |row| room(&row.values));
    assert_estimate::<proto::Expr>(1, |expr| room(&expr.nodes));
    assert_estimate::<proto::Groups>(4, |groups| room(&groups.keys));
    assert_estimate::<proto::Groups>(6, |groups| room(&groups.states));
    assert_estimate::<proto::Strings>(1, |strings| room(&strings.elements));
    assert_estimate::<proto::Coverage>(6, |coverage| room(&coverage.leaves));
    assert_estimate::<proto::Query>(7, |query| room(&query.outputs));
    assert_estimate::<proto::Status>(1, |status| room(&status.leaves));
}

#[test]
fn packed_numbers_take_what_is_estimated() {
    let bytes =
        Bytes::from(proto::Sum { doubles: vec![0; 999], ..Default::default() }.encode_to_vec());
    let estimate = memory::<proto::Sum>(&bytes, usize::MAX).expect("well-formed");
    let sum = proto::Sum::decode(bytes).expect("protobuf");
    assert_eq!(sum.doubles.len(), 999);
    assert!(room(&sum.doubles) <= estimate);
}

#[test]
fn texts_are_counted_however_deep_they_are() {
    let text = "x".repeat(1_000);
    let value = proto::Value { value: Some(proto::value::Value::String(text)) };
    let row = proto::Row { values: vec![value; 10] };
    let bytes = row.encode_to_vec();
    assert!(memory::<proto::Row>(&bytes, 10_000).is_err());
    assert!(memory::<proto::Row>(&bytes, 20_000).is_ok());
}

#[test]
fn what_is_no_protobuf_is_refused() {
    let refused = |bytes: &[u8]| {
        let error = memory::<proto::TableName>(bytes, usize::MAX).expect_err("refused");
        error.to_string()
    };
    assert_eq!(refused(&[0x0a]), ": not protobuf: 1 bytes where only 0 are left");
    assert_eq!(refused(&[0x0a, 9, 1]), ": not protobuf: 9 bytes where only 1 are left");
    assert_eq!(refused(&[0x0b]), ": not protobuf: TableName: wire type 3");
    assert_eq!(refused(&[0x12, 0]), ": field 2 is unknown");
    assert_eq!(refused(&[0xff; 11]), ": not protobuf: an integer of more than 64 bits");
    let long = [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert!(refused(&long).contains("18446744073709551615 bytes"));
}

#[test]
fn integers_are_read_as_prost_writes_them() {
    for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
        let mut written = Vec::new();
        prost::encoding::encode_varint(value, &mut written);
        let mut rest = &written[..];
        assert_eq!(varint(&mut rest), Ok(value));
        assert!(rest.is_empty());
    }
    assert!(
        varint(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02][..]).is_err()
    );
}
