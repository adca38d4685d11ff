//! Which groups can be among the first of an answer: told by one integer each, where the order
//! begins with a count or a sum. All others need not be looked at.

use hadal_query::{Expr, Finish, Query, Slot};

use crate::groups::Groups;
use crate::tally::Tally;

/// The places of groups among which are the first `end` of the query's order, ascending; `None`
/// where these cannot be told from the others so.
pub(crate) fn candidates(query: &Query, groups: &Groups, end: usize) -> Option<Vec<usize>> {
    if query.having.is_some() || query.series.is_some() || end == 0 || end >= groups.len() {
        return None;
    }
    let ranks = ranks(query, groups)?;
    let mut sorted = ranks.clone();
    let worst = *sorted.select_nth_unstable(end - 1).1;
    Some((0..groups.len()).filter(|&place| ranks[place] <= worst).collect())
}

/// A number for each group: the smallest comes first. Groups of the same number may differ in what
/// else the order goes by.
fn ranks(query: &Query, groups: &Groups) -> Option<Vec<i128>> {
    let first = query.order.first()?;
    let Expr::Leaf(slot) = &first.expr else { return None };
    let tallies = (0..groups.len()).map(|place| groups.tally_at(place));
    let ranks: Vec<i128> = match slot {
        Slot::Count => tallies.map(Tally::weight).collect(),
        Slot::RawCount => tallies.map(|tally| tally.rows().into()).collect(),
        Slot::Measure(measure, Finish::Sum) => groups.sum_ranks(*measure)?,
        Slot::Measure(..) | Slot::Key(_) | Slot::Seconds => return None,
    };
    match first.descending {
        true => Some(ranks.into_iter().map(|rank| -rank).collect()),
        false => Some(ranks),
    }
}
