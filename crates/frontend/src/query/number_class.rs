//! What is known of a column's numbers from its expression alone, for doors whose clients have
//! several types of number.

use hadal_query::{
    AggregateFunction, Expr, Function, GroupInput, Output, OutputExpr, Query, QueryKind, RowExpr,
    TimeField,
};
use hadal_types::Value;

/// What is known of a column's numbers before they are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberClass {
    /// Whole numbers, unless a value is beyond 64 bits.
    Whole,
    /// Doubles: averages and quotients.
    Real,
    /// Any numbers, whole ones among them.
    #[default]
    Any,
}

impl NumberClass {
    /// The classes of a query's outputs. Counts of rows that have weights may be fractional.
    pub(crate) fn of_outputs(query: &Query, has_weights: bool) -> Vec<Self> {
        let class = |output: &Output| Self::of_output(&output.expr, query, has_weights);
        query.outputs.iter().map(class).collect()
    }

    fn of_output(expr: &OutputExpr, query: &Query, has_weights: bool) -> Self {
        let of_count = if has_weights { Self::Any } else { Self::Whole };
        Self::of_expr(expr, &|input| match input {
            GroupInput::Count | GroupInput::Measure(_, AggregateFunction::Count) => of_count,
            GroupInput::RawCount => Self::Whole,
            GroupInput::Measure(_, function) => Self::of_aggregate(*function),
            GroupInput::Key(index) => {
                let values = match &query.kind {
                    QueryKind::Rows { values } => values,
                    QueryKind::Groups { keys, .. } => keys,
                };
                values.get(*index).map_or(Self::Any, Self::of_row)
            }
            GroupInput::Seconds => Self::Any,
        })
    }

    fn of_row(expr: &RowExpr) -> Self {
        Self::of_expr(expr, &|_| Self::Any)
    }

    fn of_aggregate(function: AggregateFunction) -> Self {
        match function {
            AggregateFunction::RawCount | AggregateFunction::Distinct => Self::Whole,
            AggregateFunction::Avg => Self::Real,
            _ => Self::Any,
        }
    }

    fn of_expr<L>(expr: &Expr<L>, of_leaf: &impl Fn(&L) -> Self) -> Self {
        match expr {
            Expr::Leaf(leaf) => of_leaf(leaf),
            Expr::Literal(Value::Number(number)) if number.to_i64().is_some() => Self::Whole,
            Expr::Literal(_) => Self::Any,
            Expr::Call { function, arguments } => match function {
                Function::Divide => Self::Real,
                Function::DivideWhole | Function::Length => Self::Whole,
                Function::Extract(TimeField::Second | TimeField::Epoch) => Self::Any,
                Function::Extract(_) => Self::Whole,
                Function::Add
                | Function::Subtract
                | Function::Multiply
                | Function::Remainder
                | Function::Negate
                | Function::Abs => Self::all(arguments, of_leaf),
                _ => Self::Any,
            },
        }
    }

    /// The class of a number that is computed from all of these: whole if all are, real if any is.
    fn all<L>(arguments: &[Expr<L>], of_leaf: &impl Fn(&L) -> Self) -> Self {
        let classes = arguments.iter().map(|argument| Self::of_expr(argument, of_leaf));
        let both = |left: Self, right: Self| match (left, right) {
            (Self::Real, _) | (_, Self::Real) => Self::Real,
            (Self::Whole, Self::Whole) => Self::Whole,
            _ => Self::Any,
        };
        classes.reduce(both).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> OutputExpr {
        Expr::Literal(Value::Number(text.parse().expect("a number")))
    }

    #[test]
    fn an_expression_tells_which_numbers_it_gives() {
        let count = || Expr::Leaf(GroupInput::Count);
        let avg = || Expr::Leaf(GroupInput::Measure(0, AggregateFunction::Avg));
        let sum = || Expr::Leaf(GroupInput::Measure(0, AggregateFunction::Sum));
        let table = hadal_types::TableName::new("t").expect("a name");
        let query = Query::new(table, QueryKind::Groups { keys: Vec::new(), measures: Vec::new() });
        for (expr, expected) in [
            (count(), NumberClass::Whole),
            (avg(), NumberClass::Real),
            (sum(), NumberClass::Any),
            (literal("3"), NumberClass::Whole),
            (literal("0.5"), NumberClass::Any),
            (Expr::call(Function::Add, [count(), literal("3")]), NumberClass::Whole),
            (Expr::call(Function::Multiply, [count(), avg()]), NumberClass::Real),
            (Expr::call(Function::Multiply, [count(), sum()]), NumberClass::Any),
            (Expr::call(Function::Divide, [sum(), count()]), NumberClass::Real),
            (Expr::Leaf(GroupInput::Key(7)), NumberClass::Any),
        ] {
            assert_eq!(NumberClass::of_output(&expr, &query, false), expected, "{expr:?}");
        }
        assert_eq!(NumberClass::of_output(&count(), &query, true), NumberClass::Any);
    }
}
