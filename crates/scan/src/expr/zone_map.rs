//! Skips blocks that cannot have a matching row, by their header and directory alone.

use hadal_block::{BlockView, Zone};
use hadal_query::{Function, RowInput};
use hadal_types::{Decimal, Kind, Logical, Number, Value};

use crate::expr::plan::PreparedExpr;

/// Whether no row of `block` can meet all `conditions`.
pub(crate) fn can_skip(block: &BlockView<'_>, conditions: &[PreparedExpr]) -> bool {
    conditions.iter().any(|condition| is_never_true(block, condition))
}

fn is_never_true(block: &BlockView<'_>, condition: &PreparedExpr) -> bool {
    match condition {
        PreparedExpr::Literal(value) => *value != Value::Bool(true),
        PreparedExpr::Matches { text, .. } => is_absent(block, text),
        PreparedExpr::Call { function: Function::Or, arguments } => {
            arguments.iter().all(|argument| is_never_true(block, argument))
        }
        PreparedExpr::Call { function: Function::And, arguments } => {
            arguments.iter().any(|argument| is_never_true(block, argument))
        }
        PreparedExpr::Call { function: Function::IsNull, arguments } => {
            arguments.iter().all(|argument| is_never_null(block, argument))
        }
        PreparedExpr::Call { function, arguments } if is_comparison(*function) => {
            arguments.iter().any(|argument| is_absent(block, argument))
                || is_out_of_zone(block, *function, arguments)
        }
        PreparedExpr::Call { function, arguments } if asks_of_list(*function) => {
            arguments.first().is_some_and(|list| is_absent(block, list))
        }
        _ => false,
    }
}

fn is_comparison(function: Function) -> bool {
    matches!(
        function,
        Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
    )
}

fn asks_of_list(function: Function) -> bool {
    matches!(
        function,
        Function::In
            | Function::IncludesAny
            | Function::IncludesAll
            | Function::IncludesNone
            | Function::IncludesStart
            | Function::IncludesEnd
            | Function::IncludesWithin
            | Function::IsEmpty
    )
}

/// Whether the expression is a column without any value in the block.
fn is_absent(block: &BlockView<'_>, expr: &PreparedExpr) -> bool {
    let PreparedExpr::Leaf(RowInput::Column(column)) = expr else { return false };
    let has = |kind| block.column(column.name.as_str(), kind).is_some();
    let seen_as_text = column.kind == Kind::String && has(Kind::Number);
    !has(column.kind) && !seen_as_text
}

/// Whether the expression is a column that has a value in every row of the block.
fn is_never_null(block: &BlockView<'_>, expr: &PreparedExpr) -> bool {
    match expr {
        PreparedExpr::Leaf(RowInput::Time) => true,
        PreparedExpr::Leaf(RowInput::Column(column)) => block
            .column(column.name.as_str(), column.kind)
            .is_some_and(|column| column.null_count() == 0),
        _ => false,
    }
}

fn is_out_of_zone(block: &BlockView<'_>, function: Function, arguments: &[PreparedExpr]) -> bool {
    let (input, literal, function) = match arguments {
        [PreparedExpr::Leaf(input), PreparedExpr::Literal(literal)] => (input, literal, function),
        [PreparedExpr::Literal(literal), PreparedExpr::Leaf(input)]
            if let Some(mirrored) = function.mirrored() =>
        {
            (input, literal, mirrored)
        }
        _ => return false,
    };
    let Some((min, max)) = zone(block, input) else { return false };
    match function {
        Function::Equal => *literal < min || max < *literal,
        Function::NotEqual => min == *literal && max == *literal,
        Function::Less => min >= *literal,
        Function::LessOrEqual => min > *literal,
        Function::Greater => max <= *literal,
        Function::GreaterOrEqual => max < *literal,
        _ => false,
    }
}

/// The smallest and the largest value of an input's numbers or times.
fn zone(block: &BlockView<'_>, input: &RowInput) -> Option<(Value, Value)> {
    let column = match input {
        RowInput::Time => {
            let (first, last) = block.time_range();
            return Some((Value::Time(first), Value::Time(last)));
        }
        RowInput::Column(column) if column.kind == Kind::Number => column,
        _ => return None,
    };
    if column.logical != Logical::Plain {
        return None;
    }
    let number = match block.column(column.name.as_str(), Kind::Number)?.zone() {
        Zone::Decimals { scale, min, max, .. } => {
            let decimal = |mantissa: i64| Decimal::new(mantissa.into(), scale).map(Number::from);
            (decimal(min)?, decimal(max)?)
        }
        Zone::Doubles { min, max } => (Number::from_f64(min)?, Number::from_f64(max)?),
        Zone::None => return None,
    };
    Some((Value::Number(number.0), Value::Number(number.1)))
}
