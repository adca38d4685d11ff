//! Random rows.

use std::collections::BTreeMap;

use hadal_types::{ColumnName, Micros, Number, Value, Weight};

use super::pool;
use super::random::{Random, derive};
use crate::oracle::Row;

/// The description of one table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSpec {
    /// The number of rows.
    pub count: usize,
    /// The columns besides the time.
    pub columns: Vec<ColumnSpec>,
    /// The number of shapes: sets of columns that occur together.
    pub shapes: usize,
    /// The distribution of the times.
    pub times: Times,
}

/// The description of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its values.
    pub content: Content,
    /// The percentage of rows without a value.
    pub null_percent: usize,
    /// The maximum length of a run of equal values.
    pub run: usize,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Integers of a few different values.
    SmallIntegers,
    /// Integers of many different values.
    Integers,
    /// Integers that grow from row to row.
    Counter,
    /// Integers at the edge of 64 bits.
    ExtremeIntegers,
    /// Decimals with 0 to 6 digits after the point.
    Decimals,
    /// Decimals with 18 digits after the point beside small integers.
    DeepDecimals,
    /// Doubles that differ little in size.
    Doubles,
    /// Doubles of every size.
    ExtremeDoubles,
    /// Numbers that together fit neither one scale nor doubles.
    MixedNumbers,
    /// Integers of 64 bits, and mixed numbers here and there.
    LargeIntegers,
    /// Identifiers of 64 bits.
    WideIntegers,
    /// Decimals of about 30 digits.
    LongDecimals,
    /// Booleans.
    Truths,
    /// Booleans in some rows, integers in others.
    TruthsAndIntegers,
    /// A few words.
    Words,
    /// Strings that differ in nearly every row.
    Identifiers,
    /// Strings that are numbers, or nearly.
    Numerals,
    /// Strings of up to some thousand characters.
    LongTexts,
    /// Integers, and strings here and there.
    IntegersAndWords,
    /// Sets of words.
    Sets,
    /// Vectors of words.
    Vectors,
    /// A few long vectors, repeated.
    StackTraces,
    /// Values of every kind.
    Anything,
    /// The same string in every row.
    Constant,
    /// Weights for `sample_rate`.
    SampleRates,
    /// Weights of every size.
    ExtremeSampleRates,
}

impl Content {
    /// The contents of an ordinary column.
    const ORDINARY: [Self; 24] = [
        Self::SmallIntegers,
        Self::Integers,
        Self::Counter,
        Self::ExtremeIntegers,
        Self::Decimals,
        Self::DeepDecimals,
        Self::Doubles,
        Self::ExtremeDoubles,
        Self::MixedNumbers,
        Self::LargeIntegers,
        Self::WideIntegers,
        Self::LongDecimals,
        Self::Truths,
        Self::TruthsAndIntegers,
        Self::Words,
        Self::Identifiers,
        Self::Numerals,
        Self::LongTexts,
        Self::IntegersAndWords,
        Self::Sets,
        Self::Vectors,
        Self::StackTraces,
        Self::Anything,
        Self::Constant,
    ];
}

/// The distribution of the rows' times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// All the same.
    Same,
    /// One after the other, some microseconds apart.
    Ascending,
    /// Unordered, within an hour.
    Shuffled,
    /// In a few clusters, days apart.
    Clustered,
    /// From year 1 to year 9999.
    Extreme,
}

const NAMES: [&str; 10] =
    ["n", "service", "a.b", "Ünï cödé", "select", "value", "tags", "x y", "status", "\"quoted\""];

impl RowSpec {
    /// The description for `seed`: from no rows to a few thousand, one to eight columns.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let random = &mut Random::new(derive(seed, 1_000));
        let columns = 1 + random.below(8);
        let mut columns: Vec<ColumnSpec> =
            (0..columns).map(|index| ColumnSpec::random(random, index)).collect();
        if random.percent(50) {
            columns.push(ColumnSpec {
                name: Weight::COLUMN.to_owned(),
                content: *random.pick(&[
                    Content::SampleRates,
                    Content::SampleRates,
                    Content::ExtremeSampleRates,
                ]),
                null_percent: *random.pick(&[0, 30, 90]),
                run: 1 + random.below(50),
            });
        }
        let times = [
            Times::Same,
            Times::Ascending,
            Times::Ascending,
            Times::Shuffled,
            Times::Shuffled,
            Times::Clustered,
            Times::Clustered,
            Times::Extreme,
        ];
        Self {
            count: count(random),
            columns,
            shapes: 1 + random.below(3),
            times: *random.pick(&times),
        }
    }
}

/// Sizes at the edges: none, one, a vector of 1,024 more or less.
fn count(random: &mut Random) -> usize {
    match random.below(20) {
        0 => 0,
        1 => 1,
        2..9 => 2 + random.below(20),
        9..14 => 22 + random.below(300),
        14..17 => 1_023 + random.below(3),
        17..19 => 1_026 + random.below(1_200),
        _ => 2_048 + random.below(2_500),
    }
}

impl ColumnSpec {
    fn random(random: &mut Random, index: usize) -> Self {
        let name = NAMES[index % NAMES.len()].to_owned();
        let content = *random.pick(&Content::ORDINARY);
        let null_percent = *random.pick(&[0, 0, 0, 10, 50, 98, 100]);
        Self { name, content, null_percent, run: *random.pick(&[1, 1, 1, 10, 500]) }
    }
}

/// Generates the rows of `seed` for `spec`.
#[must_use]
pub fn rows(seed: u64, spec: &RowSpec) -> Vec<Row> {
    let random = &mut Random::new(derive(seed, 2_000));
    let names: Vec<Option<ColumnName>> =
        spec.columns.iter().map(|column| ColumnName::new(&column.name).ok()).collect();
    let shapes: Vec<Vec<bool>> = (0..spec.shapes.max(1))
        .map(|shape| spec.columns.iter().map(|_| shape == 0 || random.percent(60)).collect())
        .collect();
    let mut running: Vec<(usize, Value)> = vec![(0, Value::Null); spec.columns.len()];
    let mut rows = Vec::with_capacity(spec.count);
    for index in 0..spec.count {
        let shape = random.below(shapes.len());
        let mut cells = BTreeMap::new();
        for (at, column) in spec.columns.iter().enumerate() {
            let (left, value) = &mut running[at];
            if *left == 0 {
                *left = 1 + random.below(column.run);
                *value = match random.percent(column.null_percent) {
                    true => Value::Null,
                    false => column.content.value(random, index),
                };
            }
            *left -= 1;
            if let Some(name) = &names[at]
                && shapes[shape][at]
                && !value.is_null()
            {
                cells.insert(name.clone(), value.clone());
            }
        }
        rows.push(Row { time: spec.times.time(random, index), cells });
    }
    rows
}

impl Times {
    fn time(self, random: &mut Random, index: usize) -> Micros {
        let index = i64::try_from(index).unwrap_or(0);
        let base = pool::NOW.0;
        Micros(match self {
            Self::Same => base,
            Self::Ascending => base + index * 250_000 + random.between(0, 200_000),
            Self::Shuffled => base + random.between(0, 3_600 * Micros::SECOND),
            Self::Clustered => {
                let day = random.between(0, 4);
                base - day * 86_400 * Micros::SECOND + random.between(0, 1_000_000)
            }
            Self::Extreme => match random.below(4) {
                0 => *random.pick(&[Micros::MIN.0, Micros::MAX.0, 0, -1]),
                _ => random.between(Micros::MIN.0, Micros::MAX.0),
            },
        })
    }
}

impl Content {
    /// Generates a value for the row of this index.
    fn value(self, random: &mut Random, index: usize) -> Value {
        match self {
            Self::Truths => Value::Bool(random.percent(50)),
            Self::TruthsAndIntegers => match random.percent(50) {
                true => Value::Bool(random.percent(50)),
                false => Value::integer(random.between(-1, 3)),
            },
            Self::Words => Value::string(pool::word(random)),
            Self::Identifiers => Value::string(&format!("id-{:x}", random.next_u64() >> 40)),
            Self::Numerals => Value::string(pool::numeral(random)),
            Self::LongTexts => Value::string(&long_text(random)),
            Self::IntegersAndWords if random.percent(5) => Value::string(pool::word(random)),
            Self::Sets => pool::set(random),
            Self::Vectors => pool::vector(random),
            Self::StackTraces => stack_trace(random),
            Self::Anything => match random.below(5) {
                0 => Value::integer(random.between(-5, 20)),
                1 => Value::Bool(random.percent(50)),
                2 => Value::string(pool::word(random)),
                3 => pool::set(random),
                _ => pool::vector(random),
            },
            Self::Constant => Value::string("the same"),
            _ => Value::Number(self.number(random, index)),
        }
    }

    fn number(self, random: &mut Random, index: usize) -> Number {
        let index = i64::try_from(index).unwrap_or(0);
        match self {
            Self::Counter => Number::integer(index * 1_000 + random.between(0, 999)),
            Self::Integers => Number::integer(random.between(-1_000_000_000, 1_000_000_000)),
            Self::ExtremeIntegers => Number::integer(pool::extreme(random)),
            Self::Decimals => {
                let scale = *random.pick(&[0, 1, 2, 3, 6]);
                pool::decimal(random.between(-1_000_000, 1_000_000), scale)
            }
            Self::DeepDecimals => match random.percent(50) {
                true => pool::decimal(random.between(-i64::MAX, i64::MAX), 18),
                false => Number::integer(random.between(-9, 9)),
            },
            Self::Doubles => {
                let thousandth = random.between(1, 1_000_000);
                let double = 1000.0 / f64::from(i32::try_from(thousandth).unwrap_or(1));
                Number::from_f64(double).unwrap_or(Number::ZERO)
            }
            Self::ExtremeDoubles => pool::double(random),
            Self::LargeIntegers if random.percent(98) => Number::integer(pool::extreme(random)),
            Self::MixedNumbers | Self::LargeIntegers => pool::mixed(random),
            Self::WideIntegers => pool::identifier(random),
            Self::LongDecimals => pool::long_decimal(random),
            Self::SampleRates => match random.below(4) {
                0 => pool::decimal(33_333_333_333, 9),
                1 => Number::integer(1),
                2 => pool::decimal(random.between(1, 5_000), 1),
                _ => Number::integer(random.between(1, 1_000)),
            },
            Self::ExtremeSampleRates => {
                *random.pick(&[pool::decimal(1, 6), Number::integer(1_000_000_000)])
            }
            _ => Number::integer(random.between(-5, 20)),
        }
    }
}

fn long_text(random: &mut Random) -> String {
    let length = *random.pick(&[10, 100, 3_000]);
    let mut text = String::new();
    while text.len() < length {
        text.push_str(pool::word(random));
        text.push(' ');
    }
    text
}

fn stack_trace(random: &mut Random) -> Value {
    let root = random.below(4);
    let depth = 3 + 9 * random.below(3);
    Value::vector((0..depth).map(|frame| format!("crate{root}::module{frame}::call")))
}
