use hadal_types::{FunctionKind, FunctionParameter};

use super::*;

const MILLIS: u32 = 60_000;

fn definition(
    parameters: &[FunctionType],
    returns: FunctionType,
    source: &str,
) -> FunctionDefinition {
    let parameter = |(index, &value_type): (usize, &FunctionType)| FunctionParameter {
        name: ["a", "b", "c"][index].to_owned(),
        value_type,
    };
    FunctionDefinition {
        name: "f".to_owned(),
        kind: FunctionKind::Scalar,
        parameters: parameters.iter().enumerate().map(parameter).collect(),
        returns,
        called_on_null: false,
        source: source.to_owned(),
    }
}

fn called(
    definition: FunctionDefinition,
    rows: &[&[Value]],
    millis: u32,
) -> Result<Vec<Value>, Failure> {
    let columns = definition.parameters.iter().enumerate().map(|(index, parameter)| {
        let mut column = UdfColumn::with_capacity(parameter.value_type, rows.len());
        rows.iter().for_each(|row| column.push(&row[index]));
        column
    });
    let columns = columns.collect();
    let column = Engine::load(definition)?.call(millis, rows.len(), columns)?;
    Ok((0..rows.len()).map(|row| column.value(row)).collect())
}

/// The failure of a function of a number.
fn failed(source: &str, millis: u32) -> (u32, String) {
    let definition = definition(&[FunctionType::Number], FunctionType::Number, source);
    let failure = called(definition, &[&[Value::integer(1)]], millis).expect_err("fails");
    (failure.line, failure.message)
}

#[test]
fn numbers_strings_and_truth_values_go_in_and_out() {
    use FunctionType::{Bool, Number, String};
    let row = [Value::integer(2), Value::string("añb"), Value::Bool(true)];
    let parameters = [Number, String, Bool];
    let call = |returns, source| called(definition(&parameters, returns, source), &[&row], MILLIS);
    assert_eq!(call(Number, "return a + b.length").expect("5"), [Value::integer(5)]);
    assert_eq!(
        call(String, "return b.toUpperCase() + c").expect("text"),
        [Value::string("AÑBtrue")]
    );
    assert_eq!(call(Bool, "return c && a > 1").expect("true"), [Value::Bool(true)]);
    assert_eq!(call(Number, "return a / 0").expect("null"), [Value::Null]);
    assert_eq!(call(Number, "").expect("null"), [Value::Null]);
}

#[test]
fn null_arguments_give_null_unless_the_function_wants_them() {
    let rows: [&[Value]; 3] = [&[Value::integer(1)], &[Value::Null], &[Value::integer(3)]];
    let plain =
        definition(&[FunctionType::Number], FunctionType::Number, "return a === null ? 7 : a");
    let values = called(plain.clone(), &rows, MILLIS).expect("called");
    assert_eq!(values, [Value::integer(1), Value::Null, Value::integer(3)]);
    let wanting = FunctionDefinition { called_on_null: true, ..plain };
    let values = called(wanting, &rows, MILLIS).expect("called");
    assert_eq!(values, [Value::integer(1), Value::integer(7), Value::integer(3)]);
}

#[test]
fn failures_have_their_line_and_reason() {
    let (line, message) = failed("let x = 1;\nthrow new Error('no ' + x)", MILLIS);
    assert_eq!((line, message.as_str()), (2, "Error: no 1"));
    let (line, message) = failed("\n\nreturn a.b.c", MILLIS);
    assert_eq!(line, 3, "{message}");
    assert!(message.starts_with("TypeError: "), "{message}");
    let (line, message) = failed("return 1\n +* 2", MILLIS);
    assert_eq!(line, 2, "{message}");
    assert!(message.starts_with("SyntaxError: "), "{message}");
    assert_eq!(failed("throw 'x'", MILLIS).1, "throws x");
    let (line, message) = failed("return 'x'", MILLIS);
    assert_eq!(
        (line, message.as_str()),
        (1, "returns a string, but the declared result is a number")
    );
    let (_, message) = failed("y = a; return y", MILLIS);
    assert!(message.contains("y"), "no global variable: {message}");
}

#[test]
fn loops_recursion_and_hoarders_end() {
    let (line, message) = failed("\nwhile (true) {\n}", 50);
    assert_eq!(message, "runs longer than 50 ms for one batch of rows");
    assert!(line > 0, "the loop's line");
    let (_, message) = failed("try { while (true); } catch (e) { return 1 }", 50);
    assert!(message.starts_with("runs longer"), "not caught: {message}");
    let (line, message) = failed("function g(n) { return g(n + 1) + 1 }\nreturn g(0)", MILLIS);
    assert!(line > 0 && message.to_lowercase().contains("stack"), "{line} {message}");
    let hoarder = "const all = [];\nwhile (true) all.push('x'.repeat(1e6) + all.length)";
    let (_, message) = failed(hoarder, MILLIS);
    assert_eq!(message, format!("needs more than {FUNCTION_MEMORY_BYTES_MAX} bytes of memory"));
    const { assert!(FUNCTION_STACK_BYTES_MAX < FUNCTION_MEMORY_BYTES_MAX) };
}

#[test]
fn nothing_leads_outside_and_no_state_stays() {
    let source = "return ['require', 'process', 'std', 'os', 'fetch', 'print', 'console', \
                  'setTimeout', 'Worker', 'Promise'].filter(x => x in globalThis).join()";
    let outside = definition(&[], FunctionType::String, source);
    assert_eq!(called(outside, &[&[]], MILLIS).expect("names"), [Value::string("")]);
    let counter = "globalThis.n = (globalThis.n || 0) + 1; Math.abs = () => 7; return globalThis.n";
    for _ in 0..2 {
        let counter = definition(&[], FunctionType::Number, counter);
        assert_eq!(called(counter, &[&[]], MILLIS).expect("one"), [Value::integer(1)]);
    }
    let abs = definition(&[], FunctionType::Number, "return Math.abs(-1)");
    assert_eq!(called(abs, &[&[]], MILLIS).expect("one"), [Value::integer(1)]);
}

#[test]
fn strings_beyond_the_limit_are_refused() {
    let of = |bytes: usize| {
        let source = format!("return 'x'.repeat({bytes})");
        called(definition(&[], FunctionType::String, &source), &[&[]], MILLIS)
    };
    assert!(of(COMPUTED_STRING_BYTES_MAX).is_ok());
    let failure = of(COMPUTED_STRING_BYTES_MAX + 1).expect_err("too long");
    assert!(failure.message.starts_with("returns strings of"), "{}", failure.message);
}

#[test]
fn an_aggregate_is_updated_merged_and_finished() {
    let source = "function init() { return { n: 0, sum: 0 } }\n\
                  function update(s, a, weight) { s.n += weight; s.sum += weight * a }\n\
                  function merge(a, b) { return { n: a.n + b.n, sum: a.sum + b.sum } }\n\
                  function finish(s) { return s.sum / s.n }";
    let mean = FunctionDefinition {
        kind: FunctionKind::Aggregate,
        ..definition(&[FunctionType::Number], FunctionType::Number, source)
    };
    let mut engine = Engine::load(mean).expect("compiles");
    let mut column = UdfColumn::with_capacity(FunctionType::Number, 2);
    [Value::integer(1), Value::integer(4)].iter().for_each(|value| column.push(value));
    let columns = || vec![column.clone()];
    let first = engine.update(MILLIS, None, (2, vec![1.0, 3.0]), columns()).expect("updated");
    assert_eq!(first, r#"{"n":4,"sum":13}"#);
    let second = engine.update(MILLIS, Some(first.clone()), (2, vec![1.0, 1.0]), columns());
    let merged = engine.merge(MILLIS, vec![first, second.expect("updated")]).expect("merged");
    assert_eq!(merged, r#"{"n":10,"sum":31}"#);
    assert_eq!(
        engine.finish(MILLIS, merged).expect("finished").value(0),
        Value::Number(Number::from_f64(3.1).expect("finite"))
    );
    let failure = engine.finish(MILLIS, "no JSON".to_owned()).expect_err("no state");
    assert!(failure.message.starts_with("SyntaxError"), "{}", failure.message);
}

#[test]
fn states_beyond_the_limit_are_refused() {
    let source = "function init() { return '' } function update(s, a) { return 'x'.repeat(a) } \
                  function merge(a) { return a } function finish(s) { return 1 }";
    let of = |bytes: usize| {
        let grown = FunctionDefinition {
            kind: FunctionKind::Aggregate,
            ..definition(&[FunctionType::Number], FunctionType::Number, source)
        };
        let mut column = UdfColumn::with_capacity(FunctionType::Number, 1);
        column.push(&Value::integer(i64::try_from(bytes).expect("few")));
        let mut engine = Engine::load(grown).expect("compiles");
        engine.update(MILLIS, None, (1, vec![1.0]), vec![column])
    };
    // Two quotation marks are a part of the JSON.
    assert!(of(FUNCTION_STATE_BYTES_MAX - 2).is_ok());
    let failure = of(FUNCTION_STATE_BYTES_MAX - 1).expect_err("too long");
    assert!(failure.message.contains("bytes of JSON"), "{}", failure.message);
}
