//! The states of one group of the merged result.

use std::borrow::Cow;

use hadal_query::Total;

use crate::groups::Groups;
use crate::groups::group::Group;
use crate::state::State;
use crate::state::weighted_count::WeightedCount;

const MILLION: f64 = 1e6;

/// The states of one group.
pub(crate) enum GroupStates<'g> {
    /// A group that is not one of `Groups`.
    Alone(&'g Group),
    /// The group with this index.
    Place(&'g Groups, usize),
}

impl GroupStates<'_> {
    pub(crate) fn count(&self) -> WeightedCount {
        match self {
            Self::Alone(group) => group.count,
            Self::Place(groups, group_index) => groups.count_at(*group_index),
        }
    }

    pub(crate) fn state(&self, measure: usize) -> Option<Cow<'_, State>> {
        match self {
            Self::Alone(group) => group.states.get(measure).map(Cow::Borrowed),
            Self::Place(groups, group_index) => {
                groups.state_at(*group_index, measure).map(Cow::Owned)
            }
        }
    }

    /// Σw of the rows behind a total, and Σwx.
    pub(crate) fn total(&self, total: Total) -> Option<(WeightedCount, f64)> {
        let Some(measure) = total.measure() else {
            let count = self.count();
            return Some((count, events(count)));
        };
        let State::Moments(moments) = &*self.state(measure)? else { return None };
        let sum = match total {
            Total::Sum(_) => moments.sum.total().ok()?.to_f64(),
            Total::Rows | Total::Count(_) => events(moments.count),
        };
        Some((moments.count, sum))
    }
}

/// Σw.
#[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
pub(crate) fn events(count: WeightedCount) -> f64 {
    count.weight() as f64 / MILLION
}
