//! Rows from few bytes: a fuzzer's input describes how each column continues. It can thus make
//! thousands of rows, and all shapes that encodings distinguish.

use arbitrary::{Arbitrary, Unstructured};
use hadal_block::BlockBuilder;
use hadal_types::{ColumnName, Decimal, Kind, Micros, Number, Value};

/// The maximum number of columns of a table.
const COLUMNS_MAX: usize = 5;
/// Numbers of rows: mostly few and, less often, more than two vectors.
const ROWS: [usize; 8] = [3, 3, 9, 9, 70, 300, 1_100, 2_600];

/// Rows, and their division into blocks.
#[derive(Debug)]
pub struct Table {
    /// The rows, in their order.
    pub rows: Vec<Row>,
    /// The number of rows of each block but the last, which has the rest.
    pub cuts: Vec<usize>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its time.
    pub time: Micros,
    /// The value of the column of each number, or null. Without booleans: they are numbers 0 and 1.
    pub cells: Vec<Value>,
}

/// A value, and its variation from row to row.
#[derive(Arbitrary, Clone, Debug)]
enum Cell {
    Small(i8),
    Integer(i64),
    Decimal(i128, u8),
    Double(f64),
    Truth(bool),
    Text(String),
    /// A string around the number of the row.
    Numbered(String, bool),
    Set(Vec<String>),
    Vector(Vec<String>),
    Missing,
}

#[derive(Arbitrary, Debug)]
struct Column {
    pool: Vec<Cell>,
    /// The step of integers from row to row.
    step: i32,
    order: Order,
    /// The number of rows without a value, of 256.
    nulls: u8,
    are_nulls_regular: bool,
    outliers: Vec<(u16, Cell)>,
}

#[derive(Arbitrary, Debug)]
enum Order {
    /// Each for some rows, repeatedly.
    Runs(u8),
    /// Pseudo-random.
    Mixed(u8),
}

#[derive(Arbitrary, Debug)]
struct Times {
    first: i64,
    step: i32,
    jitter: u16,
}

impl<'a> Arbitrary<'a> for Table {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let most = *input.choose(&ROWS)?;
        let count = input.int_in_range(1..=most)?;
        let cuts = match input.int_in_range(0..=2)? {
            0 => Vec::new(),
            blocks => {
                (0..blocks).map(|_| input.int_in_range(1..=most)).collect::<Result<_, _>>()?
            }
        };
        let times = Times::arbitrary(input)?;
        let columns = input.int_in_range(1..=COLUMNS_MAX)?;
        let columns: Vec<Column> =
            (0..columns).map(|_| Column::arbitrary(input)).collect::<Result<_, _>>()?;
        let row = |index| Row {
            time: times.of_row(index),
            cells: columns.iter().map(|column| column.value(index)).collect(),
        };
        Ok(Self { rows: (0..count).map(row).collect(), cuts })
    }
}

impl Times {
    fn of_row(&self, index: usize) -> Micros {
        let late = mixed(index as u64) % (u64::from(self.jitter) + 1);
        let time = self.first.wrapping_add((index as i64).wrapping_mul(self.step.into()));
        Micros(time.wrapping_sub(late as i64))
    }
}

impl Column {
    fn value(&self, index: usize) -> Value {
        let outlier = self.outliers.iter().find(|outlier| usize::from(outlier.0) == index);
        if let Some((_, cell)) = outlier {
            return cell.value(0, index);
        }
        let chance = if self.are_nulls_regular { index as u64 } else { mixed(index as u64 ^ 0x5A) };
        if self.pool.is_empty() || chance % 256 < self.nulls.into() {
            return Value::Null;
        }
        let at = match self.order {
            Order::Runs(length) => index / (usize::from(length) + 1),
            Order::Mixed(seed) => (mixed(index as u64 + (u64::from(seed) << 32)) >> 1) as usize,
        };
        let grown = i64::from(self.step).wrapping_mul(index as i64);
        self.pool[at % self.pool.len()].value(grown, index)
    }
}

impl Cell {
    fn value(&self, grown: i64, index: usize) -> Value {
        match self {
            Self::Small(value) => Value::integer(i64::from(*value)),
            Self::Integer(value) => Value::integer(value.wrapping_add(grown)),
            Self::Decimal(mantissa, scale) => {
                let mantissa = mantissa.wrapping_add(grown.into());
                Decimal::new(mantissa, scale % 37)
                    .map_or(Value::Null, |decimal| Value::Number(decimal.into()))
            }
            Self::Double(double) => Number::from_f64(*double).map_or(Value::Null, Value::Number),
            Self::Truth(truth) => Value::Bool(*truth),
            Self::Text(text) => Value::string(text),
            Self::Numbered(text, false) => Value::string(&format!("{text} {grown} {text}{index}")),
            Self::Numbered(text, true) => {
                Value::string(&format!("{text}-{:08x}-{grown:x}", mixed(index as u64) >> 32))
            }
            Self::Set(list) => Value::set(list),
            Self::Vector(list) => Value::vector(list),
            Self::Missing => Value::Null,
        }
    }
}

/// Maps every number to a different one that looks random.
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 27)
}

/// The kind of a stored value.
#[must_use]
pub fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Bool(_) | Value::Number(_) => Some(Kind::Number),
        Value::String(_) => Some(Kind::String),
        Value::Set(_) => Some(Kind::Set),
        Value::Vector(_) => Some(Kind::Vector),
        _ => None,
    }
}

/// The name of the column with this number.
#[must_use]
pub fn column_name(number: usize) -> ColumnName {
    name(&format!("c{number}"))
}

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

impl Table {
    /// The blocks of the rows, in their order.
    #[must_use]
    pub fn blocks(&self) -> Vec<Vec<u8>> {
        let mut rest = self.rows.as_slice();
        let mut blocks = Vec::new();
        for &rows in &self.cuts {
            let (block, after) = rest.split_at(rows.min(rest.len()));
            blocks.push(block);
            rest = after;
        }
        blocks.push(rest);
        blocks.into_iter().filter(|rows| !rows.is_empty()).map(block).collect()
    }

    /// The rows in comparable form: booleans are numbers.
    #[must_use]
    pub fn comparable(&self) -> Vec<Row> {
        let rows = self.rows.iter();
        rows.map(|row| Row { cells: row.cells.iter().map(number_of).collect(), ..*row }).collect()
    }
}

/// The same value, with a boolean as a number.
#[must_use]
pub fn number_of(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => Value::integer((*truth).into()),
        other => other.clone(),
    }
}

fn block(rows: &[Row]) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for row in rows {
        for (number, value) in row.cells.iter().enumerate() {
            push(&mut builder, number, value);
        }
        builder.end_row(row.time);
    }
    builder.finish(Micros(77), None).expect("fits a block")
}

fn push(builder: &mut BlockBuilder, number: usize, value: &Value) {
    let Some(kind) = kind_of(value) else { return };
    let id = builder.column(&column_name(number), kind);
    let pushed = match value {
        Value::Bool(truth) => builder.push_bool(id, *truth),
        Value::Number(number) => builder.push_number(id, *number),
        Value::String(string) => builder.push_string(id, string),
        Value::Set(list) | Value::Vector(list) => {
            builder.push_list(id, &list.iter().map(AsRef::as_ref).collect::<Vec<_>>())
        }
        _ => Ok(()),
    };
    pushed.expect("taken");
}
