//! Groups by lists: a row is in the group of each different element of a list, or of each prefix of
//! a vector.
//!
//! The rows are added once with the first element of their lists as the key, then the rows of lists
//! with two elements with the second, and so on; prefixes likewise, from the empty one. So each
//! time a row has one key, and everything else is as for other keys.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody};
use hadal_encoding::{Bitmap, Buffer};
use hadal_query::Query;
use hadal_types::Value;
use hashbrown::HashMap;

use crate::aggregate::block::{add_by_keys, key_values};
use crate::column::column_values::{Coded, ColumnValues, Entries};
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::expr::eval::eval;
use crate::expr::plan::PreparedQuery;
use crate::scan_memory::{ComputedBytes, Interrupt, ScanMemory};

/// Adds the selected rows of one block to the groups of `partial`; the key `unnested` is a list.
/// Memory of the groups is reserved after each length of the lists.
///
/// # Errors
/// [`Interrupt`]; then a part of the rows may be in the groups.
pub(crate) fn add(
    query: &Query,
    plan: &PreparedQuery,
    unnested: usize,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    partial: &mut Partial,
) -> Result<(), Interrupt> {
    let weights = Weights::new(columns)?;
    let values = eval(&plan.keys[unnested], columns, selection)?;
    let memory = columns.memory();
    let mut add = |list_keys: ColumnValues<'static>, selection: &Selection| {
        let PartialBody::Groups(groups) = &mut partial.body else { return Ok(()) };
        let mut list_keys = Some(list_keys);
        let key = |(index, key)| match list_keys.take_if(|_| index == unnested) {
            Some(list_keys) => Ok(list_keys),
            None => key_values(key, columns, selection, groups.takes_lifted()),
        };
        let keys = plan.keys.iter().enumerate().map(key).collect::<Result<Vec<_>, _>>()?;
        add_by_keys(query, plan, columns, (selection, &weights, keys), groups)?;
        partial.try_hold(usize::MAX)?;
        memory.go_on()
    };
    // Rows with longer lists are some of those with shorter ones.
    let mut rows = selection.clone();
    if !plan.by_prefix {
        let elements = CodedLists::new(&values, selection, different_elements);
        for position in 0..elements.longest() {
            rows.narrow(&elements.rows_with(position + 1, &rows));
            let mark = memory.mark();
            add(elements.values_at(position), &rows)?;
            memory.forget(mark);
        }
        return Ok(());
    }
    let lists = CodedLists::new(&values, selection, <[Arc<str>]>::to_vec);
    let mut prefixes = Prefixes::new(lists.by_code.len());
    for length in 0..=lists.longest() {
        rows.narrow(&lists.rows_with(length, &rows));
        if rows.count() == 0 {
            break;
        }
        let mark = memory.mark();
        prefixes.lengthen(&lists, length, memory)?;
        add(prefixes.by_row(&lists), &rows)?;
        memory.forget(mark);
    }
    Ok(())
}

/// The lists of a block.
struct CodedLists {
    /// A code per row. That of a row that is not selected does not matter.
    codes: Rc<Buffer>,
    /// The elements of the list of each code; `None` where there is none.
    by_code: Vec<Option<Vec<Arc<str>>>>,
}

impl CodedLists {
    /// The lists of the selected rows, with the elements that `elements_of` makes of them.
    fn new(
        lists: &ColumnValues<'_>,
        selection: &Selection,
        elements_of: fn(&[Arc<str>]) -> Vec<Arc<str>>,
    ) -> Self {
        let elements = |list: &Value| match list {
            Value::Set(elements) | Value::Vector(elements) => Some(elements_of(elements)),
            _ => None,
        };
        let rows = selection.block_rows();
        if let ColumnValues::Coded(Coded { codes, entries: Entries::Lists(lists) }) = lists {
            let mut is_used = vec![false; lists.len()];
            selection.for_each(|row| is_used[codes[row] as usize] = true);
            let of_code = |(code, is_used): (usize, bool)| match is_used {
                true => lists.get(code).and_then(&elements),
                false => None,
            };
            let by_code = is_used.into_iter().enumerate().map(of_code).collect();
            return Self { codes: Rc::clone(codes), by_code };
        }
        // Computed lists are rare, so each row has a code of its own.
        let mut by_code = vec![None; rows];
        selection.for_each(|row| by_code[row] = elements(&lists.value(row)));
        let codes = (0..).take(rows).collect();
        Self { codes: Rc::new(codes), by_code }
    }

    /// The number of elements of the longest list.
    fn longest(&self) -> usize {
        self.by_code.iter().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// The selected rows whose list has at least `count` elements.
    fn rows_with(&self, count: usize, selection: &Selection) -> Bitmap {
        let mut rows = Bitmap::zeros(selection.block_rows());
        selection.for_each(|row| {
            let list = &self.by_code[self.codes[row] as usize];
            if list.as_ref().is_some_and(|list| list.len() >= count) {
                rows.set(row);
            }
        });
        rows
    }

    /// The element of a list at this position; `None` where the list is shorter.
    fn element(&self, code: usize, position: usize) -> Option<&Arc<str>> {
        self.by_code.get(code)?.as_ref()?.get(position)
    }

    /// The elements at this position, by row; null where the list is shorter.
    fn values_at(&self, position: usize) -> ColumnValues<'static> {
        let element = |code| self.element(code, position).cloned();
        let value = |code| element(code).map_or(Value::Null, Value::String);
        let values = (0..self.by_code.len()).map(value).collect();
        let entries = Entries::Values(Rc::new(values));
        ColumnValues::Coded(Coded { codes: Rc::clone(&self.codes), entries })
    }
}

fn different_elements(list: &[Arc<str>]) -> Vec<Arc<str>> {
    let different: BTreeSet<&Arc<str>> = list.iter().collect();
    different.into_iter().cloned().collect()
}

/// The different prefixes of one length of the lists of a block. Each is a number.
struct Prefixes {
    /// The number of the prefix of the list of each code; that of a shorter list does not matter.
    by_code: Vec<u32>,
    /// The prefixes.
    values: Vec<Value>,
}

impl Prefixes {
    /// The empty prefix of this number of lists.
    fn new(lists: usize) -> Self {
        Self { by_code: vec![0; lists], values: vec![Value::Vector(Arc::default())] }
    }

    /// Makes the prefixes of `length`, from those that are one element shorter.
    fn lengthen(
        &mut self,
        lists: &CodedLists,
        length: usize,
        memory: &ScanMemory<'_>,
    ) -> Result<(), Interrupt> {
        let Some(last) = length.checked_sub(1) else { return Ok(()) };
        let mut computing = ComputedBytes::new(memory, lists.by_code.len())?;
        let mut numbers: HashMap<(u32, &Arc<str>), u32> = HashMap::new();
        let mut values = Vec::new();
        for (code, number) in self.by_code.iter_mut().enumerate() {
            let Some(element) = lists.element(code, last) else { continue };
            let next = u32::try_from(values.len()).unwrap_or(u32::MAX);
            let shorter = *number;
            *number = *numbers.entry((shorter, element)).or_insert(next);
            if *number == next {
                let list = lists.by_code[code].as_deref().and_then(|list| list.get(..length));
                values.push(Value::Vector(list.unwrap_or_default().into()));
                values.last().map_or(Ok(()), |value| computing.add(value))?;
            }
        }
        computing.draw()?;
        // Lists that have ended keep a number, which must be one of a prefix.
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        self.by_code.iter_mut().filter(|number| **number >= count).for_each(|number| *number = 0);
        self.values = values;
        Ok(())
    }

    /// The prefix of each row's list.
    fn by_row(&self, lists: &CodedLists) -> ColumnValues<'static> {
        let number = |code: &u32| self.by_code.get(*code as usize).copied().unwrap_or_default();
        let codes = lists.codes.iter().map(number).collect();
        let entries = Entries::Values(Rc::new(self.values.clone()));
        ColumnValues::Coded(Coded { codes: Rc::new(codes), entries })
    }
}
