//! The weights of a block's rows.

use hadal_block::{BlockError, CodedNumbers};
use hadal_encoding::kernels::Comparison;
use hadal_encoding::{Bitmap, Buffer, kernels};
use hadal_query::{ColumnRef, RowInput};
use hadal_types::{ColumnName, Kind, Logical, Number, Value, Weight};

use crate::column::column_values::{ColumnValues, Numbers};
use crate::column::decimals::MantissaColumn;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::scan_memory::Interrupt;

/// The maximum number of weight classes.
pub(super) const CLASSES_MAX: usize = 8;
/// Dictionaries of at most this many values are searched for classes.
const VALUES_MAX: usize = 64;
/// Rows whose weights are examined at a time.
const CHUNK: usize = 1_024;
/// The weight of rows that all weigh one.
const ONE: [i64; 1] = [Weight::UNIT];

/// The number of events that each row of a block stands for.
pub(crate) enum Weights {
    /// Every row weighs one.
    One,
    /// A few weights in millionths, and the index of each row's weight.
    Classes { millionths: Vec<i64>, by_row: Buffer },
    /// Each row's weight in millionths.
    ByRow(Vec<i64>),
}

impl Weights {
    /// Reads the block's sample rates. A row without a valid one weighs one.
    pub(crate) fn new(columns: &LazyColumns<'_, '_>) -> Result<Self, Interrupt> {
        let Ok(name) = ColumnName::new(Weight::COLUMN) else { return Ok(Self::One) };
        if let Some(classes) = Self::of_dictionary(columns, &name)? {
            return Ok(classes);
        }
        let column = ColumnRef { name, kind: Kind::Number, logical: Logical::Plain };
        Ok(match columns.input(&RowInput::Column(column), &Selection::all(columns.rows()))? {
            ColumnValues::Constant(_) => Self::One,
            ColumnValues::Numbers(numbers) if numbers.scale <= Weight::SCALE => {
                Self::classes_of(&numbers).unwrap_or_else(|| Self::by_row_of(&numbers))
            }
            other => {
                Self::ByRow((0..columns.rows()).map(|row| of_value(&other.value(row))).collect())
            }
        })
    }

    /// The classes of rates that are stored as a dictionary; `None` if they are not, or if there
    /// are too many.
    fn of_dictionary(
        columns: &LazyColumns<'_, '_>,
        name: &ColumnName,
    ) -> Result<Option<Self>, BlockError> {
        let Some(index) = columns.find(name.as_str(), Kind::Number) else { return Ok(None) };
        let Some(stored) = columns.stored(index)? else { return Ok(None) };
        let Some((integers, scale)) = stored.integers() else { return Ok(None) };
        let count = integers.dictionary().map_or(0, |(entries, _)| entries.len());
        if scale > Weight::SCALE || !(1..=VALUES_MAX).contains(&count) {
            return Ok(None);
        }
        let Some(CodedNumbers { values, codes }) = stored.coded_integers()? else {
            return Ok(None);
        };
        let mut classes = Classes::default();
        let table = values.iter().map(|&value| classes.of(weight(value, scale)));
        let Some(table) = table.collect::<Option<Vec<u32>>>() else { return Ok(None) };
        Ok(classes.by_row(&table, codes, stored.valid().map(|valid| &**valid)))
    }

    fn by_row_of(numbers: &Numbers) -> Self {
        let weight = |row| match numbers.has(row) {
            true => weight(numbers.mantissas.get(row), numbers.scale),
            false => Weight::UNIT,
        };
        Self::ByRow((0..numbers.mantissas.len()).map(weight).collect())
    }

    /// Finds the weight classes; `None` if there are too many.
    fn classes_of(numbers: &Numbers) -> Option<Self> {
        let mut classes = Classes::default();
        let MantissaColumn::FrameOfReference(reference) = &numbers.mantissas else { return None };
        let (codes, steps) = few_of(&reference.steps)?;
        let class_of = |&step| classes.of(weight(reference.value(step), numbers.scale));
        let table = steps.iter().map(class_of).collect::<Option<Vec<u32>>>()?;
        classes.by_row(&table, codes, numbers.valid.as_deref())
    }

    /// The variances of the rows ([`Weight::sampling_variance`]) as weights, and the rows that have
    /// one among the selected ones. `None` if no row of the block has one.
    pub(crate) fn sampling_variances(&self, selection: &Selection) -> Option<(Self, Selection)> {
        // A row without a variance is not selected, so its weight does not matter.
        let of_all = |weights: &[i64]| -> Vec<i64> {
            weights.iter().map(|&weight| variance(weight).unwrap_or(Weight::UNIT)).collect()
        };
        let variances = match self {
            Self::One => return None,
            Self::Classes { millionths, by_row } => {
                Self::Classes { millionths: of_all(millionths), by_row: by_row.clone() }
            }
            Self::ByRow(millionths) => Self::ByRow(of_all(millionths)),
        };
        let has_all = |millionths: &[i64]| millionths.iter().all(|&w| variance(w).is_some());
        if has_all(self.classes()) && !self.classes().is_empty() {
            return Some((variances, selection.clone()));
        }
        let mut sampled = Bitmap::zeros(selection.block_rows());
        selection.for_each(|row| {
            if variance(self.millionths_of(row)).is_some() {
                sampled.set(row);
            }
        });
        let mut selection = selection.clone();
        selection.narrow(&sampled);
        (selection.count() > 0).then_some((variances, selection))
    }

    /// The variance of a row of each class ([`Weight::sampling_variance`]) in millionths; 0 if it
    /// has none. Empty if there are too many weights.
    pub(crate) fn variance_classes(&self) -> Vec<i64> {
        self.classes().iter().map(|&weight| variance(weight).unwrap_or(0)).collect()
    }

    /// The different weights in millionths; empty if there are too many.
    pub(crate) fn classes(&self) -> &[i64] {
        match self {
            Self::One => &ONE,
            Self::Classes { millionths, .. } => millionths,
            Self::ByRow(_) => &[],
        }
    }

    /// The rows of each weight; `None` if there are too many weights.
    pub(crate) fn rows_by_class(&self) -> Option<Vec<(i64, Bitmap)>> {
        let Self::Classes { millionths, by_row } = self else { return None };
        let rows_of = |code| {
            let mut words = vec![0; by_row.len().div_ceil(64)];
            kernels::compare_u32(by_row, Comparison::Equal, code, &mut words);
            Bitmap::from_words(words, by_row.len())
        };
        Some((0..).zip(millionths).map(|(code, &weight)| (weight, rows_of(code))).collect())
    }

    /// The row's weight.
    pub(crate) fn of(&self, row: usize) -> Weight {
        Weight::from_millionths(self.millionths_of(row)).unwrap_or(Weight::ONE)
    }

    /// The row's weight in millionths.
    #[inline]
    pub(crate) fn millionths_of(&self, row: usize) -> i64 {
        match self {
            Self::One => Weight::UNIT,
            Self::Classes { millionths, by_row } => millionths[by_row[row] as usize],
            Self::ByRow(millionths) => millionths[row],
        }
    }
}

/// The variance of a row of this weight, both in millionths; `None` if it has none.
fn variance(millionths: i64) -> Option<i64> {
    let weight = Weight::from_millionths(millionths)?;
    weight.sampling_variance().map(Weight::millionths)
}

/// Returns a code per row for its step, and the steps by code; `None` if there are too many.
fn few_of(steps: &[u32]) -> Option<(Buffer, Vec<u32>)> {
    let mut codes = Buffer::of(steps.len());
    let mut distinct: Vec<u32> = Vec::new();
    for (steps, codes) in steps.chunks(CHUNK).zip(codes.chunks_mut(CHUNK)) {
        while !kernels::index_among(steps, &distinct, codes) {
            let unknown = codes.iter().position(|&code| code == u32::MAX)?;
            distinct.push(steps[unknown]);
            if distinct.len() > CLASSES_MAX {
                return None;
            }
        }
    }
    Some((codes, distinct))
}

/// The different weights found so far.
#[derive(Default)]
struct Classes {
    millionths: Vec<i64>,
}

impl Classes {
    /// Returns the class of a weight; `None` if there are too many.
    fn of(&mut self, millionths: i64) -> Option<u32> {
        let existing = self.millionths.iter().position(|&other| other == millionths);
        let class = existing.unwrap_or_else(|| {
            self.millionths.push(millionths);
            self.millionths.len() - 1
        });
        u32::try_from(class).ok().filter(|_| class < CLASSES_MAX)
    }

    /// The class of each row, from its code and the class of each code. Rows without a rate weigh
    /// one; `None` if that makes too many classes.
    fn by_row(mut self, table: &[u32], codes: Buffer, valid: Option<&Bitmap>) -> Option<Weights> {
        let mut by_row = codes;
        let is_same = (0..).zip(table).all(|(code, &class)| code == class);
        if !is_same {
            let codes = by_row;
            by_row = Buffer::of(codes.len());
            kernels::gather_u32(table, &codes, &mut by_row);
        }
        if let Some(valid) = valid {
            kernels::mask_u32(&mut by_row, valid.words(), self.of(Weight::UNIT)?);
        }
        Some(Weights::Classes { millionths: self.millionths, by_row })
    }
}

fn of_value(value: &Value) -> i64 {
    let rate = match value {
        Value::Number(rate) => *rate,
        _ => Number::integer(1),
    };
    Weight::from_rate(rate).unwrap_or(Weight::ONE).millionths()
}

/// Converts a sample rate to a weight in millionths; its scale is at most [`Weight::SCALE`].
pub(crate) fn weight(mantissa: i64, scale: u8) -> i64 {
    Weight::from_mantissa(mantissa, scale).millionths()
}
