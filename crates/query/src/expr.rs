//! Expressions: literals, leaves and calls.
//!
//! An expression over a table's rows ([`RowExpr`]) and an expression over a finished group
//! ([`OutputExpr`]) have the same calls but different leaves. They have different types, so the
//! compiler keeps them apart.

use hadal_types::{ColumnName, FunctionType, Kind, Logical, Value};

use crate::aggregate_function::AggregateFunction;
use crate::function::Function;

/// An expression whose leaves are of type `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<L> {
    /// A constant.
    Literal(Value),
    /// A value that differs from row to row.
    Leaf(L),
    /// A function of other expressions.
    Call {
        /// The function.
        function: Function,
        /// Its arguments; the function fixes their number and types.
        arguments: Vec<Expr<L>>,
    },
}

/// An expression that a leaf computes for each row of a row block.
pub type RowExpr = Expr<RowInput>;

/// An expression that the root computes for each group, or each raw row, of the merged result.
pub type OutputExpr = Expr<GroupInput>;

/// An input of an expression over a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowInput {
    /// The row's time, whatever the name of the table's time column.
    Time,
    /// The column's value, or null if the row has none of the kind.
    Column(ColumnRef),
    /// Whether any string of the row contains this text, ignoring case. Elements of sets and
    /// vectors count too.
    AnyText(String),
    /// A number from 0 to below 1 that is the same each time that the row is read, as long as it is
    /// in the same row block. The numbers of all rows are independent and uniformly distributed,
    /// and those of another seed are different ones.
    Random(i64),
}

/// A column and one of its kinds, fixed by the root for the whole query.
///
/// The kind string also includes numbers, as their decimal text. For any other kind, only rows of
/// that kind have a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// The column's name.
    pub name: ColumnName,
    /// The kind that the query reads.
    pub kind: Kind,
    /// The meaning of the column's numbers.
    pub logical: Logical,
}

/// An input of an output expression: of a group or a raw row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupInput {
    /// The group's key with this index, or the raw row's value with this index.
    Key(usize),
    /// The number of the group's rows, without weights.
    RawCount,
    /// The number of the group's rows, each counted with its weight.
    Count,
    /// An aggregate finished from the group's measure with this index.
    Measure(usize, AggregateFunction),
    /// The number of seconds of the query's time range that the group's time bucket covers. Without
    /// a time bucket, the whole range. Null if that is open at an end. The rank of a series uses
    /// the whole range; where the range is open, the buckets that have rows bound it.
    Seconds,
}

/// The type of an expression's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Only null.
    Null,
    /// Truth values.
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

impl From<FunctionType> for Type {
    fn from(value_type: FunctionType) -> Self {
        match value_type {
            FunctionType::Number => Self::Number,
            FunctionType::String => Self::String,
            FunctionType::Bool => Self::Bool,
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

    /// The same expression with every leaf replaced by the result of `replace`.
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

    /// The nesting depth of calls: 1 for a literal or a leaf.
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
