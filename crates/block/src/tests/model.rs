//! Rows as plain values, generated from a seed, written to blocks and read back.

use std::collections::BTreeMap;

use hadal_types::{BatchId, ColumnName, Decimal, Kind, Micros, Number, Value};

use crate::{BlockBuilder, BlockView, Chill, ColumnId, chill};

/// A linear congruential generator: the same numbers from the same seed, in every release.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 32)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("fits")
    }

    pub(super) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// One row: its time and its values by column name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) time: Micros,
    pub(super) cells: BTreeMap<String, Value>,
}

pub(super) fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a column name")
}

pub(super) fn kind_of(value: &Value) -> Kind {
    match value {
        Value::String(_) => Kind::String,
        Value::Set(_) => Kind::Set,
        Value::Vector(_) => Kind::Vector,
        _ => Kind::Number,
    }
}

pub(super) fn push(builder: &mut BlockBuilder, column: &str, value: &Value) -> ColumnId {
    let id = builder.column(&name(column), kind_of(value));
    match value {
        Value::Bool(truth) => builder.push_bool(id, *truth),
        Value::Number(number) => builder.push_number(id, *number),
        Value::String(string) => builder.push_string(id, string),
        Value::Set(list) | Value::Vector(list) => {
            let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
            builder.push_list(id, &list)
        }
        other => panic!("{other} is not stored"),
    }
    .expect("taken");
    id
}

pub(super) fn build(rows: &[Row], batch: Option<&BatchId>) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for row in rows {
        for (column, value) in &row.cells {
            push(&mut builder, column, value);
        }
        builder.end_row(row.time);
    }
    builder.finish(Micros(77), batch.map(|batch| (batch, 0xc0_ffee))).expect("fits a block")
}

/// The block with all of its columns cold.
pub(super) fn cold(bytes: &[u8]) -> Vec<u8> {
    let block = BlockView::parse(bytes).expect("parses");
    chill(&block, Chill::All).expect("chills").expect("some were warm")
}

/// All rows of a block, which must be the same when it is cold. Verifies every checksum, and that
/// no name has two values in a row.
pub(super) fn read(bytes: &[u8]) -> Vec<Row> {
    let rows = read_as_it_is(bytes);
    if BlockView::parse(bytes).expect("parses").columns().iter().any(|column| !column.is_cold()) {
        assert!(read_as_it_is(&cold(bytes)) == rows, "cold rows differ");
    }
    rows
}

fn read_as_it_is(bytes: &[u8]) -> Vec<Row> {
    let block = BlockView::parse(bytes).expect("parses");
    block.verify().expect("unaltered");
    let times = block.time_column().decode().expect("times");
    let time = |row| match times.value(row) {
        Value::Time(time) => time,
        other => panic!("{other} is no time"),
    };
    let row = |row| Row { time: time(row), cells: BTreeMap::new() };
    let mut rows: Vec<Row> = (0..block.rows()).map(row).collect();
    for column in block.columns() {
        if column.name() == block.time_column().name() && column.kind() == Kind::Number {
            continue;
        }
        let data = column.decode().expect("decodes");
        let mut nulls = 0;
        for (row, slot) in rows.iter_mut().enumerate() {
            match data.value(row) {
                Value::Null => nulls += 1,
                value => {
                    let second = slot.cells.insert(column.name().to_string(), value);
                    assert_eq!(second, None, "row {row} of {}", column.name());
                }
            }
        }
        assert_eq!(nulls, column.null_count(), "{}", column.name());
        assert!(nulls < block.rows(), "{} has no value", column.name());
    }
    rows
}

/// Asserts that rows are equal; truths may have become numbers.
pub(super) fn assert_same(actual: &[Row], expected: &[Row]) {
    assert_eq!(actual.len(), expected.len());
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert_eq!(actual.time, expected.time, "row {index}");
        let names = |row: &Row| row.cells.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(actual), names(expected), "row {index}");
        for (column, actual) in &actual.cells {
            let expected = &expected.cells[column];
            let same = match (number(actual), number(expected)) {
                (Some(actual), Some(expected)) => actual == expected,
                _ => actual == expected,
            };
            assert!(same, "row {index} of {column}: {actual:?}, expected {expected:?}");
        }
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bool(truth) => Some(Number::integer((*truth).into())),
        _ => None,
    }
}

/// Random rows with columns of all shapes that encodings distinguish.
pub(super) fn random_rows(random: &mut Random, count: usize) -> Vec<Row> {
    let columns: Vec<(String, ColumnShape, usize)> = (0..random.below(9))
        .map(|index| {
            (format!("c{index}"), random.pick(&SHAPES), random.pick(&[0, 1, 2, 50, 1_000]))
        })
        .collect();
    let jitter = random.pick(&[0, 5_000_000, 90_000_000_000, 400_000_000_000]);
    let mut rows = Vec::with_capacity(count);
    for index in 0..count {
        let mut cells = BTreeMap::new();
        for (name, shape, rarity) in &columns {
            if *rarity == 0 || random.below(rarity + 1) == 0 {
                cells.insert(name.clone(), random_value(random, *shape, index));
            }
        }
        let late = i64::try_from(random.below(jitter + 1)).expect("fits");
        let time =
            Micros(1_790_000_000_000_000 + i64::try_from(index).expect("fits") * 1_000 - late);
        rows.push(Row { time, cells });
    }
    rows
}

#[derive(Clone, Copy, Debug)]
enum ColumnShape {
    Same,
    Small,
    Counter,
    Extreme,
    Decimals,
    MixedScales,
    Doubles,
    AnyNumber,
    IdsAndFewOthers,
    Truths,
    TruthsAndNumbers,
    FewStrings,
    ManyStrings,
    OddStrings,
    Sets,
    Stacks,
    Vectors,
    AnyKind,
}

const SHAPES: [ColumnShape; 18] = [
    ColumnShape::Same,
    ColumnShape::Small,
    ColumnShape::Counter,
    ColumnShape::Extreme,
    ColumnShape::Decimals,
    ColumnShape::MixedScales,
    ColumnShape::Doubles,
    ColumnShape::AnyNumber,
    ColumnShape::IdsAndFewOthers,
    ColumnShape::Truths,
    ColumnShape::TruthsAndNumbers,
    ColumnShape::FewStrings,
    ColumnShape::ManyStrings,
    ColumnShape::OddStrings,
    ColumnShape::Sets,
    ColumnShape::Stacks,
    ColumnShape::Vectors,
    ColumnShape::AnyKind,
];

fn random_value(random: &mut Random, shape: ColumnShape, index: usize) -> Value {
    let integer = |value: usize| Value::integer(i64::try_from(value).expect("fits"));
    match shape {
        ColumnShape::Same => Value::integer(-42),
        ColumnShape::Small => integer(random.below(1_000)),
        ColumnShape::Counter => integer(1_000_000 + index * 7 + random.below(3)),
        ColumnShape::Extreme => Value::integer(random.pick(&[i64::MIN, i64::MAX, 0, -1])),
        ColumnShape::Decimals => decimal(random.below(100_000), 2),
        ColumnShape::MixedScales => {
            let scale = random.pick(&[0, 1, 6, 18]);
            decimal(random.below(10), scale)
        }
        ColumnShape::Doubles => {
            let double = f64::from_bits(random.next());
            Value::Number(Number::from_f64(double).unwrap_or(Number::ZERO))
        }
        ColumnShape::AnyNumber => Value::Number(any_number(random)),
        ColumnShape::IdsAndFewOthers if random.below(100) == 0 => Value::Number(any_number(random)),
        ColumnShape::IdsAndFewOthers => Value::integer(random.next().cast_signed()),
        ColumnShape::Truths => Value::Bool(random.below(2) == 0),
        ColumnShape::TruthsAndNumbers if random.below(2) == 0 => Value::Bool(random.below(2) == 0),
        ColumnShape::TruthsAndNumbers => integer(random.below(3)),
        ColumnShape::FewStrings => Value::string(&format!("service-{}", random.below(30))),
        ColumnShape::ManyStrings => Value::string(&format!("user {index} asked {}", random.next())),
        ColumnShape::OddStrings => {
            Value::string(random.pick(&["", "a", "\0", "é💧", "null", "a\nb"]))
        }
        ColumnShape::Sets => Value::set(random_words(random, 7)),
        ColumnShape::Stacks => {
            let depth = random.below(5);
            Value::vector((0..depth * 3).map(|frame| format!("frame {depth} {frame}")))
        }
        ColumnShape::Vectors => Value::vector(random_words(random, 4)),
        ColumnShape::AnyKind => {
            let shape = random.pick(&[
                ColumnShape::Small,
                ColumnShape::FewStrings,
                ColumnShape::Sets,
                ColumnShape::Vectors,
            ]);
            random_value(random, shape, index)
        }
    }
}

/// Small decimals, identifiers of 64 bits, decimals of 30 digits, doubles of any size.
fn any_number(random: &mut Random) -> Number {
    let decimal = |mantissa: i128, scale| Decimal::new(mantissa, scale).map(Number::from);
    let wide = i128::from(random.next()) << 37 | i128::from(random.next() >> 27);
    let number = match random.below(6) {
        0 => decimal(wide >> 91, 2),
        1 => decimal(wide >> 37, 0),
        2 => decimal((wide >> 37) - (1 << 63), random.pick(&[0, 9, 18])),
        3 => decimal(if wide % 2 == 0 { wide } else { -wide }, random.pick(&[0, 12, 36])),
        4 => Number::from_f64(random.pick(&[1e300, -1e300, 5e-324, 0.1, 1e19])),
        _ => Number::from_f64(f64::from_bits(random.next())),
    };
    number.unwrap_or(Number::ZERO)
}

fn decimal(mantissa: usize, scale: u8) -> Value {
    let mantissa = i128::try_from(mantissa).expect("fits");
    Value::Number(Number::from(Decimal::new(mantissa, scale).expect("a scale below 37")))
}

fn random_words(random: &mut Random, most: usize) -> Vec<String> {
    let count = random.below(most);
    (0..count).map(|_| format!("word {}", random.below(40))).collect()
}
