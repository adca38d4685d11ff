//! What queries know of the rows that they are asked of: values that there are, and those at the
//! edges of row blocks, where an engine looks no further.

use std::collections::BTreeMap;

use hadal_query::RowInput;
use hadal_types::{
    ColumnName, Decimal, Kind, Logical, Micros, Number, NumberRepr, TableSchema, Value,
};

use super::random::Random;
use super::schema::schema;
use crate::oracle::Row;

/// Rows of the blocks whose edges are known: as suites cut them, and all rows in one.
const CUTS: [usize; 3] = [53, 97, usize::MAX];
/// Values of one column that are kept, besides those at edges.
const VALUES_MAX: usize = 40;

/// What is known of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Its columns.
    pub schema: TableSchema,
    /// Of each column and kind.
    columns: BTreeMap<(ColumnName, Kind), Pool>,
    times: Pool,
}

/// Values to draw from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    values: Vec<Value>,
    /// The smallest and the largest of each block; of numbers and times alone.
    edges: Vec<Value>,
}

/// What is known of the table that holds `rows`, as they lie in blocks one after the other.
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

/// Keeps so many of the values, from all over them.
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
    /// What is known of the values of an input.
    #[must_use]
    pub fn pool(&self, input: &RowInput) -> Pool {
        match input {
            RowInput::Time => self.times.clone(),
            RowInput::Column(column) => {
                let key = (column.name.clone(), column.kind);
                let mut pool = self.columns.get(&key).cloned().unwrap_or_default();
                if column.logical == Logical::Plain {
                    // Among numbers truths are seen as such.
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

    /// A time at the edge of a block, or a microsecond beside it; `None` where there are no rows.
    pub(super) fn edge_time(&self, random: &mut Random) -> Option<Micros> {
        match self.times.edge(random)? {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }
}

impl Pool {
    /// A value that there is, or one at an edge or beside it; `None` where none is known.
    pub(super) fn value(&self, random: &mut Random) -> Option<Value> {
        if random.percent(60)
            && let Some(edge) = self.edge(random)
        {
            return Some(edge);
        }
        (!self.values.is_empty()).then(|| random.pick(&self.values).clone())
    }

    /// A value at an edge, or one step beside it; `None` where none is known.
    #[must_use]
    pub fn edge(&self, random: &mut Random) -> Option<Value> {
        if self.edges.is_empty() {
            return None;
        }
        let edge = random.pick(&self.edges).clone();
        let step = random.between(-1, 1);
        Some(beside(&edge, step).unwrap_or(edge))
    }

    /// How far two edges are from each other, and a step more or less; `None` where that is nothing.
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

/// The value so many steps on: of times a microsecond, of decimals a whole or one in the last place,
/// of doubles the next.
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
