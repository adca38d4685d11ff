//! Groups by the elements of lists: a row is in the group of each different element.
//!
//! The rows are added once with the first element of their lists as the key, then the rows of lists
//! with two elements with the second, and so on. So each time a row has one key, and everything
//! else is as for other keys.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use hadal_aggregate::Groups;
use hadal_encoding::{Bitmap, Buffer};
use hadal_query::Query;
use hadal_types::Value;

use crate::aggregate::block::{add_by_keys, key_values};
use crate::column::column_values::{Coded, ColumnValues, Entries};
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::expr::eval::eval;
use crate::expr::plan::PreparedQuery;
use crate::scan_memory::Interrupt;

/// Adds the selected rows of one block to `groups`; the key `unnested` is a list.
///
/// # Errors
/// [`Interrupt`]; then a part of the rows may be in `groups`.
pub(crate) fn add(
    query: &Query,
    plan: &PreparedQuery,
    unnested: usize,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
) -> Result<(), Interrupt> {
    let weights = Weights::new(columns)?;
    let elements = Elements::new(&eval(&plan.keys[unnested], columns, selection)?, selection);
    for position in 0..elements.longest() {
        let mut selection = selection.clone();
        selection.narrow(&elements.rows_at(position, &selection));
        let key = |(index, key)| match index == unnested {
            true => Ok(elements.values_at(position)),
            false => key_values(key, columns, &selection, groups.takes_lifted()),
        };
        let keys = plan.keys.iter().enumerate().map(key).collect::<Result<Vec<_>, _>>()?;
        add_by_keys(query, plan, columns, (&selection, &weights, keys), groups)?;
    }
    Ok(())
}

/// The different elements of the lists of a block, ascending.
struct Elements {
    /// A code per row. That of a row that is not selected does not matter.
    codes: Rc<Buffer>,
    /// The elements of the list of each code.
    by_code: Vec<Vec<Value>>,
}

impl Elements {
    fn new(lists: &ColumnValues<'_>, selection: &Selection) -> Self {
        let rows = selection.block_rows();
        if let ColumnValues::Coded(Coded { codes, entries: Entries::Lists(lists) }) = lists {
            let mut is_used = vec![false; lists.len()];
            selection.for_each(|row| is_used[codes[row] as usize] = true);
            let of_code = |(code, is_used): (usize, bool)| match is_used {
                true => lists.get(code).map(elements_of).unwrap_or_default(),
                false => Vec::new(),
            };
            let by_code = is_used.into_iter().enumerate().map(of_code).collect();
            return Self { codes: Rc::clone(codes), by_code };
        }
        // Computed lists are rare, so each row has a code of its own.
        let mut by_code = vec![Vec::new(); rows];
        selection.for_each(|row| by_code[row] = elements_of(&lists.value(row)));
        let codes = (0..).take(rows).collect();
        Self { codes: Rc::new(codes), by_code }
    }

    /// The number of elements of the longest list.
    fn longest(&self) -> usize {
        self.by_code.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The selected rows whose list has an element at this position.
    fn rows_at(&self, position: usize, selection: &Selection) -> Bitmap {
        let mut rows = Bitmap::zeros(selection.block_rows());
        selection.for_each(|row| {
            if self.by_code[self.codes[row] as usize].len() > position {
                rows.set(row);
            }
        });
        rows
    }

    /// The elements at this position, by row; null where the list is shorter.
    fn values_at(&self, position: usize) -> ColumnValues<'static> {
        let element = |list: &Vec<Value>| list.get(position).cloned().unwrap_or(Value::Null);
        let values = self.by_code.iter().map(element).collect();
        let entries = Entries::Values(Rc::new(values));
        ColumnValues::Coded(Coded { codes: Rc::clone(&self.codes), entries })
    }
}

fn elements_of(list: &Value) -> Vec<Value> {
    let (Value::Set(elements) | Value::Vector(elements)) = list else { return Vec::new() };
    let different: BTreeSet<&Arc<str>> = elements.iter().collect();
    different.into_iter().map(|element| Value::String(Arc::clone(element))).collect()
}
