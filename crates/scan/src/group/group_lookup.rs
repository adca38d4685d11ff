//! Maps the groups of a block to the groups of all blocks so far.
//!
//! Groups are found by the dictionary numbers of their keys' values (see
//! [`hadal_aggregate::Groups`]). A block looks up each dictionary value once, if a selected row has
//! it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use hadal_aggregate::Groups;
use hadal_aggregate::accumulate::{AccumulatorLayout, KeyDictionary};
use hadal_encoding::{Buffer, kernels};
use hadal_types::Value;

use crate::column::column_values::Entries;
use crate::column::interner::InternedIds;
use crate::group::group_ids::{GroupIds, KeyValues};
use crate::group::grouped_rows::GroupedRows;

/// Stands for an unknown number or index.
const UNKNOWN: u32 = u32::MAX;

/// The group indexes of one block's groups.
pub(crate) struct GroupLookup {
    /// Group indexes by group number: arbitrary if no row has the number, `UNKNOWN` if the group
    /// did not fit.
    by_number: Vec<u32>,
    /// Group indexes by selected row, once they were needed.
    by_row: OnceCell<Buffer>,
    /// The group numbers that rows have, with their indexes.
    used_groups: OnceCell<Vec<(usize, u32)>>,
    /// Whether every group number that a row has has an index.
    pub(crate) is_complete: bool,
}

impl GroupLookup {
    /// Finds or inserts the groups of the numbers `used`, which are those that rows have. Reports
    /// the rows of groups that do not fit as dropped.
    pub(crate) fn new(
        block: &GroupIds<'_>,
        used: &[u32],
        rows: &GroupedRows<'_>,
        groups: &mut Groups,
    ) -> Self {
        let group_indexes = together(block, used, groups).unwrap_or_else(|| {
            let keys = key_numbers(block, used, groups);
            groups.find_or_insert_all(&keys, used.len())
        });
        let mut by_number = vec![UNKNOWN; rows.space];
        used.iter()
            .zip(&group_indexes)
            .for_each(|(&number, &group_index)| by_number[number as usize] = group_index);
        let is_complete = kernels::min_max_u32(&group_indexes).is_none_or(|ends| ends.1 != UNKNOWN);
        if !is_complete {
            let counts = rows.counts();
            let dropped =
                used.iter().zip(&group_indexes).filter(|(_, group_index)| **group_index == UNKNOWN);
            dropped.for_each(|(&number, _)| groups.drop_rows(counts[number as usize]));
        }
        let used_groups = used.iter().map(|&number| number as usize).zip(group_indexes);
        let used_groups = used_groups
            .filter(|(_, group_index)| *group_index != UNKNOWN)
            .collect::<Vec<_>>()
            .into();
        Self { by_number, by_row: OnceCell::new(), used_groups, is_complete }
    }

    /// As [`Self::new`], if all groups are known already; this needs no list of the used numbers.
    /// `None` if a group is new, or if keys alone do not determine the indexes.
    pub(crate) fn known(
        block: &GroupIds<'_>,
        groups: &Groups,
        rows: &GroupedRows<'_>,
    ) -> Option<Self> {
        let key = groups.only_key()?;
        let by_number = match block.only_key()? {
            KeyValues::Entries(Entries::InternedIds { interned, .. }) => {
                key.find_ids(interned.interner.id(), &interned.ids)
            }
            values => {
                let (first, step, count) = values.range()?;
                key.find_ints(first, step, count)?
            }
        };
        let lookup = Self {
            by_number,
            by_row: OnceCell::new(),
            used_groups: OnceCell::new(),
            is_complete: true,
        };
        let are_known = |group_indexes: &[u32]| {
            kernels::min_max_u32(group_indexes).is_none_or(|ends| ends.1 != UNKNOWN)
        };
        let is_known = match rows.runs() {
            Some(runs) => runs.used().all(|numbers| are_known(lookup.of_numbers(numbers))),
            None => are_known(lookup.by_row(rows)),
        };
        is_known.then_some(lookup)
    }

    /// The group indexes of these group numbers; each number has rows.
    pub(crate) fn of_numbers(&self, numbers: Range<usize>) -> &[u32] {
        &self.by_number[numbers]
    }

    /// The group numbers that rows have, with their indexes.
    pub(crate) fn used_groups(&self, rows: &GroupedRows<'_>) -> &[(usize, u32)] {
        self.used_groups.get_or_init(|| {
            let used = rows.used().into_iter();
            let used_groups = used.map(|number| (number as usize, self.by_number[number as usize]));
            used_groups.filter(|(_, group_index)| *group_index != UNKNOWN).collect()
        })
    }

    /// The accumulator cell of each selected row's group and class.
    pub(crate) fn cells(
        &self,
        rows: &GroupedRows<'_>,
        layout: &AccumulatorLayout,
    ) -> Cow<'_, [u32]> {
        match layout.class_count {
            1 => Cow::Borrowed(self.by_row(rows)),
            _ => Cow::Owned(rows.cells_at(self.by_number.iter().copied(), layout)),
        }
    }

    /// The group index of each selected row.
    pub(crate) fn by_row(&self, rows: &GroupedRows<'_>) -> &[u32] {
        self.by_row.get_or_init(|| {
            let mut group_indexes = Buffer::of(rows.numbers.len());
            kernels::gather_u32(&self.by_number, rows.numbers, &mut group_indexes);
            group_indexes
        })
    }
}

/// Finds the groups of a single key of whole numbers or strings: one batch is faster than single
/// lookups.
fn together(block: &GroupIds<'_>, used: &[u32], groups: &mut Groups) -> Option<Vec<u32>> {
    let values = (block.key_count() == 1).then(|| block.values_of(0))?;
    // With a single key, group numbers are its codes.
    let code = |number: &u32| *number as usize;
    // If some rows have no value, the last number stands for null.
    let (last, before) = used.split_last()?;
    let null = values.value(code(last)).is_null();
    let used = if null { before } else { used };
    let mut group_indexes = match values {
        KeyValues::Entries(Entries::Strings { dictionary, .. }) => {
            let text = |number: &u32| {
                let code = u32::try_from(code(number)).ok();
                code.and_then(|code| dictionary.get(code)).unwrap_or_default()
            };
            groups.groups_of_strings(used.iter().map(text))
        }
        KeyValues::Entries(Entries::InternedIds {
            interned: InternedIds { ids, interner },
            ..
        }) => {
            let id = |number: &u32| ids.get(code(number)).copied().unwrap_or_default();
            interner.with(|texts| {
                let text_of = |id| texts.get(id).unwrap_or_default();
                groups.groups_of_ids(interner.id(), used.iter().map(id), text_of)
            })
        }
        KeyValues::Entries(Entries::Lifted { texts, .. }) => {
            groups.groups_of_templates(texts, used.iter().map(code))
        }
        values => {
            let wholes = used.iter().map(|number| values.whole(code(number)));
            groups.groups_of_ints(&wholes.collect::<Option<Vec<i64>>>()?)
        }
    };
    if null {
        let number = groups.key_mut(0).number_of(&Value::Null);
        group_indexes.push(groups.find_or_insert(&[number]).unwrap_or(UNKNOWN));
    }
    Some(group_indexes)
}

/// For each key, returns the numbers that its dictionary has for the values of these group numbers.
/// Every number in `used` has rows.
pub(crate) fn key_numbers(
    block: &GroupIds<'_>,
    used: &[u32],
    groups: &mut Groups,
) -> Vec<Vec<u32>> {
    let numbers_of = |(key, codes): (usize, Vec<u32>)| {
        let space = kernels::min_max_u32(&codes).map_or(0, |ends| ends.1 as usize + 1);
        let mut by_code = vec![UNKNOWN; space];
        codes.iter().for_each(|&code| by_code[code as usize] = 0);
        let has_rows = (0..).zip(&by_code).filter(|entry| *entry.1 == 0).map(|entry| entry.0);
        let has_rows: Vec<u32> = has_rows.collect();
        let numbers = value_numbers(block.values_of(key), &has_rows, groups.key_mut(key));
        has_rows.iter().zip(numbers).for_each(|(&code, number)| by_code[code as usize] = number);
        let mut by_number = vec![0; codes.len()];
        kernels::gather_u32(&by_code, &codes, &mut by_number);
        by_number
    };
    block.codes_of(used).into_iter().enumerate().map(numbers_of).collect()
}

/// Returns the dictionary numbers of the values of some codes.
fn value_numbers(values: &KeyValues<'_>, codes: &[u32], key: &mut KeyDictionary) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(codes.len());
    let one_by_one = |key: &mut KeyDictionary, codes: &[u32]| -> Vec<u32> {
        codes.iter().map(|&code| key.number_of(&values.value(code as usize))).collect()
    };
    // If some rows have no value, the last code stands for null.
    let Some((last, before)) = codes.split_last() else { return numbers };
    let (codes, null) = match values.value(*last as usize).is_null() {
        true => (before, std::slice::from_ref(last)),
        false => (codes, &[][..]),
    };
    match values {
        KeyValues::Entries(Entries::Strings { dictionary, .. }) => {
            let text = |&code: &u32| dictionary.get(code).unwrap_or_default();
            key.numbers_of_strings(codes.iter().map(text), &mut numbers);
        }
        KeyValues::Entries(Entries::InternedIds {
            interned: InternedIds { ids, interner },
            ..
        }) => {
            let id = |&code: &u32| ids.get(code as usize).copied().unwrap_or_default();
            interner.with(|texts| {
                let text_of = |id| texts.get(id).unwrap_or_default();
                key.numbers_of_ids(interner.id(), codes.iter().map(id), text_of, &mut numbers);
            });
        }
        values => {
            let wholes: Option<Vec<i64>> =
                codes.iter().map(|&code| values.whole(code as usize)).collect();
            match wholes {
                Some(wholes) => key.numbers_of_ints(&wholes, &mut numbers),
                None => numbers = one_by_one(key, codes),
            }
        }
    }
    numbers.extend(one_by_one(key, null));
    numbers
}
