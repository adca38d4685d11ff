//! Examines all numbers of some columns before an answer in slices, whose columns must have one
//! type from the first row to the last.

use hadal_query::{
    AggregateFunction, Expr, Function, GroupInput, Measure, Output, OutputExpr, Query, QueryKind,
    RowExpr, StateKind, Type,
};
use hadal_types::Value;

use crate::error::FrontendError;
use crate::query::column_form::ColumnForm;
use crate::query_runner::QueryRunner;

/// What is asked of each column: the ends of its numbers, and of what is after their points.
const ANSWERS: usize = 4;

/// The forms of these outputs of a query of raw rows, over all its rows, at the cost of a scan of
/// the columns. Whole numbers are 64-bit integers, or decimals if one of them has more bits; others
/// are doubles.
pub(super) async fn surveyed_forms(
    runner: &QueryRunner,
    query: &Query,
    outputs: &[usize],
) -> Result<Vec<ColumnForm>, FrontendError> {
    let exprs: Vec<Option<RowExpr>> = outputs.iter().map(|index| value_of(query, *index)).collect();
    if exprs.iter().all(Option::is_none) {
        return Ok(vec![ColumnForm::Double; outputs.len()]);
    }
    let survey = survey(query, exprs.iter().flatten());
    let result = runner.run(survey).await?;
    let values: Vec<Value> =
        result.rows.first().map(|row| row.iter().cloned().collect()).unwrap_or_default();
    let mut answers = values.chunks(ANSWERS);
    let form = |expr: &Option<RowExpr>| match expr {
        Some(_) => answers.next().map_or(ColumnForm::Double, form_of),
        None => ColumnForm::Double,
    };
    Ok(exprs.iter().map(form).collect())
}

/// The form of numbers with these ends, and these ends of their remainders by 1.
fn form_of(answers: &[Value]) -> ColumnForm {
    let [min, max, least_rest, largest_rest] = answers else { return ColumnForm::Double };
    let is_zero = |value: &Value| value.is_null() || *value == Value::integer(0);
    if !is_zero(least_rest) || !is_zero(largest_rest) {
        return ColumnForm::Double;
    }
    let holds = |form: &ColumnForm| form.holds(min) && form.holds(max);
    let forms = [ColumnForm::Whole, ColumnForm::Decimal { scale: 0 }];
    forms.into_iter().find(holds).unwrap_or(ColumnForm::Double)
}

/// The value that a leaf computes for an output.
fn value_of(query: &Query, output: usize) -> Option<RowExpr> {
    let QueryKind::Rows { values } = &query.kind else { return None };
    match query.outputs.get(output)?.expr {
        Expr::Leaf(GroupInput::Key(value)) => values.get(value).cloned(),
        _ => None,
    }
}

/// The query for the ends of these values.
fn survey<'e>(query: &Query, exprs: impl Iterator<Item = &'e RowExpr>) -> Query {
    let (mut measures, mut outputs) = (Vec::new(), Vec::new());
    for expr in exprs {
        let one = Expr::Literal(Value::integer(1));
        let rest = Expr::call(Function::Remainder, [expr.clone(), one]);
        for argument in [expr.clone(), rest] {
            let measure = measures.len();
            measures.push(Measure::new(StateKind::MinMax, argument));
            for function in [AggregateFunction::Min, AggregateFunction::Max] {
                let expr: OutputExpr = Expr::Leaf(GroupInput::Measure(measure, function));
                outputs.push(Output { name: String::new(), value_type: Type::Number, expr });
            }
        }
    }
    Query {
        kind: QueryKind::Groups { keys: Vec::new(), measures },
        outputs,
        order: Vec::new(),
        limit: 1,
        ..query.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_integers() {
        let number = |text: &str| Value::Number(text.parse().expect("a number"));
        let of = |min, max, least, largest| {
            form_of(&[number(min), number(max), number(least), number(largest)])
        };
        assert_eq!(of("-5", "9223372036854775807", "0", "0"), ColumnForm::Whole);
        assert_eq!(of("0", "18446744073709551615", "0", "0"), ColumnForm::Decimal { scale: 0 });
        assert_eq!(of("0", "1", "0", "0.5"), ColumnForm::Double);
        assert_eq!(of("-1", "1", "-0.5", "0"), ColumnForm::Double);
        assert_eq!(of("0", "1e300", "0", "0"), ColumnForm::Double, "no decimal");
        assert_eq!(form_of(&[const { Value::Null }; 4]), ColumnForm::Whole, "no numbers");
        assert_eq!(form_of(&[]), ColumnForm::Double);
    }
}
