//! Splits bound expressions into the inputs that leaves compute and the outputs that the root
//! computes. Each group key, measure or raw value has one slot; outputs refer to slots.

use std::collections::HashMap;

use hadal_query::{Expr, GroupInput, Measure, OutputExpr, QueryKind, RowExpr, RowInput};
use hadal_types::{Value, limits};

use crate::bind::aggregate::row_expr;
use crate::bind::bound_expr::{Aggregate, BoundExpr, Leaf, TypedExpr};
use crate::error::{LocatedError, NOWHERE, Read};

/// The values that leaves compute.
pub(crate) enum OutputSlots {
    Rows(Values),
    Groups(GroupSlots),
}

/// The values of raw rows.
#[derive(Default)]
pub(crate) struct Values {
    values: Vec<RowExpr>,
    index: HashMap<RowExpr, usize>,
}

/// The keys and measures of groups.
#[derive(Default)]
pub(crate) struct GroupSlots {
    keys: Vec<(BoundExpr, RowExpr)>,
    measures: Vec<Measure>,
    index: HashMap<Measure, usize>,
    /// The seconds that a group covers; `None` if groups differ.
    seconds: Option<OutputExpr>,
}

impl OutputSlots {
    /// The slots of groups with these keys, without duplicates. Fails above the limit of keys.
    pub(crate) fn groups(keys: impl IntoIterator<Item = TypedExpr>) -> Read<Self> {
        let mut slots = GroupSlots::default();
        for key in keys {
            let row = row_expr(&key)?;
            if !slots.keys.iter().any(|(_, other)| *other == row) {
                slots.keys.push((key.expr, row));
            }
            if slots.keys.len() > limits::GROUP_KEYS_MAX {
                let most = limits::GROUP_KEYS_MAX;
                return Err(LocatedError::new(format!("more than {most} group keys"), NOWHERE));
            }
        }
        Ok(Self::Groups(slots))
    }

    /// The output expression of `bound`.
    pub(crate) fn output(&mut self, bound: &TypedExpr) -> Read<OutputExpr> {
        match self {
            Self::Rows(values) => values.output(bound),
            Self::Groups(groups) => groups.output(&bound.expr),
        }
    }

    /// Sets the seconds that a group covers; `None` if groups differ.
    pub(crate) fn set_seconds(&mut self, seconds: Option<OutputExpr>) {
        if let Self::Groups(groups) = self {
            groups.seconds = seconds;
        }
    }

    pub(crate) fn is_grouped(&self) -> bool {
        matches!(self, Self::Groups(_))
    }

    /// The group keys; none for raw rows.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &RowExpr> {
        let keys = match self {
            Self::Rows(_) => &[],
            Self::Groups(groups) => groups.keys.as_slice(),
        };
        keys.iter().map(|(_, key)| key)
    }

    pub(crate) fn into_shape(self) -> QueryKind {
        match self {
            Self::Rows(values) => QueryKind::Rows { values: values.values },
            Self::Groups(groups) => QueryKind::Groups {
                keys: groups.keys.into_iter().map(|(_, key)| key).collect(),
                measures: groups.measures,
            },
        }
    }
}

impl Values {
    fn output(&mut self, bound: &TypedExpr) -> Read<OutputExpr> {
        if let Expr::Literal(value) = &bound.expr {
            return Ok(Expr::Literal(value.clone()));
        }
        let value = row_expr(bound)?;
        let next = self.values.len();
        let slot = *self.index.entry(value.clone()).or_insert(next);
        if slot == next {
            self.values.push(value);
        }
        Ok(Expr::Leaf(GroupInput::Key(slot)))
    }
}

impl GroupSlots {
    fn output(&mut self, expr: &BoundExpr) -> Read<OutputExpr> {
        if let Some(key) = self.keys.iter().position(|(key, _)| key == expr) {
            return Ok(Expr::Leaf(GroupInput::Key(key)));
        }
        Ok(match expr {
            Expr::Literal(value) => Expr::Literal(value.clone()),
            Expr::Leaf(Leaf::Aggregate(aggregate)) => self.aggregate(aggregate)?,
            Expr::Leaf(Leaf::RowInput(input)) => return Err(not_grouped(input)),
            Expr::Call { function, arguments } => {
                let arguments = arguments.iter().map(|argument| self.output(argument));
                Expr::Call { function: *function, arguments: arguments.collect::<Read<_>>()? }
            }
        })
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Read<OutputExpr> {
        Ok(Expr::Leaf(match aggregate {
            Aggregate::RawCount => GroupInput::RawCount,
            Aggregate::Count => GroupInput::Count,
            Aggregate::Seconds => return self.seconds.clone().ok_or_else(no_one_length),
            Aggregate::Of(measure, finish) => {
                let next = self.measures.len();
                let slot = *self.index.entry(measure.clone()).or_insert(next);
                if slot == next {
                    self.measures.push(measure.clone());
                }
                GroupInput::Measure(slot, *finish)
            }
        }))
    }
}

fn no_one_length() -> LocatedError {
    LocatedError::new("rates need one time range, or time buckets", NOWHERE)
        .hint("for example WHERE time >= now() - 3600, or GROUP BY time_bucket('1 minute', time)")
}

fn not_grouped(input: &RowInput) -> LocatedError {
    let name = match input {
        RowInput::Time => "time",
        RowInput::Column(column) => column.name.as_str(),
        RowInput::AnyText(_) => "search",
        RowInput::Random(_) => "random()",
    };
    LocatedError::new(
        format!("column {name} is neither in GROUP BY nor inside an aggregate"),
        NOWHERE,
    )
    .hint(format!("add {name} to GROUP BY, or ask for max({name}) or count(DISTINCT {name})"))
}

/// Whether the expression is the constant true.
pub(crate) fn is_true(expr: &RowExpr) -> bool {
    matches!(expr, Expr::Literal(Value::Bool(true)))
}
