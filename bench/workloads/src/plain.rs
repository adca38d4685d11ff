//! The plain way to an answer, with which every faster one must agree: one row at a time, from the
//! generated rows, with [`hadal_query`]'s meaning of expressions.

use hadal_aggregate::{Partial, PartialBody};
use hadal_query::{ColumnRef, Expr, Prepared, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{Micros, Value, Weight};

use crate::error::Error;
use crate::rows::{Column, Rows};

/// A question prepared for rows with the columns of one table.
pub(crate) struct Plain<'q> {
    query: &'q Query,
    filter: Option<Prepared<ValueIndex>>,
    keys: Vec<Prepared<ValueIndex>>,
    measures: Vec<Prepared<ValueIndex>>,
    /// The column of sample rates.
    weights: Option<usize>,
}

/// The position of a value in a row.
#[derive(Clone, Copy)]
enum ValueIndex {
    Time,
    Column(usize),
}

impl<'q> Plain<'q> {
    /// Prepares a query for rows with these columns.
    pub(crate) fn new(query: &'q Query, columns: &[Column]) -> Result<Self, Error> {
        let QueryKind::Groups { keys, measures } = &query.kind else {
            return Err(Error::NotPlain("a question for rows".to_owned()));
        };
        let ready = |expr: &RowExpr| prepared(expr, columns);
        Ok(Self {
            query,
            filter: query.filter.as_ref().map(ready).transpose()?,
            keys: keys.iter().map(ready).collect::<Result<_, _>>()?,
            measures: measures.iter().map(|m| ready(&m.argument)).collect::<Result<_, _>>()?,
            weights: columns.iter().position(|column| column.name.as_str() == Weight::COLUMN),
        })
    }

    /// The partial result of these rows.
    pub(crate) fn answer(&self, rows: &Rows) -> Partial {
        let mut partial = Partial::empty(self.query);
        let PartialBody::Groups(groups) = &mut partial.body else { return partial };
        for (row, time) in rows.times.iter().enumerate() {
            let leaf = |index: &ValueIndex| value_at(rows, row, *time, *index);
            let is_asked_for = self.query.range.contains(*time)
                && self.filter.as_ref().is_none_or(|filter| filter.is_true(&leaf) == Ok(true));
            if is_asked_for {
                let of = |list: &[Prepared<ValueIndex>]| -> Vec<Value> {
                    list.iter().map(|expr| expr.value(&leaf).unwrap_or(Value::Null)).collect()
                };
                groups.add_row(&of(&self.keys), &of(&self.measures), self.weight(rows, row));
            }
        }
        partial
    }

    fn weight(&self, rows: &Rows, row: usize) -> Weight {
        match self.weights.map(|column| &rows.columns[column].values[row]) {
            Some(Value::Number(rate)) => Weight::from_rate(*rate).unwrap_or(Weight::ONE),
            _ => Weight::ONE,
        }
    }
}

fn value_at(rows: &Rows, row: usize, time: Micros, index: ValueIndex) -> Value {
    match index {
        ValueIndex::Time => Value::Time(time),
        ValueIndex::Column(column) => rows.columns[column].values[row].clone(),
    }
}

fn prepared(expr: &RowExpr, columns: &[Column]) -> Result<Prepared<ValueIndex>, Error> {
    let indexed = expr.try_map_leaves(&mut |input| {
        let index = match input {
            RowInput::Time => Some(ValueIndex::Time),
            RowInput::Column(column) => index_of(column, columns),
            RowInput::AnyText(_) | RowInput::Random(_) => None,
        };
        index.map(Expr::Leaf).ok_or_else(|| Error::NotPlain(format!("{input:?}")))
    })?;
    Ok(Prepared::new(&indexed)?)
}

/// The column, if it has values of the right kind.
fn index_of(column: &ColumnRef, columns: &[Column]) -> Option<ValueIndex> {
    let is_meant =
        |candidate: &Column| candidate.name == column.name && candidate.kind == column.kind;
    columns.iter().position(is_meant).map(ValueIndex::Column)
}
