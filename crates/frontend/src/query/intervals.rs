//! Confidence intervals in answers.

use hadal_aggregate::{Interval, SparseRow};
use hadal_query::{ConfidencePlan, OutputConfidence, Type};
use hadal_types::{Number, Value};

use crate::query::number_class::NumberClass;
use crate::query::result::{QueryResult, QueryWarning};

/// Whether and how an answer has the 95 % confidence intervals of its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalForm {
    /// It has none.
    #[default]
    None,
    /// Beside the rows ([`QueryResult::intervals`]).
    Beside,
    /// As three more columns behind each column that has some: `x_estimate`, `x_low` and `x_high`.
    /// They are null where there is no interval. The estimate is the value, unless leaves are
    /// missing: then it is for all leaves.
    Columns,
}

/// Puts intervals into the result in this form, and warns of those for which there are too few
/// rows.
pub(crate) fn put_into(
    result: &mut QueryResult,
    intervals: Vec<Vec<Interval>>,
    plan: &ConfidencePlan,
    form: IntervalForm,
) {
    let is_too_few = |interval: &&Interval| **interval == Interval::TooFew;
    let too_few = intervals.iter().flatten().filter(is_too_few).count();
    if too_few > 0 {
        let message = format!(
            "{too_few} numbers rest on too few rows, or on too few leaves, for an interval"
        );
        result.warnings.push(QueryWarning::new("interval_too_few", "", too_few as u64, message));
    }
    match form {
        IntervalForm::None => {}
        IntervalForm::Beside => result.intervals = Some(intervals),
        IntervalForm::Columns => add_columns(result, &intervals, plan),
    }
}

/// Whether an output of this type is followed by the ends of its interval.
pub(crate) fn has_columns(plan: &ConfidencePlan, index: usize, kind: Type) -> bool {
    let has_interval = |of: &OutputConfidence| {
        matches!(
            of,
            OutputConfidence::Smooth(_)
                | OutputConfidence::Share(_)
                | OutputConfidence::Quantile(..)
        )
    };
    kind == Type::Number && plan.outputs.get(index).is_some_and(has_interval)
}

/// The names of the columns with an output's estimate and the ends of its interval.
pub(crate) fn end_names(name: &str) -> [String; 3] {
    ["estimate", "low", "high"].map(|end| format!("{name}_{end}"))
}

fn add_columns(result: &mut QueryResult, intervals: &[Vec<Interval>], plan: &ConfidencePlan) {
    let kinds = result.columns.iter().map(|(_, kind)| *kind).enumerate();
    let widened: Vec<bool> = kinds.map(|(index, kind)| has_columns(plan, index, kind)).collect();
    let (mut columns, mut numbers) = (Vec::new(), Vec::new());
    for ((name, kind), is_widened) in std::mem::take(&mut result.columns).into_iter().zip(&widened)
    {
        numbers.push(result.numbers.get(numbers.len()).copied().unwrap_or_default());
        let ends = end_names(&name).map(|name| (name, Type::Number));
        columns.push((name, kind));
        if *is_widened {
            columns.extend(ends);
        }
    }
    let mut classes = Vec::with_capacity(columns.len());
    for (class, is_widened) in numbers.into_iter().zip(&widened) {
        classes.push(class);
        if *is_widened {
            classes.extend([NumberClass::Real; 3]);
        }
    }
    let row = |(row, intervals): (SparseRow, &Vec<Interval>)| {
        let mut values: Vec<Value> = Vec::with_capacity(columns.len());
        for (index, is_widened) in widened.iter().enumerate() {
            values.push(row.get(index).clone());
            if *is_widened {
                values.extend(with_ends(row.get(index), intervals.get(index)));
            }
        }
        SparseRow::from(values)
    };
    result.rows = std::mem::take(&mut result.rows).into_iter().zip(intervals).map(row).collect();
    (result.columns, result.numbers) = (columns, classes);
}

/// The estimate and the ends of its interval.
fn with_ends(value: &Value, interval: Option<&Interval>) -> [Value; 3] {
    let number = |double: f64| Number::from_f64(double).map_or(Value::Null, Value::Number);
    match interval {
        Some(Interval::Between(low, high)) => [value.clone(), number(*low), number(*high)],
        Some(Interval::OfAll { estimate, low, high }) => [*estimate, *low, *high].map(number),
        Some(Interval::None | Interval::TooFew) | None => [const { Value::Null }; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stand_behind_their_columns() {
        let mut query = hadal_query::Query::new(
            hadal_types::TableName::new("t").expect("a name"),
            hadal_query::QueryKind::Groups { keys: Vec::new(), measures: Vec::new() },
        );
        let output = |name: &str, expr| hadal_query::Output {
            name: name.to_owned(),
            value_type: Type::Number,
            expr: hadal_query::Expr::Leaf(expr),
        };
        query.outputs = vec![
            output("key", hadal_query::GroupInput::Key(0)),
            output("n", hadal_query::GroupInput::Count),
        ];
        query.ask_for_confidence(None);
        let mut result = QueryResult {
            columns: query.outputs.iter().map(|of| (of.name.clone(), of.value_type)).collect(),
            rows: vec![
                vec![Value::integer(1), Value::integer(20)].into(),
                vec![Value::integer(2), Value::integer(3)].into(),
                vec![Value::integer(3), Value::integer(40)].into(),
            ],
            ..QueryResult::default()
        };
        let intervals = vec![
            vec![Interval::Between(1.0, 1.0), Interval::Between(18.5, 21.5)],
            vec![Interval::Between(2.0, 2.0), Interval::TooFew],
            vec![Interval::None, Interval::OfAll { estimate: 50.0, low: 45.5, high: 54.5 }],
        ];
        let plan = query.confidence.expect("a plan");
        put_into(&mut result, intervals, &plan, IntervalForm::Columns);
        let names: Vec<&str> = result.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["key", "n", "n_estimate", "n_low", "n_high"]);
        let rows: Vec<String> =
            result.rows.iter().map(|row| row.iter().map(|v| format!("{v} ")).collect()).collect();
        assert_eq!(rows, ["1 20 20 18.5 21.5 ", "2 3 null null null ", "3 40 50 45.5 54.5 "]);
        assert_eq!(result.numbers[2], NumberClass::Real);
        assert_eq!((result.warnings[0].code, result.warnings[0].count), ("interval_too_few", 1));
    }
}
