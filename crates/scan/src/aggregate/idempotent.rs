//! Measures for which repeated values of a group count only once: distinct counts and extremes.

use hadal_aggregate::State;
use hadal_aggregate::accumulate::{hash_decimal, hash_text, hash_value};
use hadal_types::Weight;

use crate::aggregate::quantile_buckets::CELLS_PER_VALUE_MAX;
use crate::column::column_values::{Coded, Entries, Numbers};
use crate::column::decimals::MantissaColumn;

/// The values of one block; each is added once per group.
pub(crate) struct Idempotent<'v> {
    source: IdempotentSource<'v>,
    /// The last group that had the value, by code.
    last_group: Vec<u32>,
    /// The number of groups so far.
    group: u32,
    /// The hash by code, once computed; `Some(None)`: the value is null.
    hashes: Vec<Option<Option<u64>>>,
}

/// The source of the values.
pub(crate) enum IdempotentSource<'v> {
    /// Values by code.
    Codes(&'v Coded<'v>),
    /// Decimals that are close together; the code is the distance from the smallest.
    FrameOfReference { numbers: &'v Numbers, first: i64, count: usize },
}

impl<'v> IdempotentSource<'v> {
    /// `None` if decimals are so far apart that few rows share one, or if they have codes already.
    pub(crate) fn of_numbers(numbers: &'v Numbers) -> Option<Self> {
        let MantissaColumn::FrameOfReference(reference) = &numbers.mantissas else { return None };
        let count =
            usize::try_from(reference.last().checked_sub(reference.from)?).ok()?.checked_add(1)?;
        let is_near = count <= reference.steps.len().saturating_mul(CELLS_PER_VALUE_MAX);
        is_near.then_some(Self::FrameOfReference { numbers, first: reference.from, count })
    }

    fn codes(&self) -> usize {
        match self {
            Self::Codes(coded) => coded.entries.len(),
            Self::FrameOfReference { count, .. } => *count,
        }
    }

    /// The row's code; `None` if the row has no value.
    #[inline]
    fn code(&self, row: usize) -> Option<usize> {
        match self {
            Self::Codes(coded) => Some(coded.codes[row] as usize),
            Self::FrameOfReference { numbers, first, .. } if numbers.has(row) => {
                usize::try_from(numbers.mantissas.get(row).wrapping_sub(*first)).ok()
            }
            Self::FrameOfReference { .. } => None,
        }
    }

    /// The hash of the code's value; `None` for null.
    fn hash(&self, code: usize) -> Option<u64> {
        match self {
            Self::Codes(coded) => match &coded.entries {
                Entries::Strings { dictionary, .. } => {
                    u32::try_from(code).ok().and_then(|code| dictionary.get(code)).map(hash_text)
                }
                entries @ (Entries::InternedIds { .. } | Entries::Lifted { .. }) => {
                    Some(entries.value(code))
                        .filter(|value| !value.is_null())
                        .map(|value| hash_value(&value))
                }
                Entries::Lists(lists) => lists.get(code).map(hash_value),
                Entries::Values(values) => {
                    values.get(code).filter(|value| !value.is_null()).map(hash_value)
                }
            },
            Self::FrameOfReference { numbers, first, .. } => {
                let mantissa = first.wrapping_add(i64::try_from(code).unwrap_or(0));
                Some(hash_decimal(mantissa, numbers.scale))
            }
        }
    }
}

impl<'v> Idempotent<'v> {
    pub(crate) fn new(source: IdempotentSource<'v>) -> Self {
        let codes = source.codes();
        Self { source, last_group: vec![0; codes], group: 0, hashes: vec![None; codes] }
    }

    /// Adds the values of these rows, all of one group, to the group's state.
    pub(crate) fn add_to(&mut self, state: &mut State, rows: &[u32]) {
        self.group += 1;
        for row in rows.iter().map(|&row| row as usize) {
            let Some(code) = self.source.code(row) else { continue };
            if std::mem::replace(&mut self.last_group[code], self.group) == self.group {
                continue;
            }
            match (&mut *state, &self.source) {
                (State::Distinct(distinct), source) => {
                    let hash = *self.hashes[code].get_or_insert_with(|| source.hash(code));
                    hash.into_iter().for_each(|hash| distinct.add_hash(hash));
                }
                (state, IdempotentSource::Codes(coded)) => {
                    state.add(&coded.entries.value(code), Weight::ONE)
                }
                (_, IdempotentSource::FrameOfReference { .. }) => {}
            }
        }
    }
}
