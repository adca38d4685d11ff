//! The values that queries know of their rows: existing values, and values at the edges of row
//! blocks, where an engine may skip blocks.

use std::collections::BTreeMap;

use hadal_query::RowInput;
use hadal_types::{
    ColumnName, Decimal, Kind, Logical, Micros, Number, NumberRepr, TableSchema, Value,
};

use super::random::Random;
use super::schema::schema;
use crate::oracle::Row;

/// Rows per block for which edges are known: the suites' block sizes, and all rows in one.
const CUTS: [usize; 3] = [53, 97, usize::MAX];
/// Values of one column that are kept, besides those at edges.
const VALUES_MAX: usize = 40;

/// The known values of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The columns of the table.
    pub schema: TableSchema,
    /// The values of each column and kind.
    columns: BTreeMap<(ColumnName, Kind), Pool>,
    times: Pool,
}

/// Values to draw from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    values: Vec<Value>,
    /// The smallest and the largest value of each block; of numbers and times only.
    edges: Vec<Value>,
}

/// Collects the known values of the table that holds `rows`, stored in blocks one after the other.
#[must_use]
pub fn facts(rows: &[Row]) -> Facts {
    let mut columns: BTreeMap<(ColumnName, Kind), Pool> = BTreeMap::new();
    for row in rows {
        for (name, value) in &row.cells {
            let Some(kind) = kind_of(value) else { continue };
            columns.entry((name.clone(), kind)).or_default().values.push(value.clone());
        }
    }
    for ((name, kind), pool) in &mut columns {
        thin(&mut pool.values);
        if *kind == Kind::Number {
            pool.edges = edges(rows, |row| match row.cells.get(name) {
                Some(value @ Value::Number(_)) => Some(value.clone()),
                _ => None,
            });
        }
    }
    let mut times = Pool {
        values: rows.iter().map(|row| Value::Time(row.time)).collect(),
        edges: edges(rows, |row| Some(Value::Time(row.time))),
    };
    thin(&mut times.values);
    Facts { schema: schema(rows), columns, times }
}

fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Number(_) | Value::Bool(_) => Some(Kind::Number),
        Value::String(_) => Some(Kind::String),
        Value::Set(_) => Some(Kind::Set),
        Value::Vector(_) => Some(Kind::Vector),
        Value::Time(_) | Value::Histogram(_) | Value::Null => None,
    }
}

/// Keeps at most [`VALUES_MAX`] of the values, evenly spread.
fn thin(values: &mut Vec<Value>) {
    let step = values.len().div_ceil(VALUES_MAX).max(1);
    *values = values.iter().step_by(step).cloned().collect();
}

fn edges(rows: &[Row], value: impl Fn(&Row) -> Option<Value>) -> Vec<Value> {
    let mut edges = Vec::new();
    for size in CUTS {
        for rows in rows.chunks(size) {
            let values = rows.iter().filter_map(&value);
            edges.extend(values.clone().min());
            edges.extend(values.max());
        }
    }
    edges
}

impl Facts {
    /// The known values of an input.
    #[must_use]
    pub fn pool(&self, input: &RowInput) -> Pool {
        match input {
            RowInput::Time => self.times.clone(),
            RowInput::Column(column) => {
                let key = (column.name.clone(), column.kind);
                let mut pool = self.columns.get(&key).cloned().unwrap_or_default();
                if column.logical == Logical::Plain {
                    // Among numbers, booleans are numbers.
                    pool.values.iter_mut().for_each(|value| {
                        if let Value::Bool(truth) = value {
                            *value = Value::integer((*truth).into());
                        }
                    });
                }
                pool
            }
            _ => Pool::default(),
        }
    }

    /// A time at the edge of a block, or a microsecond beside it; `None` without rows.
    pub(super) fn edge_time(&self, random: &mut Random) -> Option<Micros> {
        match self.times.edge(random)? {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }
}

impl Pool {
    /// An existing value, or one at an edge or beside it; `None` if none is known.
    pub(super) fn value(&self, random: &mut Random) -> Option<Value> {
        if random.percent(60)
            && let Some(edge) = self.edge(random)
        {
            return Some(edge);
        }
        (!self.values.is_empty()).then(|| random.pick(&self.values).clone())
    }

    /// A value at an edge, or one step beside it; `None` if none is known.
    #[must_use]
    pub fn edge(&self, random: &mut Random) -> Option<Value> {
        if self.edges.is_empty() {
            return None;
        }
        let edge = random.pick(&self.edges).clone();
        let step = random.between(-1, 1);
        Some(beside(&edge, step).unwrap_or(edge))
    }

    /// The distance of two edges, or a step more or less; `None` if that is zero.
    pub(super) fn width(&self, random: &mut Random) -> Option<i64> {
        let whole = |value: Option<Value>| match value? {
            Value::Time(time) => Some(time.0),
            Value::Number(number) => number.to_i64(),
            _ => None,
        };
        let (left, right) = (whole(self.edge(random))?, whole(self.edge(random))?);
        left.checked_sub(right)?.checked_abs().filter(|width| *width > 0)
    }
}

/// The value `step` steps further: microseconds for times, an integer or the last decimal place for
/// decimals, the next double for doubles.
fn beside(value: &Value, step: i64) -> Option<Value> {
    match value {
        Value::Time(time) => {
            let moved = Micros(time.0.checked_add(step)?);
            (Micros::MIN..=Micros::MAX).contains(&moved).then_some(Value::Time(moved))
        }
        Value::Number(number) => match number.form() {
            NumberRepr::Decimal(decimal) => {
                let mantissa = decimal.mantissa().checked_add(step.into())?;
                Decimal::new(mantissa, decimal.scale()).map(|next| Value::Number(next.into()))
            }
            NumberRepr::Double(double) => {
                let next = match step {
                    ..0 => double.next_down(),
                    0 => double,
                    _ => double.next_up(),
                };
                Number::from_f64(next).map(Value::Number)
            }
        },
        _ => None,
    }
}
