use super::*;

/// For calls that return short strings.
fn call(function: Function, arguments: &[Value]) -> Value {
    super::eval_scalar(function, arguments).expect("short strings")
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect(text))
}

fn time(text: &str) -> Value {
    Value::Time(hadal_types::time::parse_timestamp(text).expect(text))
}

const YES: Value = Value::Bool(true);
const NO: Value = Value::Bool(false);
const NULL: Value = Value::Null;

#[test]
fn logic_has_three_values() {
    assert_eq!(call(Function::And, &[YES, NULL]), NULL);
    assert_eq!(call(Function::And, &[NO, NULL]), NO);
    assert_eq!(call(Function::Or, &[YES, NULL]), YES);
    assert_eq!(call(Function::Or, &[NO, NULL]), NULL);
    assert_eq!(call(Function::Not, &[NULL]), NULL);
    assert_eq!(call(Function::And, &[]), YES);
    assert_eq!(call(Function::Or, &[]), NO);
}

#[test]
fn null_is_never_equal() {
    assert_eq!(call(Function::Equal, &[NULL, NULL]), NULL);
    assert_eq!(call(Function::IsNull, &[NULL]), YES);
    assert_eq!(call(Function::In, &[number("1"), number("2"), NULL]), NULL);
    assert_eq!(call(Function::In, &[number("1"), number("1"), NULL]), YES);
    assert_eq!(call(Function::In, &[number("1"), number("2")]), NO);
}

#[test]
fn decimals_are_exact_and_overflow_to_doubles() {
    let add = |left: &str, right: &str| call(Function::Add, &[number(left), number(right)]);
    assert_eq!(add("0.1", "0.2"), number("0.3"));
    assert_eq!(add("1e300", "1e300"), number("2e300"));
    assert_eq!(call(Function::Divide, &[number("7"), number("2")]), number("3.5"));
    assert_eq!(call(Function::DivideWhole, &[number("-7"), number("2")]), number("-3"));
    assert_eq!(call(Function::Divide, &[number("7"), number("0")]), NULL);
    assert_eq!(call(Function::DivideWhole, &[number("7"), number("0")]), NULL);
    assert_eq!(call(Function::Remainder, &[number("-7"), number("2")]), number("-1"));
    assert_eq!(call(Function::Bucket, &[number("-0.5"), number("2")]), number("-2"));
    assert_eq!(call(Function::Multiply, &[number("1e300"), number("1e300")]), NULL);
}

#[test]
fn arithmetic_depends_on_the_number_and_not_on_its_form() {
    let of = |function, left: &str, right: &str| call(function, &[number(left), number(right)]);
    // The first number is stored as a decimal, the others as doubles.
    for (id, next, rest) in [
        ("18446744073709551615", "18446744073709551616", "15"),
        ("18446744073709552000", "18446744073709552001", "128"),
        ("10000000000000000000", "10000000000000000001", "0"),
    ] {
        assert_eq!(of(Function::Add, id, "1"), number(next));
        assert_eq!(of(Function::Subtract, next, "1"), number(id));
        let modulus = if rest == "128" { "256" } else { "16" };
        assert_eq!(of(Function::Remainder, id, modulus), number(rest), "{id}");
        assert_eq!(of(Function::Bucket, id, "1"), number(id));
        assert_eq!(call(Function::ToText, &[number(id)]), Value::string(id));
        assert_eq!(call(Function::Floor, &[number(id)]), number(id));
        assert_eq!(call(Function::Less, &[number(id), number(next)]), YES);
    }
    let smallest = "-170141183460469231731687303715884105728";
    assert_eq!(call(Function::Ceil, &[number(smallest)]), number(smallest));
    assert_eq!(call(Function::Abs, &[number(smallest)]), number("1.7014118346046923e38"));
    assert_eq!(
        of(Function::Round, "12345678901234567890.12345678901", "3"),
        number("12345678901234567890.123")
    );
}

#[test]
fn rounding_goes_where_people_expect() {
    for (function, from, to) in [
        (Function::Round, "2.5", "3"),
        (Function::Round, "-2.5", "-3"),
        (Function::Floor, "-2.5", "-3"),
        (Function::Ceil, "-2.5", "-2"),
        (Function::Ceil, "2.000001", "3"),
        (Function::Abs, "-2.5", "2.5"),
    ] {
        assert_eq!(call(function, &[number(from)]), number(to), "{function:?} {from}");
    }
    assert_eq!(
        call(Function::Round, &[number("2.345"), number("2")]),
        number("2.35"),
        "rounds to digits"
    );
}

#[test]
fn rounding_loses_no_number() {
    let round = |from: &str, digits: &str| call(Function::Round, &[number(from), number(digits)]);
    assert_eq!(call(Function::Round, &[number("1e300")]), number("1e300"));
    assert_eq!(round("1e300", "8"), number("1e300"));
    assert_eq!(round("9.3e18", "6"), number("9.3e18"));
    assert_eq!(round("10000000000", "30"), number("10000000000"));
    assert_eq!(round("1e-30", "2"), number("0"));
}

#[test]
fn rounding_reaches_before_the_point() {
    let round = |from: &str, digits: &str| call(Function::Round, &[number(from), number(digits)]);
    for (from, digits, to) in [
        ("1250", "-2", "1300"),
        ("-1250", "-2", "-1300"),
        ("1249.999", "-2", "1200"),
        ("49.99", "-2", "0"),
        ("50", "-2", "100"),
        ("1200", "-2", "1200"),
        ("0", "-18", "0"),
        ("1e-300", "-1", "0"),
        ("9223372036854775807", "-18", "9000000000000000000"),
        ("9500000000000000000", "-18", "10000000000000000000"),
        ("1e300", "-18", "1e300"),
    ] {
        let expected = if to == "10000000000000000000" {
            Value::Number(Decimal::new(10_000_000_000_000_000_000, 0).expect("fits").into())
        } else {
            number(to)
        };
        assert_eq!(round(from, digits), expected, "{from} {digits}");
    }
    assert_eq!(round("1.5", "-19"), NULL);
    assert_eq!(round("1.5", "256"), NULL);
}

#[test]
fn buckets_have_a_width() {
    let bucket = |from: &str, width: &str| call(Function::Bucket, &[number(from), number(width)]);
    for width in ["0", "-2", "-1e300"] {
        assert_eq!(bucket("5", width), NULL, "{width}");
        assert_eq!(bucket("1e300", width), NULL, "{width}");
    }
}

#[test]
fn whole_quotients_of_decimals_are_exact() {
    let divide =
        |left: &str, right: &str| call(Function::DivideWhole, &[number(left), number(right)]);
    // As doubles, 0.3 / 0.1 is below 3.
    assert_eq!(divide("0.3", "0.1"), number("3"));
    assert_eq!(divide("-7.5", "2"), number("-3"));
    assert_eq!(divide("1e300", "1e299"), number("10"));
}

#[test]
fn the_calendar_reaches_to_both_ends() {
    let field = |field, time| call(Function::Extract(field), &[Value::Time(time)]);
    assert_eq!(field(TimeField::Year, Micros::MAX), number("9999"));
    assert_eq!(field(TimeField::Second, Micros::MAX), number("59.999999"));
    assert_eq!(field(TimeField::Epoch, Micros::MAX), number("253402300799.999999"));
    assert_eq!(field(TimeField::Year, Micros::MIN), number("1"));
    assert_eq!(field(TimeField::DayOfWeek, Micros::MIN), number("1"));
}

#[test]
fn time_counts_in_seconds() {
    let (noon, later) = (time("2023-11-15T12:00:00Z"), time("2023-11-15T12:01:30.9Z"));
    assert_eq!(call(Function::SecondsBetween, &[later.clone(), noon.clone()]), number("90.9"));
    assert_eq!(call(Function::SecondsBetween, &[noon.clone(), later.clone()]), number("-90.9"));
    assert_eq!(call(Function::AddSeconds, &[noon.clone(), number("90.9")]), later);
    let minute = [later.clone(), number("60000000")];
    assert_eq!(call(Function::TimeBucket, &minute), time("2023-11-15T12:01:00Z"));
    assert_eq!(call(Function::Extract(TimeField::Hour), &[noon]), number("12"));
    assert_eq!(call(Function::Extract(TimeField::Second), &[later]), number("30.9"));
}

#[test]
fn lists_are_searched_in_their_order() {
    let list = Value::vector(["a", "b", "c"]);
    let ask = |function, words: &[&str]| {
        let words = words.iter().map(|word| Value::string(word));
        call(function, &std::iter::once(list.clone()).chain(words).collect::<Vec<_>>())
    };
    assert_eq!(ask(Function::IncludesAny, &["x", "c"]), YES);
    assert_eq!(ask(Function::IncludesAll, &["a", "x"]), NO);
    assert_eq!(ask(Function::IncludesNone, &["x"]), YES);
    assert_eq!(ask(Function::IncludesStart, &["a", "b"]), YES);
    assert_eq!(ask(Function::IncludesStart, &["b"]), NO);
    assert_eq!(ask(Function::IncludesEnd, &["b", "c"]), YES);
    assert_eq!(ask(Function::IncludesEnd, &["a", "b", "c", "d"]), NO);
    assert_eq!(ask(Function::IncludesWithin, &["b"]), YES);
    assert_eq!(ask(Function::IncludesWithin, &["a", "c"]), NO);
    assert_eq!(ask(Function::IncludesWithin, &[]), YES);
    assert_eq!(call(Function::IncludesNone, &[NULL, Value::string("a")]), NULL);
    assert_eq!(call(Function::IsEmpty, &[Value::vector::<&str>([])]), YES);
    assert_eq!(call(Function::IsEmpty, &[NULL]), NULL);
}

#[test]
fn conditions_choose_values() {
    let arms = [NULL, number("1"), YES, number("2"), number("3")];
    assert_eq!(call(Function::Case, &arms), number("2"));
    assert_eq!(call(Function::Case, &[NO, number("1")]), NULL);
    assert_eq!(call(Function::Coalesce, &[NULL, number("1")]), number("1"));
}

#[test]
fn text_and_numbers_turn_into_each_other() {
    assert_eq!(call(Function::ToNumber, &[Value::string(" 1.50 ")]), number("1.5"));
    assert_eq!(call(Function::ToNumber, &[Value::string("x")]), NULL);
    assert_eq!(call(Function::ToText, &[number("1.50")]), Value::string("1.5"));
    assert_eq!(
        call(Function::Concat, &[Value::string("a"), NULL, number("1")]),
        Value::string("a1")
    );
    assert_eq!(call(Function::Length, &[Value::string("été")]), number("3"));
}
