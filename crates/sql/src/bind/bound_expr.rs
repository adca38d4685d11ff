//! Expressions with resolved names, over rows and over groups.

use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, Measure, Prepared, RowInput, Type, eval_scalar,
};
use hadal_types::{ColumnSchema, Kind, Logical, Number, Value};

use crate::error::{LocatedError, NOWHERE, Read};

/// The input of a bound expression, from its row or its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    /// An input from a row.
    RowInput(RowInput),
    /// An aggregate over the group's rows.
    Aggregate(Aggregate),
}

/// An aggregate, as written in the query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Aggregate {
    /// The number of rows.
    RawCount,
    /// The number of rows, weighted.
    Count,
    /// The seconds of the time range.
    Seconds,
    /// A function finished from a measure.
    Of(Measure, AggregateFunction),
}

pub(crate) type BoundExpr = Expr<Leaf>;

/// A bound expression and its type.
#[derive(Clone, Debug)]
pub(crate) struct TypedExpr {
    pub(crate) expr: BoundExpr,
    pub(crate) value_type: Type,
    /// Whether it is written as an integer expression, so that `/` divides integers.
    pub(crate) whole: bool,
    /// Whether it is a time that a wall clock shows, from AT TIME ZONE.
    pub(crate) local: bool,
}

impl TypedExpr {
    pub(crate) fn new(expr: BoundExpr, value_type: Type) -> Self {
        Self { expr, value_type, whole: false, local: false }
    }

    pub(crate) fn literal(value: Value) -> Self {
        let value_type = Type::of(&value);
        Self::new(Expr::Literal(value), value_type)
    }

    /// A whole number, written without a point.
    pub(crate) fn whole(number: i64) -> Self {
        Self { whole: true, ..Self::literal(Value::integer(number)) }
    }

    pub(crate) fn input(input: RowInput) -> Self {
        let value_type = match &input {
            RowInput::Time => Type::Time,
            RowInput::Column(column) => column.value_type(),
            RowInput::AnyText(_) => Type::Bool,
            RowInput::Random(_) => Type::Number,
        };
        Self::new(Expr::Leaf(Leaf::RowInput(input)), value_type)
    }

    pub(crate) fn aggregate(aggregate: Aggregate, value_type: Type) -> Self {
        Self::new(Expr::Leaf(Leaf::Aggregate(aggregate)), value_type)
    }

    /// The part of a column that has this kind.
    pub(crate) fn part(column: &ColumnSchema, kind: Kind) -> Self {
        let logical = match kind {
            Kind::Number => column.part(kind).map_or(Logical::Plain, |part| part.logical),
            _ => Logical::Plain,
        };
        Self::input(RowInput::Column(ColumnRef { name: column.name.clone(), kind, logical }))
    }

    /// A call. If all arguments are literals, the call is evaluated to a literal.
    pub(crate) fn call<const N: usize>(
        function: Function,
        arguments: [Self; N],
        value_type: Type,
    ) -> Self {
        let arguments = arguments.map(|argument| argument.expr);
        Self::new(folded(function, arguments.into()), value_type)
    }

    /// A call with any number of arguments.
    pub(crate) fn call_all(function: Function, arguments: Vec<Self>, value_type: Type) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        Self::new(folded(function, arguments), value_type)
    }

    pub(crate) fn negated(self) -> Self {
        Self::call(Function::Not, [self], Type::Bool)
    }

    pub(crate) fn as_literal(&self) -> Option<&Value> {
        match &self.expr {
            Expr::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The literal's number, if it is one.
    pub(crate) fn as_number(&self) -> Option<Number> {
        match self.as_literal() {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The literal's string, if it is one.
    pub(crate) fn as_string(&self) -> Option<&str> {
        match self.as_literal() {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The same values as strings. A plain numeric column becomes the same column with kind string.
    pub(crate) fn into_text(self) -> Self {
        match self.expr {
            _ if self.value_type == Type::String => self,
            Expr::Leaf(Leaf::RowInput(RowInput::Column(column)))
                if column.kind == Kind::Number && column.logical == Logical::Plain =>
            {
                Self::input(RowInput::Column(ColumnRef { kind: Kind::String, ..column }))
            }
            expr => Self::new(folded(Function::ToText, vec![expr]), Type::String),
        }
    }

    /// The same values as numbers; times become Unix seconds.
    pub(crate) fn into_number(self) -> Self {
        match self.value_type {
            Type::Number | Type::Null => self,
            _ => Self::call(Function::ToNumber, [self], Type::Number),
        }
    }

    /// The times that texts spell.
    pub(crate) fn into_time(self) -> Self {
        match self.value_type {
            Type::Time | Type::Null => self,
            _ => Self::call(Function::ToTime, [self], Type::Time),
        }
    }

    /// Whether it contains an aggregate.
    pub(crate) fn has_aggregate(&self) -> bool {
        let mut has_aggregate = false;
        self.expr.for_each_leaf(&mut |leaf| has_aggregate |= matches!(leaf, Leaf::Aggregate(_)));
        has_aggregate
    }

    /// Evaluates an expression that needs no row.
    pub(crate) fn constant(&self) -> Read<Value> {
        let prepared = Prepared::new(&self.expr)
            .map_err(|error| LocatedError::new(error.to_string(), NOWHERE))?;
        prepared
            .value(&|_| Value::Null)
            .map_err(|error| LocatedError::new(error.to_string(), NOWHERE))
    }
}

/// The number of nodes of an expression.
pub(crate) fn nodes<L>(expr: &Expr<L>) -> usize {
    match expr {
        Expr::Literal(_) | Expr::Leaf(_) => 1,
        Expr::Call { arguments, .. } => 1 + arguments.iter().map(nodes).sum::<usize>(),
    }
}

/// The number of patterns that an expression compiles.
pub(crate) fn patterns<L>(expr: &Expr<L>) -> usize {
    match expr {
        Expr::Literal(_) | Expr::Leaf(_) => 0,
        Expr::Call { function, arguments } => {
            usize::from(matches!(function, Function::Matches(_)) || function.is_regexp())
                + arguments.iter().map(patterns).sum::<usize>()
        }
    }
}

fn folded(function: Function, arguments: Vec<BoundExpr>) -> BoundExpr {
    let values: Option<Vec<Value>> = match function {
        Function::Matches(_) => None,
        _ if function.is_regexp() => None,
        _ => arguments
            .iter()
            .map(|argument| match argument {
                Expr::Literal(value) => Some(value.clone()),
                _ => None,
            })
            .collect(),
    };
    match values {
        // A string that is too long is reported when the query is prepared.
        Some(values) => match eval_scalar(function, &values) {
            Ok(value) => Expr::Literal(value),
            Err(_) => Expr::Call { function, arguments },
        },
        None => Expr::Call { function, arguments },
    }
}
