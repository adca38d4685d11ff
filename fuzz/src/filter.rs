//! Random filters, and the rows that pass: those that a scan finds in blocks, and those for which
//! `hadal_query` is true row by row.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use hadal_aggregate::{Partial, PartialBody, SparseRow};
use hadal_block::{BlockView, MergeOrder, merge};
use hadal_query::{
    ColumnRef, Expr, Function, PatternSyntax, Prepared, Query, QueryKind, RowExpr, RowInput,
    contains_text,
};
use hadal_scan::Scan;
use hadal_types::{ColumnName, Kind, Logical, Micros, TableName, Value};

use crate::rows::{Row, Table, column_name};

/// The maximum depth of nested conditions.
const DEPTH_MAX: usize = 3;
const INCLUDES: [Function; 6] = [
    Function::IncludesAny,
    Function::IncludesAll,
    Function::IncludesNone,
    Function::IncludesStart,
    Function::IncludesEnd,
    Function::IncludesWithin,
];
const ARITHMETIC: [Function; 6] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Remainder,
    Function::DivideWhole,
    Function::Bucket,
];

/// Rows and a query over them.
#[derive(Debug)]
pub struct Question {
    table: Table,
    filter: RowExpr,
}

impl<'a> Arbitrary<'a> for Question {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        // The filter comes first: the remaining input makes rows.
        let picks: Vec<u8> = Vec::arbitrary(input)?;
        let table = Table::arbitrary(input)?;
        let mut maker = Maker { input: Unstructured::new(&picks), table: &table };
        let filter = maker.condition(DEPTH_MAX)?;
        Ok(Self { table, filter })
    }
}

/// Generates conditions of well-typed calls, like the binder, with many literals from the rows.
struct Maker<'a, 't> {
    input: Unstructured<'a>,
    table: &'t Table,
}

impl Maker<'_, '_> {
    fn condition(&mut self, depth: usize) -> arbitrary::Result<RowExpr> {
        let last = if depth == 0 { 7 } else { 10 };
        Ok(match self.input.int_in_range(0..=last)? {
            0..=1 => {
                let value = self.number(depth)?;
                self.comparison(value, Kind::Number)?
            }
            2 => {
                let value = self.leaf(Kind::String)?;
                self.comparison(value, Kind::String)?
            }
            3 => {
                let kind = *self.input.choose(&Kind::ALL)?;
                Expr::call(Function::IsNull, [self.leaf(kind)?])
            }
            4 => self.is_in()?,
            5 => self.matches()?,
            6 => self.includes()?,
            7 => self.time()?,
            8 => Expr::call(Function::Not, [self.condition(depth - 1)?]),
            both => {
                let function = if both == 9 { Function::And } else { Function::Or };
                let count = self.input.int_in_range(2..=3)?;
                let conditions: Vec<RowExpr> =
                    (0..count).map(|_| self.condition(depth - 1)).collect::<Result<_, _>>()?;
                Expr::call(function, conditions)
            }
        })
    }

    fn leaf(&mut self, kind: Kind) -> arbitrary::Result<RowExpr> {
        let width = self.table.rows.first().map_or(1, |row| row.cells.len());
        // One beyond the last: a column that no row has.
        let name = column_name(self.input.int_in_range(0..=width)?);
        Ok(Expr::Leaf(RowInput::Column(ColumnRef { name, kind, logical: Logical::Plain })))
    }

    fn number(&mut self, depth: usize) -> arbitrary::Result<RowExpr> {
        if depth == 0 || self.input.ratio(2, 3)? {
            return self.leaf(Kind::Number);
        }
        if self.input.ratio(1, 4)? {
            let kind = *self.input.choose(&[Kind::String, Kind::Set, Kind::Vector])?;
            return Ok(Expr::call(Function::Length, [self.leaf(kind)?]));
        }
        let function = *self.input.choose(&ARITHMETIC)?;
        Ok(Expr::call(function, [self.number(depth - 1)?, self.literal(Kind::Number)?]))
    }

    fn comparison(&mut self, value: RowExpr, kind: Kind) -> arbitrary::Result<RowExpr> {
        let function = *self.input.choose(&Function::COMPARISONS)?;
        Ok(Expr::call(function, [value, self.literal(kind)?]))
    }

    fn is_in(&mut self) -> arbitrary::Result<RowExpr> {
        let kind = *self.input.choose(&[Kind::Number, Kind::String])?;
        let mut arguments = vec![self.leaf(kind)?];
        for _ in 0..self.input.int_in_range(1..=5)? {
            arguments.push(self.literal(kind)?);
        }
        Ok(Expr::call(Function::In, arguments))
    }

    fn matches(&mut self) -> arbitrary::Result<RowExpr> {
        if self.input.ratio(1, 4)? {
            return Ok(Expr::Leaf(RowInput::AnyText(self.piece()?)));
        }
        let syntaxes = [
            PatternSyntax::Like,
            PatternSyntax::ILike,
            PatternSyntax::Regex,
            PatternSyntax::IRegex,
        ];
        let syntax = *self.input.choose(&syntaxes)?;
        let piece = self.piece()?;
        let pattern = match self.input.int_in_range(0..=3)? {
            0 => format!("%{piece}%"),
            1 => format!("{piece}%"),
            2 => format!("{piece}|{}", self.piece()?),
            _ => piece,
        };
        let text = self.leaf(Kind::String)?;
        Ok(Expr::call(Function::Matches(syntax), [text, Expr::Literal(Value::string(&pattern))]))
    }

    fn includes(&mut self) -> arbitrary::Result<RowExpr> {
        let kind = *self.input.choose(&[Kind::Set, Kind::Vector])?;
        let mut arguments = vec![self.leaf(kind)?];
        if self.input.ratio(1, 6)? {
            return Ok(Expr::call(Function::IsEmpty, arguments));
        }
        let function = *self.input.choose(&INCLUDES)?;
        for _ in 0..self.input.int_in_range(1..=3)? {
            let word = match self.cell()? {
                Value::Set(list) | Value::Vector(list) if !list.is_empty() => {
                    Value::String(self.input.choose(&list)?.clone())
                }
                _ => Value::string(&self.piece()?),
            };
            arguments.push(Expr::Literal(word));
        }
        Ok(Expr::call(function, arguments))
    }

    fn time(&mut self) -> arbitrary::Result<RowExpr> {
        let function = *self.input.choose(&Function::COMPARISONS)?;
        let row = self.input.choose_index(self.table.rows.len())?;
        let near = i64::from(self.input.int_in_range(-1i8..=1)?);
        let time = Micros(self.table.rows[row].time.0.saturating_add(near));
        Ok(Expr::call(function, [Expr::Leaf(RowInput::Time), Expr::Literal(Value::Time(time))]))
    }

    /// The value of some row in some column.
    fn cell(&mut self) -> arbitrary::Result<Value> {
        let row = &self.table.rows[self.input.choose_index(self.table.rows.len())?];
        Ok(crate::rows::number_of(self.input.choose(&row.cells)?))
    }

    fn literal(&mut self, kind: Kind) -> arbitrary::Result<RowExpr> {
        let cell = self.cell()?;
        Ok(Expr::Literal(match (kind, cell) {
            (Kind::Number, Value::Number(number)) => Value::Number(number),
            (Kind::Number, _) => Value::integer(self.input.arbitrary()?),
            (_, Value::String(text)) => Value::String(text),
            (_, Value::Number(number)) => Value::string(&number.to_string()),
            _ => Value::string(&self.piece()?),
        }))
    }

    /// A part of a string of the rows, or any string.
    fn piece(&mut self) -> arbitrary::Result<String> {
        let Value::String(text) = self.cell()? else {
            let text: String = self.input.arbitrary()?;
            return Ok(text.chars().take(8).collect());
        };
        let skip = self.input.int_in_range(0..=8)?;
        let take = self.input.int_in_range(0..=8)?;
        Ok(text.chars().skip(skip).take(take).collect())
    }
}

/// Runs the query on the rows' blocks, and on the merged blocks.
///
/// # Panics
/// If a scan finds other rows than expected.
pub fn ask(Question { table, filter }: &Question) {
    let Ok(prepared) = Prepared::new(filter) else { return };
    let rows = table.comparable();
    let holds = |row: &&Row| prepared.is_true(&|input| value_of(row, input)) == Ok(true);
    let mut expected: Vec<Micros> = rows.iter().filter(holds).map(|row| row.time).collect();
    expected.sort_unstable();
    let blocks = table.blocks();
    assert_eq!(times(&blocks, filter), expected, "of blocks as they came: {filter:?}");
    let views: Vec<_> =
        blocks.iter().map(|bytes| BlockView::parse(bytes).expect("parses")).collect();
    let merged = merge(&views, MergeOrder::Time, Micros(78)).expect("merges");
    assert_eq!(times(&merged, filter), expected, "of merged blocks: {filter:?}");
}

/// A row's value of an input.
fn value_of(row: &Row, input: &RowInput) -> Value {
    let cell =
        |name: &ColumnName| (0..).zip(&row.cells).find(|(number, _)| column_name(*number) == *name);
    match input {
        RowInput::Time => Value::Time(row.time),
        RowInput::AnyText(text) => {
            let texts = row.cells.iter().filter(|cell| !matches!(cell, Value::Number(_)));
            Value::Bool(texts.into_iter().any(|cell| contains_text(cell, text)))
        }
        // No filter here has it.
        RowInput::Random(_) => Value::Null,
        RowInput::Column(ColumnRef { name, kind, .. }) => match (kind, cell(name)) {
            (Kind::Number, Some((_, value @ Value::Number(_))))
            | (Kind::String, Some((_, value @ Value::String(_))))
            | (Kind::Set, Some((_, value @ Value::Set(_))))
            | (Kind::Vector, Some((_, value @ Value::Vector(_)))) => value.clone(),
            (Kind::String, Some((_, Value::Number(number)))) => Value::string(&number.to_string()),
            _ => Value::Null,
        },
    }
}

/// The times of the rows that a scan finds, sorted.
fn times(blocks: &[Vec<u8>], filter: &RowExpr) -> Vec<Micros> {
    let table = TableName::new("t").expect("a name");
    let rows = QueryKind::Rows { values: vec![Expr::Leaf(RowInput::Time)] };
    let groups = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
    let of_rows =
        scanned(blocks, Query { filter: Some(filter.clone()), ..Query::new(table.clone(), rows) });
    let of_groups =
        scanned(blocks, Query { filter: Some(filter.clone()), ..Query::new(table, groups) });
    assert_eq!(of_rows.stats.rows_matched, of_groups.stats.rows_matched);
    let PartialBody::Rows(top_rows) = of_rows.body else { panic!("rows were asked for") };
    let time = |row: SparseRow| match row[0] {
        Value::Time(time) => time,
        ref other => panic!("{other} is no time"),
    };
    let mut times: Vec<Micros> = top_rows.into_sorted().into_iter().map(time).collect();
    times.sort_unstable();
    assert_eq!(of_rows.stats.rows_matched, times.len() as u64);
    times
}

fn scanned(blocks: &[Vec<u8>], query: Query) -> Partial {
    let mut partial = Partial::empty(&query);
    let scan = Scan::new(Arc::new(query)).expect("patterns were prepared before");
    for bytes in blocks {
        let block = BlockView::parse(bytes).expect("parses");
        scan.block(&block, &|_, column| column.verify(), &mut partial).expect("scans");
    }
    partial
}
