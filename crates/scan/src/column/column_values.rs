//! The values of an expression for the rows of one block, in the cheapest form available.

use std::rc::Rc;

use hadal_block::Exacts;
use hadal_encoding::{Bitmap, Buffer, CanonicalStrings, StringDictionary, kernels};
use hadal_query::StateKind;
use hadal_types::{Decimal, Logical, Micros, Number, Value};

use crate::column::bitmaps::{bits, filled};
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn};
use crate::column::interner::InternedIds;
use crate::column::lists::Lists;
use crate::column::selection::Selection;
use crate::scan_memory::{ComputedBytes, Interrupt, ScanMemory};

/// The values of one expression, by row.
#[derive(Clone)]
pub(crate) enum ColumnValues<'a> {
    /// The same value in every row.
    Constant(Value),
    /// Decimals of one scale, or times.
    Numbers(Numbers),
    /// Doubles.
    Doubles(Doubles),
    /// Numbers that doubles cannot all represent exactly.
    Mixed(Mixed),
    /// Truth values.
    Truths(Truths),
    /// A code per row, and a value per code.
    Coded(Coded<'a>),
    /// Values of any kind, one per row. Rows that are not selected may be null.
    Rows(Rc<RowValues>),
}

/// Values of neighbouring rows; all other rows are null.
pub(crate) struct RowValues {
    /// The row of the first value.
    pub(crate) first: usize,
    /// One value per row, starting at `first`.
    pub(crate) values: Vec<Value>,
}

impl RowValues {
    fn value(&self, row: usize) -> Value {
        let index = row.checked_sub(self.first);
        index.and_then(|index| self.values.get(index)).cloned().unwrap_or(Value::Null)
    }
}

/// Numbers as mantissas of one scale.
#[derive(Clone)]
pub(crate) struct Numbers {
    /// One mantissa per row; arbitrary where the row has no value.
    pub(crate) mantissas: MantissaColumn,
    /// Digits after the point.
    pub(crate) scale: u8,
    /// [`Logical::Plain`] or [`Logical::Time`].
    pub(crate) logical: Logical,
    /// Rows that have a value; `None`: all.
    pub(crate) valid: Option<Rc<Bitmap>>,
}

/// One double per row.
#[derive(Clone)]
pub(crate) struct Doubles {
    /// Arbitrary where the row has no value.
    pub(crate) values: Rc<Vec<f64>>,
    /// Rows that have a value; `None`: all.
    pub(crate) valid: Option<Rc<Bitmap>>,
}

/// Numbers as their nearest doubles, with the exact number where its double differs.
#[derive(Clone)]
pub(crate) struct Mixed {
    /// The nearest doubles.
    pub(crate) doubles: Doubles,
    /// The exact numbers of the rows whose double is not exact.
    pub(crate) exacts: Rc<Exacts>,
}

/// Truth values of three-valued logic: false if not possible, null if possible but not true.
#[derive(Clone)]
pub(crate) struct Truths {
    /// Rows where the value is true.
    pub(crate) yes: Rc<Bitmap>,
    /// Rows where the value is true or null.
    pub(crate) possible: Rc<Bitmap>,
}

/// A code per row and a value per code.
#[derive(Clone)]
pub(crate) struct Coded<'a> {
    /// One code per row, each below the number of entries.
    pub(crate) codes: Rc<Buffer>,
    /// The values by code.
    pub(crate) entries: Entries<'a>,
}

/// The values of the codes.
#[derive(Clone)]
pub(crate) enum Entries<'a> {
    /// A column's strings, in sorted order or in row order; one more entry is null if `has_null`.
    Strings {
        /// The strings.
        dictionary: Rc<StringDictionary<'a>>,
        /// Whether the entry after the last string is null.
        has_null: bool,
    },
    /// A column's strings by interned id; one more entry is null if `has_null`.
    InternedIds {
        /// The id of each code, and the interner.
        interned: InternedIds,
        /// Whether the entry after the last string is null.
        has_null: bool,
    },
    /// A column's strings as templates and numbers, in row order; one more entry is null if
    /// `has_null`.
    Lifted {
        /// The strings.
        texts: Rc<CanonicalStrings<'a>>,
        /// Whether the entry after the last string is null.
        has_null: bool,
    },
    /// A column's lists.
    Lists(Rc<Lists<'a>>),
    /// Any values; duplicates are possible.
    Values(Rc<Vec<Value>>),
}

impl Numbers {
    /// Whether the row has a value.
    #[inline]
    pub(crate) fn has(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(row))
    }

    /// Whether the values are numbers, not times.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.logical == Logical::Plain
    }

    /// Returns the value that a mantissa of this column stands for.
    pub(crate) fn value_of(&self, mantissa: i64) -> Value {
        match self.logical {
            Logical::Time => Value::Time(Micros(mantissa)),
            _ => decimal_value(mantissa, self.scale),
        }
    }
}

/// Returns mantissa × 10^−scale as a number; null if the decimal is out of range.
pub(crate) fn decimal_value(mantissa: i64, scale: u8) -> Value {
    let decimal = Decimal::new(i128::from(mantissa), scale);
    decimal.map_or(Value::Null, |decimal| Value::Number(decimal.into()))
}

impl Truths {
    /// Returns truth values without nulls.
    pub(crate) fn certain(yes: Bitmap) -> Self {
        let yes = Rc::new(yes);
        Self { possible: Rc::clone(&yes), yes }
    }

    /// Returns `yes` in the rows of `valid`, null elsewhere.
    pub(crate) fn where_valid(mut yes: Bitmap, valid: Option<&Bitmap>) -> Self {
        let Some(valid) = valid else { return Self::certain(yes) };
        yes.and(valid);
        let mut possible = valid.clone();
        possible.not();
        possible.or(&yes);
        Self { yes: Rc::new(yes), possible: Rc::new(possible) }
    }

    pub(crate) fn negated(&self) -> Self {
        let flip = |bitmap: &Bitmap| {
            let mut flipped = bitmap.clone();
            flipped.not();
            Rc::new(flipped)
        };
        let yes = flip(&self.possible);
        match Rc::ptr_eq(&self.yes, &self.possible) {
            true => Self { possible: Rc::clone(&yes), yes },
            false => Self { yes, possible: flip(&self.yes) },
        }
    }

    /// Returns 1 for true, 0 for false and no value for null, for `rows` rows.
    pub(crate) fn to_numbers(&self, rows: usize) -> Numbers {
        let valid = (!Rc::ptr_eq(&self.yes, &self.possible)).then(|| {
            let mut valid = (*self.possible).clone();
            valid.not();
            valid.or(&self.yes);
            Rc::new(valid)
        });
        let mut steps = Buffer::of(rows);
        for (steps, word) in steps.chunks_mut(64).zip(self.yes.words()) {
            (0..).zip(steps).for_each(|(bit, step)| *step = u32::from(word >> bit & 1 == 1));
        }
        let reference = FrameOfReference { from: 0, step: 1, span: 1, steps: Rc::new(steps) };
        let mantissas = MantissaColumn::FrameOfReference(reference);
        Numbers { mantissas, scale: 0, logical: Logical::Plain, valid }
    }

    pub(crate) fn value(&self, row: usize) -> Value {
        match (self.yes.get(row), self.possible.get(row)) {
            (true, _) => Value::Bool(true),
            (false, true) => Value::Null,
            (false, false) => Value::Bool(false),
        }
    }
}

impl Entries<'_> {
    /// The number of codes, that of null included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Strings { dictionary, has_null } => dictionary.len() + usize::from(*has_null),
            Self::InternedIds { interned, has_null } => interned.ids.len() + usize::from(*has_null),
            Self::Lifted { texts, has_null } => texts.len() + usize::from(*has_null),
            Self::Lists(lists) => lists.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// The value of a code; null for codes out of range.
    pub(crate) fn value(&self, code: usize) -> Value {
        match self {
            Self::Strings { dictionary, .. } => u32::try_from(code)
                .ok()
                .and_then(|code| dictionary.get(code))
                .map_or(Value::Null, Value::string),
            Self::InternedIds { interned: InternedIds { ids, interner }, .. } => {
                let text = |id| interner.with(|texts| texts.get(id).map(Value::string));
                ids.get(code).and_then(|&id| text(id)).unwrap_or(Value::Null)
            }
            Self::Lifted { texts, .. } => {
                texts.text(code).map_or(Value::Null, |text| Value::string(&text))
            }
            Self::Lists(lists) => lists.get(code).cloned().unwrap_or(Value::Null),
            Self::Values(values) => values.get(code).cloned().unwrap_or(Value::Null),
        }
    }
}

impl ColumnValues<'_> {
    /// The approximate size of a decoded column in bytes.
    pub(crate) fn decoded_bytes(&self) -> usize {
        let Self::Coded(Coded { codes, entries }) = self else { return self.bytes() };
        let entries = match entries {
            Entries::Strings { dictionary, .. } => dictionary.bytes(),
            Entries::Lists(lists) => lists.bytes(),
            Entries::InternedIds { .. } | Entries::Lifted { .. } | Entries::Values(_) => 0,
        };
        size_of_val(&codes[..]) + entries
    }

    /// The approximate size of computed values in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of_values = |values: &[Value]| {
            let heap: usize = values.iter().map(Value::heap_bytes).sum();
            size_of_val(values) + heap
        };
        match self {
            Self::Constant(_) => 0,
            Self::Numbers(numbers) => numbers.mantissas.bytes(),
            Self::Doubles(doubles) => size_of_val(&**doubles.values),
            Self::Mixed(mixed) => size_of_val(&**mixed.doubles.values),
            Self::Truths(truths) => 2 * size_of_val(truths.yes.words()),
            Self::Coded(Coded { entries: Entries::Values(values), .. }) => of_values(values),
            Self::Coded(_) => 0,
            Self::Rows(rows) => of_values(&rows.values),
        }
    }

    /// The row's value.
    pub(crate) fn value(&self, row: usize) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Numbers(numbers) if numbers.has(row) => {
                numbers.value_of(numbers.mantissas.get(row))
            }
            Self::Doubles(doubles) if doubles.has(row) => {
                Number::from_f64(doubles.values[row]).map_or(Value::Null, Value::Number)
            }
            Self::Mixed(mixed) if mixed.doubles.has(row) => Value::Number(mixed.number(row)),
            Self::Numbers(_) | Self::Doubles(_) | Self::Mixed(_) => Value::Null,
            Self::Truths(truths) => truths.value(row),
            Self::Coded(coded) => coded.entries.value(coded.codes[row] as usize),
            Self::Rows(values) => values.value(row),
        }
    }

    /// The values as numbers, if the measure takes them so and all of them are. Numbers have faster
    /// forms than truth values, and than values by code.
    pub(crate) fn for_measure(self, kind: StateKind, rows: usize) -> Self {
        let is_numeric = matches!(
            kind,
            StateKind::Moments
                | StateKind::Quantiles
                | StateKind::Variance
                | StateKind::Histogram(_)
                | StateKind::LogHistogram(_)
        );
        match self {
            Self::Truths(truths) if is_numeric => Self::Numbers(truths.to_numbers(rows)),
            Self::Coded(coded) if is_numeric => {
                coded.to_numbers().map_or(Self::Coded(coded), Self::Numbers)
            }
            other => other,
        }
    }

    /// Returns each row's truth value. All values must be truth values or null.
    pub(crate) fn truths(&self, rows: usize) -> Truths {
        match self {
            Self::Truths(truths) => truths.clone(),
            Self::Constant(value) => {
                let bitmap = |set: bool| Rc::new(filled(rows, set));
                Truths {
                    yes: bitmap(*value == Value::Bool(true)),
                    possible: bitmap(*value != Value::Bool(false)),
                }
            }
            Self::Coded(coded) => coded.truths(),
            other => {
                let yes = bits(rows, |row| other.value(row) == Value::Bool(true));
                let possible = bits(rows, |row| other.value(row) != Value::Bool(false));
                Truths { yes: Rc::new(yes), possible: Rc::new(possible) }
            }
        }
    }
}

impl Doubles {
    /// Whether the row has a value.
    #[inline]
    pub(crate) fn has(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(row))
    }
}

impl Mixed {
    /// The number of a row that has a value.
    pub(crate) fn number(&self, row: usize) -> Number {
        self.exacts.number(row, self.doubles.values[row])
    }
}

impl Coded<'_> {
    /// Whether no value is a number or a truth value.
    pub(crate) fn has_no_numbers(&self) -> bool {
        match &self.entries {
            Entries::Strings { .. }
            | Entries::InternedIds { .. }
            | Entries::Lifted { .. }
            | Entries::Lists(_) => true,
            Entries::Values(values) => {
                !values.iter().any(|value| matches!(value, Value::Number(_) | Value::Bool(_)))
            }
        }
    }

    /// The values as numbers; a truth value is 0 or 1. `None` if there are others, or if no scale
    /// fits all.
    fn to_numbers(&self) -> Option<Numbers> {
        let Entries::Values(values) = &self.entries else { return None };
        let stored = |value: &Value| match value {
            Value::Number(number) => number.to_stored(),
            Value::Bool(truth) => Some((i64::from(*truth), 0)),
            Value::Null => Some((0, 0)),
            _ => None,
        };
        let stored: Vec<(i64, u8)> = values.iter().map(stored).collect::<Option<_>>()?;
        let scale = stored.iter().map(|&(_, scale)| scale).max().unwrap_or(0);
        let mantissa = |&(mantissa, own): &(i64, u8)| {
            mantissa.checked_mul(10i64.checked_pow(u32::from(scale - own))?)
        };
        let mantissas = stored.iter().map(mantissa).collect::<Option<Vec<i64>>>()?;
        let valid = values.iter().any(Value::is_null).then(|| Rc::new(self.valid()));
        let (codes, values) = (Rc::clone(&self.codes), Rc::new(mantissas));
        let mantissas = MantissaColumn::Dictionary(DictionaryMantissas { codes, values });
        Some(Numbers { mantissas, scale, logical: Logical::Plain, valid })
    }

    /// Whether some code has no value.
    pub(crate) fn has_nulls(&self) -> bool {
        match &self.entries {
            Entries::Strings { has_null, .. }
            | Entries::InternedIds { has_null, .. }
            | Entries::Lifted { has_null, .. } => *has_null,
            Entries::Lists(lists) => (0..lists.len()).any(|code| !lists.has(code)),
            Entries::Values(values) => values.iter().any(Value::is_null),
        }
    }

    /// Rows that have a value.
    pub(crate) fn valid(&self) -> Bitmap {
        let has_value: Vec<bool> = match &self.entries {
            Entries::Strings { dictionary, .. } => {
                (0..self.entries.len()).map(|code| code < dictionary.len()).collect()
            }
            Entries::InternedIds { interned, .. } => {
                (0..self.entries.len()).map(|code| code < interned.ids.len()).collect()
            }
            Entries::Lifted { texts, .. } => {
                (0..self.entries.len()).map(|code| code < texts.len()).collect()
            }
            Entries::Lists(lists) => (0..lists.len()).map(|code| lists.has(code)).collect(),
            Entries::Values(values) => values.iter().map(|value| !value.is_null()).collect(),
        };
        bits(self.codes.len(), |row| has_value[self.codes[row] as usize])
    }

    fn truths(&self) -> Truths {
        let entries = self.entries.len();
        let values: Vec<Value> = (0..entries).map(|code| self.entries.value(code)).collect();
        self.truths_by_code(
            &values.iter().map(|value| *value == Value::Bool(true)).collect::<Vec<_>>(),
            &values.iter().map(|value| *value != Value::Bool(false)).collect::<Vec<_>>(),
        )
    }

    /// Spreads truth values by code over the rows.
    pub(crate) fn truths_by_code(&self, yes: &[bool], possible: &[bool]) -> Truths {
        let by_row = |by_code: &[bool]| {
            let set = bits(by_code.len(), |code| by_code[code]);
            let mut words = vec![0; self.codes.len().div_ceil(64)];
            kernels::in_codes(&self.codes, set.words(), &mut words);
            Bitmap::from_words(words, self.codes.len())
        };
        if yes == possible {
            return Truths::certain(by_row(yes));
        }
        Truths { yes: Rc::new(by_row(yes)), possible: Rc::new(by_row(possible)) }
    }
}

/// Computes a value for each selected row.
pub(crate) fn by_row<'a>(
    selection: &Selection,
    memory: &ScanMemory<'_>,
    value: impl Fn(usize) -> Result<Value, Interrupt>,
) -> Result<ColumnValues<'a>, Interrupt> {
    let rows = selection.span();
    let mut computing = ComputedBytes::new(memory, rows.len())?;
    let mut values = vec![Value::Null; rows.len()];
    selection.try_for_each(|row| {
        let value = value(row)?;
        computing.add(&value)?;
        values[row - rows.start] = value;
        Ok::<(), Interrupt>(())
    })?;
    Ok(ColumnValues::Rows(Rc::new(RowValues { first: rows.start, values })))
}
