//! Group numbers: each selected row of a block gets a small integer that stands for its keys.
//!
//! Keys in code space multiply into one number as long as the product stays small, so that
//! measures can be kept in plain arrays; when it grows, the numbers in use are counted through.

use hadal_types::Value;
use hashbrown::HashMap;

use crate::selection::Selection;
use crate::values::{BlockValues, Entries, Numbers, Truths};

/// Group numbers may be this many times as many as rows, before they are counted through.
const SPARSE_MAX: usize = 4;

/// The groups of one block's selected rows.
pub(crate) struct GroupNumbers<'a> {
    /// One per selected row, in row order, each below `space`.
    pub(crate) numbers: Vec<u32>,
    /// Group numbers are below this.
    pub(crate) space: usize,
    steps: Vec<Step<'a>>,
}

/// How one more key was folded into the group numbers.
struct Step<'a> {
    /// Codes of the key.
    count: usize,
    values: KeyValues<'a>,
    /// What number × count + code was, by the group number that it got; `None`: the same.
    counted: Option<Vec<u64>>,
}

/// One key: a code per selected row, and what the codes mean.
struct Key<'a> {
    codes: Vec<u32>,
    count: usize,
    values: KeyValues<'a>,
}

enum KeyValues<'a> {
    Constant(Value),
    Entries(Entries<'a>),
    /// Mantissas `from`, `from` + step, …; the code after the last is null.
    Range {
        numbers: Numbers,
        from: i64,
        count: usize,
    },
    Listed(Vec<Value>),
}

impl<'a> GroupNumbers<'a> {
    /// Numbers the groups of the selected rows.
    pub(crate) fn new(keys: &[BlockValues<'a>], selection: &Selection) -> Self {
        let mut groups = Self { numbers: vec![0; selection.count()], space: 1, steps: Vec::new() };
        for key in keys {
            groups.fold(Key::new(key, selection));
        }
        groups
    }

    fn fold(&mut self, key: Key<'a>) {
        let product = self.space.saturating_mul(key.count);
        let dense = product <= self.numbers.len().saturating_mul(SPARSE_MAX).max(1_024);
        let count = key.count as u64;
        let pairs = self.numbers.iter_mut().zip(&key.codes);
        let counted = if dense {
            #[expect(clippy::cast_possible_truncation, reason = "the product is small")]
            pairs.for_each(|(number, code)| *number = *number * count as u32 + code);
            self.space = product;
            None
        } else {
            let mut counted: Vec<u64> = Vec::new();
            let mut seen: HashMap<u64, u32> = HashMap::new();
            for (number, code) in pairs {
                let pair = u64::from(*number) * count + u64::from(*code);
                *number = *seen.entry(pair).or_insert_with(|| {
                    counted.push(pair);
                    last_index(&counted)
                });
            }
            self.space = counted.len();
            Some(counted)
        };
        self.steps.push(Step { count: key.count, values: key.values, counted });
    }

    /// The keys of a group number, in order.
    pub(crate) fn keys_of(&self, number: usize) -> Vec<Value> {
        let mut number = number as u64;
        let mut keys: Vec<Value> = self
            .steps
            .iter()
            .rev()
            .map(|step| {
                let pair = step.counted.as_ref().map_or(number, |counted| {
                    usize::try_from(number).map_or(0, |number| counted[number])
                });
                number = pair / step.count as u64;
                step.values.value(usize::try_from(pair % step.count as u64).unwrap_or(0))
            })
            .collect();
        keys.reverse();
        keys
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a block has at most 65,536 rows")]
fn last_index<T>(list: &[T]) -> u32 {
    (list.len() - 1) as u32
}

impl KeyValues<'_> {
    fn value(&self, code: usize) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Entries(entries) => entries.value(code),
            Self::Listed(values) => values[code].clone(),
            Self::Range { count, .. } if code == *count => Value::Null,
            Self::Range { numbers, from, .. } => {
                let code = i64::try_from(code).unwrap_or_default();
                numbers.value_of(from.wrapping_add(code.wrapping_mul(numbers.step)))
            }
        }
    }
}

impl<'a> Key<'a> {
    fn new(values: &BlockValues<'a>, selection: &Selection) -> Self {
        match values {
            BlockValues::Constant(value) => Self {
                codes: vec![0; selection.count()],
                count: 1,
                values: KeyValues::Constant(value.clone()),
            },
            BlockValues::Coded(coded) => Self {
                codes: gather(selection, |row| coded.codes[row]),
                count: coded.entries.len().max(1),
                values: KeyValues::Entries(coded.entries.clone()),
            },
            BlockValues::Truths(truths) => Self::of_truths(truths, selection),
            BlockValues::Numbers(numbers) => Self::of_range(numbers, selection)
                .unwrap_or_else(|| Self::of_numbers(numbers, selection)),
            other => {
                let mut seen = HashMap::new();
                Self::counted(selection, &mut seen, |row| other.value(row), |value| value)
            }
        }
    }

    fn of_truths(truths: &Truths, selection: &Selection) -> Self {
        let code = |row| u32::from(truths.yes.get(row)) + u32::from(truths.possible.get(row));
        // False is 0, null is 1 (possible, not true), true is 2.
        let values = vec![Value::Bool(false), Value::Null, Value::Bool(true)];
        Self { codes: gather(selection, code), count: 3, values: KeyValues::Listed(values) }
    }

    /// Codes by arithmetic, where the values lie close together.
    fn of_range(numbers: &Numbers, selection: &Selection) -> Option<Self> {
        let (mut from, mut to) = (i64::MAX, i64::MIN);
        selection.for_each(|row| {
            if numbers.has(row) {
                from = from.min(numbers.mantissas[row]);
                to = to.max(numbers.mantissas[row]);
            }
        });
        if from > to {
            // Every row is null.
            (from, to) = (0, 0);
        }
        let steps = (to.checked_sub(from)? / numbers.step).checked_add(1)?;
        let count = usize::try_from(steps).ok()?;
        if count > selection.count().saturating_mul(SPARSE_MAX).max(256) {
            return None;
        }
        let null = u32::try_from(count).ok()?;
        let code = |row: usize| match numbers.has(row) {
            #[expect(clippy::cast_possible_truncation, reason = "below count, a u32")]
            #[expect(clippy::cast_sign_loss, reason = "from is the smallest")]
            true => ((numbers.mantissas[row] - from) / numbers.step) as u32,
            false => null,
        };
        Some(Self {
            codes: gather(selection, code),
            count: count + 1,
            values: KeyValues::Range { numbers: numbers.clone(), from, count },
        })
    }

    fn of_numbers(numbers: &Numbers, selection: &Selection) -> Self {
        let mantissa = |row: usize| numbers.has(row).then(|| numbers.mantissas[row]);
        let value = |mantissa: Option<i64>| {
            mantissa.map_or(Value::Null, |mantissa| numbers.value_of(mantissa))
        };
        Self::counted(selection, &mut HashMap::new(), mantissa, value)
    }

    /// Codes in the order in which values are met.
    fn counted<K: std::hash::Hash + Eq + Clone>(
        selection: &Selection,
        seen: &mut HashMap<K, u32>,
        key: impl Fn(usize) -> K,
        value: impl Fn(K) -> Value,
    ) -> Self {
        let mut values = Vec::new();
        let codes = gather(selection, |row| {
            *seen.entry(key(row)).or_insert_with_key(|key| {
                values.push(value(key.clone()));
                last_index(&values)
            })
        });
        Self { codes, count: values.len().max(1), values: KeyValues::Listed(values) }
    }
}

fn gather(selection: &Selection, mut code: impl FnMut(usize) -> u32) -> Vec<u32> {
    let mut codes = Vec::with_capacity(selection.count());
    selection.for_each(|row| codes.push(code(row)));
    codes
}
