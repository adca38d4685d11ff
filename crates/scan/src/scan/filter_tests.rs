//! Filters that compare many rows at once, beside the definition of their functions.

use std::collections::BTreeSet;

use hadal_aggregate::PartialBody;
use hadal_query::{Function, RowExpr, eval_scalar};
use hadal_types::{Decimal, Kind, Number, Value};

use super::tests::{block, call, scanned, top_rows, v};

fn number(mantissa: i64) -> Value {
    Value::Number(Decimal::new(mantissa.into(), 1).expect("a decimal").into())
}

/// Values close together, few ones far apart, and many far apart; some rows have none.
fn columns() -> [Vec<Value>; 3] {
    let column = |of: &dyn Fn(i64) -> i64, different: i64| -> Vec<Value> {
        let value = |row: i64| match row % 10 {
            3 => Value::Null,
            _ => number(of(row * 7_919 % different)),
        };
        (0..900).map(value).collect()
    };
    [
        column(&|value| value, 60),
        column(&|value| value * 1_000_000_000_007, 12),
        column(&|value| value * value * 90_000_000_007, 60),
    ]
}

/// The values of the rows that meet the condition.
fn kept(values: &[Value], filter: RowExpr) -> Vec<Value> {
    let partial = scanned(&[block(0, values)], &top_rows([v(Kind::Number)], Some(filter)));
    let PartialBody::Rows(rows) = partial.body else { panic!("rows") };
    let mut kept: Vec<Value> = rows.into_sorted().into_iter().map(|row| row[0].clone()).collect();
    kept.sort();
    kept
}

/// The values for which the function is true, row by row.
fn expected(values: &[Value], is: impl Fn(&Value) -> Value) -> Vec<Value> {
    let mut kept: Vec<Value> =
        values.iter().filter(|value| is(value) == Value::Bool(true)).cloned().collect();
    kept.sort();
    kept
}

#[test]
fn numbers_are_looked_up_among_few_and_many() {
    for values in columns() {
        let different: BTreeSet<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let different: Vec<Value> = different.into_iter().cloned().collect();
        for count in [1, 3, 9, different.len()] {
            let mut listed: Vec<Value> = different.iter().step_by(2).take(count).cloned().collect();
            listed.extend([number(-5), Value::Number(Number::from_f64(0.25).expect("a number"))]);
            let literals = listed.iter().cloned().map(RowExpr::Literal);
            let arguments: Vec<RowExpr> = [v(Kind::Number)].into_iter().chain(literals).collect();
            let is_in = |value: &Value| {
                let arguments: Vec<Value> = [value].into_iter().chain(&listed).cloned().collect();
                eval_scalar(Function::In, &arguments).expect("a value")
            };
            let filter = call(Function::In, arguments);
            assert_eq!(kept(&values, filter.clone()), expected(&values, is_in), "{count}");
            let not = |value: &Value| eval_scalar(Function::Not, &[is_in(value)]).expect("a value");
            assert_eq!(kept(&values, call(Function::Not, [filter])), expected(&values, not));
        }
    }
}

#[test]
fn conditions_without_an_answer_are_replaced() {
    let literal = RowExpr::Literal;
    for values in columns() {
        let above = || call(Function::Greater, [v(Kind::Number), literal(number(30))]);
        let is_above = |value: &Value| {
            eval_scalar(Function::Greater, &[value.clone(), number(30)]).expect("a value")
        };
        for default in [true, false].map(Value::Bool) {
            let filter = call(Function::Coalesce, [above(), literal(default.clone())]);
            let is = |value: &Value| match is_above(value) {
                Value::Null => default.clone(),
                truth => truth,
            };
            assert_eq!(kept(&values, filter), expected(&values, is));
        }
        let filter = call(Function::IsNull, [above()]);
        let is = |value: &Value| Value::Bool(is_above(value).is_null());
        assert_eq!(kept(&values, filter), expected(&values, is));
        for default in [7, 45] {
            let value = call(Function::Coalesce, [v(Kind::Number), literal(number(default))]);
            let filter = call(Function::Greater, [value, literal(number(30))]);
            let is = |value: &Value| match value {
                Value::Null => is_above(&number(default)),
                value => is_above(value),
            };
            assert_eq!(kept(&values, filter), expected(&values, is));
        }
    }
}
