//! The totals over all groups of a result.

use hadal_query::Query;
use hadal_types::Value;

use crate::finish::{Finisher, LINES_AT_ONCE, ResultRow, RowKind, overflow};
use crate::groups::group::Group;
use crate::query_error::FinishError;
use crate::state::State;

impl Finisher<'_> {
    /// One row over all groups that HAVING keeps, also those beyond LIMIT or within "other". Its
    /// keys are null.
    ///
    /// # Errors
    /// HAVING cannot be evaluated, a sum is beyond the range of numbers, or nobody waits any more.
    pub(super) fn totals(
        &self,
        query: &Query,
        is_late: &dyn Fn() -> bool,
    ) -> Result<ResultRow, FinishError> {
        let mut total = Group::empty(query);
        for group_index in 0..self.groups.len() {
            if group_index % LINES_AT_ONCE == 0 && is_late() {
                return Err(FinishError::Late);
            }
            if self.keeps(&ResultRow::Place(group_index))? {
                total.merge(&self.groups.group_at(group_index));
            }
        }
        if let Some(folded) = self.groups.folded().0 {
            (0..folded.len()).for_each(|index| total.merge(&folded.group_at(index)));
        }
        for state in &total.states {
            if let State::Moments(moments) = state {
                moments.sum.total().map_err(|error| overflow(&error))?;
            }
        }
        let key = vec![Value::Null; self.groups.key_count()].into();
        Ok(ResultRow::Alone { key, group: total, kind: RowKind::Total })
    }
}
