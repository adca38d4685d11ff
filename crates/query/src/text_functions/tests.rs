use super::*;
use crate::{Function, eval_scalar};

fn text(text: &str) -> Value {
    Value::string(text)
}

fn call(function: TextFunction, arguments: &[Value]) -> Value {
    eval_scalar(Function::Text(function), arguments).expect("a short string")
}

#[test]
fn parts_of_a_string_are_those_of_postgresql() {
    let n = Value::integer;
    for (function, arguments, expected) in [
        (TextFunction::Substring, vec![text("señor"), n(2), n(3)], "eño"),
        (TextFunction::Substring, vec![text("abcdef"), n(0), n(3)], "ab"),
        (TextFunction::Substring, vec![text("abcdef"), n(-2), n(4)], "a"),
        (TextFunction::Substring, vec![text("abcdef"), n(4)], "def"),
        (TextFunction::Substring, vec![text("abcdef"), n(9)], ""),
        (TextFunction::Substring, vec![text("abc"), n(2), n(i64::MAX)], "bc"),
        (TextFunction::Substring, vec![text("abc"), n(i64::MIN), n(1)], ""),
        (TextFunction::Left, vec![text("äbc"), n(2)], "äb"),
        (TextFunction::Left, vec![text("äbc"), n(-1)], "äb"),
        (TextFunction::Left, vec![text("äbc"), n(-9)], ""),
        (TextFunction::Right, vec![text("abç"), n(2)], "bç"),
        (TextFunction::Right, vec![text("abç"), n(-1)], "bç"),
        (TextFunction::Right, vec![text("abç"), n(i64::MIN)], ""),
        (TextFunction::Right, vec![text("abç"), n(i64::MAX)], "abç"),
        (TextFunction::Trim, vec![text("  a b  ")], "a b"),
        (TextFunction::Trim, vec![text("\ta ")], "\ta"),
        (TextFunction::Trim, vec![text("xyaxyb"), text("yxb")], "a"),
        (TextFunction::TrimStart, vec![text("xxax"), text("x")], "ax"),
        (TextFunction::TrimEnd, vec![text("xxax"), text("x")], "xxa"),
        (TextFunction::SplitPart, vec![text("a,b,c"), text(","), n(2)], "b"),
        (TextFunction::SplitPart, vec![text("a,b,c"), text(","), n(-1)], "c"),
        (TextFunction::SplitPart, vec![text("a,b,c"), text(","), n(4)], ""),
        (TextFunction::SplitPart, vec![text("a,b,c"), text(""), n(-1)], "a,b,c"),
        (TextFunction::Replace, vec![text("aXbX"), text("X"), text("--")], "a--b--"),
        (TextFunction::Replace, vec![text("ab"), text(""), text("-")], "ab"),
        (TextFunction::Reverse, vec![text("aé")], "éa"),
        (TextFunction::Repeat, vec![text("ab"), n(2)], "abab"),
        (TextFunction::Repeat, vec![text("ab"), n(-2)], ""),
        (TextFunction::PadStart, vec![text("hi"), n(5), text("xy")], "xyxhi"),
        (TextFunction::PadStart, vec![text("hello"), n(2)], "he"),
        (TextFunction::PadEnd, vec![text("hi"), n(4)], "hi  "),
        (TextFunction::PadEnd, vec![text("hi"), n(4), text("")], "hi"),
        (TextFunction::PadEnd, vec![text("hi"), n(-4)], ""),
    ] {
        assert_eq!(call(function, &arguments), text(expected), "{function:?} {arguments:?}");
    }
}

#[test]
fn relations_and_odd_arguments() {
    let n = Value::integer;
    assert_eq!(call(TextFunction::Position, &[text("ébc"), text("c")]), n(3));
    assert_eq!(call(TextFunction::Position, &[text("abc"), text("")]), n(1));
    assert_eq!(call(TextFunction::Position, &[text("abc"), text("x")]), n(0));
    assert_eq!(call(TextFunction::StartsWith, &[text("abc"), text("ab")]), Value::Bool(true));
    assert_eq!(call(TextFunction::EndsWith, &[text("abc"), text("ab")]), Value::Bool(false));
    assert_eq!(call(TextFunction::Contains, &[text("abc"), text("b")]), Value::Bool(true));
    for (function, arguments) in [
        (TextFunction::Substring, vec![text("abc"), n(1), n(-1)]),
        (TextFunction::SplitPart, vec![text("abc"), text("b"), n(0)]),
        (TextFunction::Left, vec![text("abc"), Value::Null]),
        (TextFunction::Left, vec![Value::Null, n(1)]),
        (TextFunction::Trim, vec![text("abc"), Value::Null]),
        (TextFunction::Replace, vec![text("abc"), text("a"), Value::Null]),
        (TextFunction::Contains, vec![n(1), text("a")]),
    ] {
        assert_eq!(call(function, &arguments), Value::Null, "{function:?} {arguments:?}");
    }
}

#[test]
fn long_results_are_refused_before_they_are_made() {
    let most = i64::try_from(COMPUTED_STRING_BYTES_MAX).expect("a small limit");
    let of = |function, arguments: &[Value]| eval_scalar(Function::Text(function), arguments);
    let half = text(&"x".repeat(COMPUTED_STRING_BYTES_MAX / 2));
    assert!(of(TextFunction::Repeat, &[half.clone(), Value::integer(2)]).is_ok());
    assert_eq!(
        of(TextFunction::Repeat, &[text("x"), Value::integer(i64::MAX)]),
        Err(StringTooLong)
    );
    assert_eq!(of(TextFunction::PadEnd, &[text(""), Value::integer(most + 1)]), Err(StringTooLong));
    assert!(of(TextFunction::PadEnd, &[text(""), Value::integer(most)]).is_ok());
    // Two to the 38 bytes.
    let replaced = [half.clone(), text("x"), half];
    assert_eq!(of(TextFunction::Replace, &replaced), Err(StringTooLong));
}
