//! Expressions: literals, leaves and calls.
//!
//! An expression over a table's rows ([`RowExpr`]) and one over a finished group
//! ([`OutputExpr`]) have the same calls but different leaves, so the two cannot be mixed up.

use hadal_types::{ColumnName, Kind, Logical, Value};

use crate::function::Function;
use crate::query::AggregateFunction;

/// An expression whose leaves are of type `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<L> {
    /// A constant.
    Literal(Value),
    /// Something that differs from row to row.
    Leaf(L),
    /// A function of other expressions.
    Call {
        /// What is computed.
        function: Function,
        /// Of what; their number and types are fixed by the function.
        arguments: Vec<Expr<L>>,
    },
}

/// An expression that a leaf computes for each row of a row block.
pub type RowExpr = Expr<RowInput>;

/// An expression that the root computes for each group, or each raw row, of the merged answer.
pub type OutputExpr = Expr<GroupInput>;

/// What a row gives to an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowInput {
    /// The row's time, whatever its table calls the column.
    Time,
    /// A column's value, or null where the row has none of that kind.
    Column(ColumnRef),
    /// Whether any string of the row, sets and vectors included, contains this text,
    /// upper and lower case being the same.
    AnyText(String),
}

/// A column and the kind of it that is meant, fixed by the root for the whole query.
///
/// As a string, numbers are seen too, as their decimal text; as any other kind, only rows of
/// that kind have a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// The column's name.
    pub name: ColumnName,
    /// The kind that is meant.
    pub kind: Kind,
    /// What numbers of the column mean.
    pub logical: Logical,
}

/// What a group, or a raw row, gives to an output expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupInput {
    /// The group's key of this index, or the raw row's value of this index.
    Key(usize),
    /// The group's rows: each counted once.
    RawCount,
    /// The group's rows: each counted with its weight.
    Count,
    /// Something of the group's measure of this index.
    Measure(usize, AggregateFunction),
    /// How many seconds of the query's time range the group's time bucket covers, or the whole
    /// range where there is no time bucket; null where that has not both ends. For the rank of a
    /// series it is the whole range, of which what is open ends with the buckets that have rows.
    Seconds,
}

/// What an expression's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Only null.
    Null,
    /// Truths.
    Bool,
    /// Numbers.
    Number,
    /// Points in time.
    Time,
    /// Strings.
    String,
    /// Sets of strings.
    Set,
    /// Vectors of strings.
    Vector,
    /// Histograms.
    Histogram,
}

impl Type {
    /// The type's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Number => "number",
            Self::Time => "time",
            Self::String => "string",
            Self::Set => "set",
            Self::Vector => "vector",
            Self::Histogram => "histogram",
        }
    }

    /// The type of a value.
    #[must_use]
    pub const fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::Time(_) => Self::Time,
            Value::String(_) => Self::String,
            Value::Set(_) => Self::Set,
            Value::Vector(_) => Self::Vector,
            Value::Histogram(_) => Self::Histogram,
        }
    }
}

impl ColumnRef {
    /// The type of the column's values.
    #[must_use]
    pub const fn value_type(&self) -> Type {
        match (self.kind, self.logical) {
            (Kind::Number, Logical::Plain) => Type::Number,
            (Kind::Number, Logical::Bool) => Type::Bool,
            (Kind::Number, Logical::Time) => Type::Time,
            (Kind::String, _) => Type::String,
            (Kind::Set, _) => Type::Set,
            (Kind::Vector, _) => Type::Vector,
        }
    }
}

impl<L> Expr<L> {
    /// A call of `function`.
    #[must_use]
    pub fn call(function: Function, arguments: impl Into<Vec<Self>>) -> Self {
        Self::Call { function, arguments: arguments.into() }
    }

    /// Calls `visit` with every leaf, from left to right.
    pub fn for_each_leaf<'e>(&'e self, visit: &mut impl FnMut(&'e L)) {
        match self {
            Self::Literal(_) => {}
            Self::Leaf(leaf) => visit(leaf),
            Self::Call { arguments, .. } => {
                for argument in arguments {
                    argument.for_each_leaf(visit);
                }
            }
        }
    }

    /// The same expression with every leaf replaced by what `replace` makes of it.
    ///
    /// # Errors
    /// The first error of `replace`.
    pub fn try_map_leaves<M, E>(
        &self,
        replace: &mut impl FnMut(&L) -> Result<Expr<M>, E>,
    ) -> Result<Expr<M>, E> {
        Ok(match self {
            Self::Literal(value) => Expr::Literal(value.clone()),
            Self::Leaf(leaf) => replace(leaf)?,
            Self::Call { function, arguments } => Expr::Call {
                function: *function,
                arguments: arguments
                    .iter()
                    .map(|argument| argument.try_map_leaves(replace))
                    .collect::<Result<_, E>>()?,
            },
        })
    }

    /// How deep calls are nested: 1 for a literal or a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Leaf(_) => 1,
            Self::Call { arguments, .. } => {
                1 + arguments.iter().map(Self::depth).max().unwrap_or(0)
            }
        }
    }
}
