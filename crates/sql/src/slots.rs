//! From bound expressions to slots: what the leaves compute for each row or group, and what the
//! root computes from that.

use hadal_query::{Expr, Measure, OutputExpr, RowExpr, Shape, Slot};
use hadal_types::limits;

use crate::aggregate::row_expr;
use crate::bound::{Aggregate, Bound, BoundExpr, Leaf};
use crate::error::{Fault, NOWHERE, Read};

/// What is computed for each row (raw) or each group, as found so far.
#[derive(Debug)]
pub(crate) enum Slots {
    Raw { values: Vec<RowExpr> },
    Grouped { keys: Vec<BoundExpr>, measures: Vec<Measure>, uses_seconds: bool },
}

impl Slots {
    pub(crate) fn raw() -> Self {
        Self::Raw { values: Vec::new() }
    }

    /// Groups by these keys, repeats left out.
    pub(crate) fn grouped(keys: Vec<BoundExpr>) -> Read<Self> {
        let mut distinct: Vec<BoundExpr> = Vec::new();
        for key in keys {
            if !distinct.contains(&key) {
                distinct.push(key);
            }
        }
        let (count, most) = (distinct.len(), limits::GROUP_KEYS_MAX);
        if count > most {
            let message = format!("{count} columns to group by; at most {most} are allowed");
            return Err(Fault::new(message, NOWHERE));
        }
        Ok(Self::Grouped { keys: distinct, measures: Vec::new(), uses_seconds: false })
    }

    /// What the root computes to get `bound`.
    pub(crate) fn output(&mut self, bound: &Bound) -> Read<OutputExpr> {
        match self {
            Self::Raw { values } => {
                let value = row_expr(bound)?;
                let index = values.iter().position(|own| *own == value).unwrap_or_else(|| {
                    values.push(value);
                    values.len() - 1
                });
                Ok(Expr::Leaf(Slot::Key(index)))
            }
            Self::Grouped { keys, measures, uses_seconds } => {
                lift(&bound.expr, keys, measures, uses_seconds)
            }
        }
    }

    /// Whether seconds of the time range are used.
    pub(crate) const fn uses_seconds(&self) -> bool {
        matches!(self, Self::Grouped { uses_seconds: true, .. })
    }

    /// The shape of the query.
    pub(crate) fn into_shape(self) -> Read<Shape> {
        Ok(match self {
            Self::Raw { values } => Shape::Rows { values },
            Self::Grouped { keys, measures, .. } => Shape::Groups {
                keys: keys
                    .into_iter()
                    .map(|key| row_expr(&Bound::new(key, hadal_query::Type::Null)))
                    .collect::<Read<_>>()?,
                measures,
            },
        })
    }
}

/// An expression over groups: what is a key becomes that key, aggregates become slots.
fn lift(
    expr: &BoundExpr,
    keys: &[BoundExpr],
    measures: &mut Vec<Measure>,
    uses_seconds: &mut bool,
) -> Read<OutputExpr> {
    if let Some(index) = keys.iter().position(|key| key == expr) {
        return Ok(Expr::Leaf(Slot::Key(index)));
    }
    Ok(match expr {
        Expr::Literal(value) => Expr::Literal(value.clone()),
        Expr::Leaf(Leaf::Aggregate(aggregate)) => {
            *uses_seconds |= *aggregate == Aggregate::Seconds;
            Expr::Leaf(slot(aggregate, measures))
        }
        Expr::Leaf(leaf @ Leaf::Input(_)) => {
            let name = crate::function::leaf_name(leaf);
            let message = format!("{name} is neither grouped by nor inside an aggregate");
            let hint = format!("add it to GROUP BY, or take max({name}) or count(DISTINCT {name})");
            return Err(Fault::new(message, NOWHERE).hint(hint));
        }
        Expr::Call { function, arguments } => Expr::Call {
            function: *function,
            arguments: arguments
                .iter()
                .map(|argument| lift(argument, keys, measures, uses_seconds))
                .collect::<Read<_>>()?,
        },
    })
}

fn slot(aggregate: &Aggregate, measures: &mut Vec<Measure>) -> Slot {
    match aggregate {
        Aggregate::RawCount => Slot::RawCount,
        Aggregate::Count => Slot::Count,
        Aggregate::Seconds => Slot::Seconds,
        Aggregate::Of(measure, finish) => {
            let index = measures.iter().position(|own| own == measure).unwrap_or_else(|| {
                measures.push(measure.clone());
                measures.len() - 1
            });
            Slot::Measure(index, *finish)
        }
    }
}
