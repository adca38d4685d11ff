//! Lowered queries can run and give values of their types: for every call with every two leaves,
//! and for random expressions.

use hadal_query::{
    Expr, Function, GroupInput, Output, OutputExpr, Prepared, Query, QueryKind, RowExpr, RowInput,
    Type, eval_scalar,
};
use hadal_types::{Micros, Value};
use proptest::prelude::*;

use super::catalog::NOW;
use super::statement;
use crate::Statement;

const LEAVES: &str = "bytes latency mixed mixed::string ok sent time service tags stack \
    search('a') 0 7 1.5 1e300 'x' '2023-11-15' '12' true NULL now() INTERVAL'1h'";

/// One call or operator per line, with the operands `#` and `@`.
const CALLS: &str = "(#) + (@)
(#) - (@)
(#) * (@)
(#) / (@)
(#) % (@)
(#) || (@)
(#) = (@)
(#) <> (@)
(#) < (@)
(#) >= (@)
(#) AND (@)
(#) OR (@)
(#) IN (1, @, 'x')
(#) BETWEEN 0 AND (@)
coalesce(#, @)
concat(#, @)
nullif(#, @)
CASE WHEN # THEN @ END
CASE # WHEN @ THEN 1 END
-(#)
NOT (#)
(#) IS NULL
(#) IS NOT TRUE
(#) ~ 'a'
(#) NOT LIKE '1%'
(#)::string
(#)::number
(#)::bool
(#)::timestamp
(#)::date
abs(#)
bucket(#, 10)
ceil(#)
date_trunc('week', #)
epoch(#)
extract(second FROM #)
includes_any(#, 'a')
includes_start(#, 'a')
is_empty(#)
length(#)
lower(#)
round(#, 1)
time_bucket('1m', #)
to_number(#)
to_timestamp(#)";

fn filled(call: &str, one: &str, two: &str) -> String {
    call.replace('#', one).replace('@', two)
}

fn expression() -> impl Strategy<Value = String> {
    let leaves: Vec<&str> = LEAVES.split_whitespace().collect();
    let leaf = prop::sample::select(leaves).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 2, |inner| {
        let calls: Vec<&str> = CALLS.lines().collect();
        (prop::sample::select(calls), inner.clone(), inner)
            .prop_map(|(call, one, two)| filled(call, &one, &two))
    })
}

/// Some value of an input.
fn some(input: &RowInput) -> Value {
    let value_type = match input {
        RowInput::Time => Type::Time,
        RowInput::Column(column) => column.value_type(),
        RowInput::AnyText(_) => Type::Bool,
        RowInput::Random(_) => Type::Number,
    };
    match value_type {
        Type::Null | Type::Histogram => Value::Null,
        Type::Bool => Value::Bool(true),
        Type::Number => Value::Number("-12.5".parse().expect("a number")),
        Type::Time => Value::Time(Micros(NOW.0 - 1)),
        Type::String => Value::string("a1"),
        Type::Set => Value::set(["a", "b"]),
        Type::Vector => Value::vector(["b", "a"]),
    }
}

/// Checks that all expressions of a query can be prepared.
fn check_prepared(query: &Query) -> Result<(), TestCaseError> {
    let (values, measures) = match &query.kind {
        QueryKind::Rows { values } => (values, &[][..]),
        QueryKind::Groups { keys, measures } => (keys, measures.as_slice()),
    };
    let arguments = measures.iter().flat_map(hadal_query::Measure::exprs);
    for row in values.iter().chain(arguments).chain(&query.filter) {
        let prepared =
            Prepared::new(row).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let _ = prepared.value(&some);
        let _ = prepared.value(&|_| Value::Null);
    }
    let outputs = query.outputs.iter().map(|output| &output.expr);
    let orders = query.order.iter().map(|key| &key.expr);
    for output in outputs.chain(orders).chain(&query.having) {
        Prepared::new(output).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    Ok(())
}

/// The value of a raw row's output.
fn raw_value(query: &Query, output: &OutputExpr, input: &impl Fn(&RowInput) -> Value) -> Value {
    match (output, &query.kind) {
        (Expr::Literal(value), _) => value.clone(),
        (Expr::Leaf(GroupInput::Key(index)), QueryKind::Rows { values }) => {
            Prepared::new(&values[*index]).expect("checked").value(input).expect("short strings")
        }
        other => panic!("{other:?}"),
    }
}

/// The value by each function's definition, without preparing or folding.
fn plain_value(expr: &RowExpr, input: &impl Fn(&RowInput) -> Value) -> Option<Value> {
    Some(match expr {
        Expr::Literal(value) => value.clone(),
        Expr::Leaf(leaf) => input(leaf),
        Expr::Call { function: Function::Matches(_), .. } => return None,
        Expr::Call { function, .. } if function.is_regexp() => return None,
        Expr::Call { function, arguments } => {
            let values = arguments.iter().map(|argument| plain_value(argument, input));
            eval_scalar(*function, &values.collect::<Option<Vec<_>>>()?).expect("short strings")
        }
    })
}

/// Checks an expression over raw rows if it is valid; returns whether it is.
fn check_value(expr: &str) -> Result<bool, TestCaseError> {
    let Ok(Statement::Query { query, .. }) = statement(&format!("SELECT {expr} FROM requests"))
    else {
        return Ok(false);
    };
    check_prepared(&query)?;
    let Output { expr: output, value_type, .. } = &query.outputs[0];
    for input in [some, |_: &RowInput| Value::Null] {
        let value = raw_value(&query, output, &input);
        let fits = value.is_null() || Type::of(&value) == *value_type;
        prop_assert!(fits, "{expr}: {value:?} is no {value_type:?}");
    }
    if let QueryKind::Rows { values } = &query.kind {
        for value in values {
            if let Some(plain) = plain_value(value, &some) {
                let ready =
                    Prepared::new(value).expect("checked").value(&some).expect("short strings");
                prop_assert_eq!(ready, plain, "{}", expr);
            }
        }
    }
    Ok(true)
}

#[test]
fn every_call_of_every_two_leaves_has_its_type() {
    let leaves: Vec<&str> = LEAVES.split_whitespace().collect();
    for call in CALLS.lines() {
        let mut fits = false;
        for one in &leaves {
            for two in leaves.iter().take(if call.contains('@') { leaves.len() } else { 1 }) {
                fits |= check_value(&filled(call, one, two)).expect(call);
            }
        }
        assert!(fits, "{call} fits nothing, so this shows nothing of it");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn what_is_lowered_runs_and_has_its_type(expr in expression()) {
        check_value(&expr)?;
    }

    #[test]
    fn questions_of_random_parts_can_run(
        one in expression(), two in expression(), three in expression(),
    ) {
        for sql in [
            format!("SELECT count(*) FROM requests WHERE {one} AND {two} ORDER BY max({three})"),
            format!("SELECT {one} AS a, sum({two}) AS s FROM requests GROUP BY a HAVING s > 1"),
            format!("SELECT p95({one}) FILTER (WHERE {two}) FROM requests GROUP BY {three}"),
            format!("SELECT DISTINCT {one}, {two} FROM requests WHERE {three} ORDER BY 2, 1 DESC"),
        ] {
            if let Ok(Statement::Query { query, .. }) = statement(&sql) {
                check_prepared(&query)?;
            }
        }
    }
}

#[test]
fn enough_random_expressions_fit() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let fits = |_: &usize| {
        let expr = expression().new_tree(&mut runner).expect("an expression").current();
        statement(&format!("SELECT {expr} FROM requests")).is_ok()
    };
    let fitting = (0..1_000).filter(fits).count();
    assert!(fitting > 100, "the properties would show little: {fitting} of 1000");
}
