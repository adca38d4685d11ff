//! The minimum and the maximum of values by code: a repeated value of a group counts only once.

use hadal_aggregate::State;
use hadal_types::Weight;

use crate::column::column_values::Coded;

/// The values of one block; each is added once per group.
pub(crate) struct CodedExtremes<'v> {
    coded: &'v Coded<'v>,
    /// The last group that had the value, by code.
    last_group: Vec<u32>,
    /// The number of groups so far.
    group: u32,
}

impl<'v> CodedExtremes<'v> {
    pub(crate) fn new(coded: &'v Coded<'v>) -> Self {
        Self { coded, last_group: vec![0; coded.entries.len()], group: 0 }
    }

    /// Adds the values of these rows, all of one group, to the group's state.
    pub(crate) fn add_to(&mut self, state: &mut State, rows: &[u32]) {
        self.group += 1;
        for &row in rows {
            let code = self.coded.codes[row as usize] as usize;
            if std::mem::replace(&mut self.last_group[code], self.group) != self.group {
                state.add(&self.coded.entries.value(code), Weight::ONE);
            }
        }
    }
}
