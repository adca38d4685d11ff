use super::*;

fn decimal(low: u64, high: i64, scale: u32) -> Result<Number, String> {
    let number = number::Number::Decimal(proto::Decimal { low, high, scale });
    decode_number(Some(proto::Number { number: Some(number) })).map_err(|error| error.to_string())
}

fn double(double: f64) -> Result<Number, String> {
    let number = Some(number::Number::Double(double));
    decode_number(Some(proto::Number { number })).map_err(|error| error.to_string())
}

fn refused(value: value::Value) -> String {
    decode_value(proto::Value { value: Some(value) }).expect_err("refused").to_string()
}

#[test]
fn integers_of_128_bits_are_two_halves() {
    for integer in [0, 1, -1, i128::MAX, i128::MIN, 1 << 64, -(1 << 64), (1 << 64) - 1] {
        assert_eq!(decode_integer(Some(encode_integer(integer))), Ok(integer));
    }
    assert_eq!(encode_integer(-1), proto::Int128 { low: u64::MAX, high: -1 });
}

#[test]
fn a_number_has_one_spelling() {
    assert_eq!(decimal(15, 0, 1), Ok("1.5".parse().expect("a number")));
    assert_eq!(decimal(u64::MAX, 0, 0), Ok("18446744073709551615".parse().expect("a number")));
    let expected = "expected a decimal in lowest terms of scale 0 to 36 that is no double";
    let wide = 10_000_000_000_000_000_000;
    assert_eq!(decimal(wide, 0, 0), Err(format!(": found {wide} of scale 0, {expected}")));
    assert!(double(1e19).is_ok());
    assert_eq!(decimal(150, 0, 2), Err(format!(": found 150 of scale 2, {expected}")));
    assert_eq!(decimal(0, 0, 1), Err(format!(": found 0 of scale 1, {expected}")));
    assert_eq!(decimal(1, 0, 37), Err(format!(": found 1 of scale 37, {expected}")));
    assert_eq!(decimal(1, 0, 256), Err(format!(": found 1 of scale 256, {expected}")));

    assert!(double(1e300).is_ok());
    for stored in [0.0, -0.0, 0.5, 1e18] {
        let error = double(stored).expect_err("a decimal holds it");
        assert_eq!(error, format!(": found double {stored:e}, expected a decimal"));
    }
    for no_number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(double(no_number).expect_err("no number").contains("expected a finite double"));
    }
}

#[test]
fn lists_are_bounded_and_sets_are_sets() {
    let strings = |elements: &[&str]| proto::Strings {
        elements: elements.iter().map(ToString::to_string).collect(),
    };
    for elements in [&["b", "a"][..], &["a", "a"]] {
        let error = refused(value::Value::Set(strings(elements)));
        assert_eq!(error, ": found a set out of order, expected ascending elements, each once");
    }
    let vector = value::Value::Vector(strings(&["b", "a", "a"]));
    assert!(decode_value(proto::Value { value: Some(vector) }).is_ok());

    let error = refused(value::Value::Vector(strings(&[""; LIST_ELEMENTS_MAX + 1])));
    assert_eq!(error, ": 4097 elements; at most 4096 are allowed");
    let buckets = vec![proto::HistogramBucket::default(); 1_001];
    let error = refused(value::Value::Histogram(proto::Histogram { buckets }));
    assert_eq!(error, ": 1001 buckets; at most 1000 are allowed");
    let buckets = vec![proto::HistogramBucket::default()];
    let error = refused(value::Value::Histogram(proto::Histogram { buckets }));
    assert_eq!(error, "buckets[0].from: is missing");
}

#[test]
fn names_keep_to_their_rules() {
    assert!(decode_table("a/b").is_err());
    assert!(decode_column("a\nb").is_err());
    assert!(decode_batch_id("a b").is_err());
    assert!(decode_batch_id(&"x".repeat(NAME_BYTES_MAX + 1)).is_err());
    assert!(decode_leaf_name(String::new()).is_err());
    assert!(decode_leaf_name("x".repeat(NAME_BYTES_MAX + 1)).is_err());
    assert_eq!(decode_leaf_name("leaf 1".to_owned()), Ok(LeafName("leaf 1".into())));
}
