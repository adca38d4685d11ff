//! Top lists: queries whose answer needs only the largest groups, so that the levels of the tree
//! need not send the others.

use hadal_query::{AggregateFunction, Expr, GroupInput, Query};
use hadal_types::Value;
use hadal_types::limits::{TOP_GROUPS_MIN, TOP_GROUPS_PER_ROW, TOP_KEYS_MAX};

/// What a top list is ordered by, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopList {
    /// What the largest groups have most of.
    pub ranked_by: Rank,
    /// Rows of the list, OFFSET included.
    pub rows: usize,
}

/// What groups are ranked by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The number of rows.
    RawCount,
    /// The weight of all rows.
    Count,
    /// For the measure with this index: the number of rows with a value.
    RawCountOf(usize),
    /// The weight of the rows with a value.
    CountOf(usize),
    /// The sum of the values; groups without values come last.
    SumOf(usize),
    /// The sum of the values; groups without values come first.
    NullOrSumOf(usize),
}

/// What remains to be asked for a top list, after the partial results of the first round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextRound {
    /// Nothing: the list is exact.
    None,
    /// The groups with these keys, ascending. No other group can be in the list.
    Keys(Vec<Box<[Value]>>),
    /// All groups: a group that was left out may be in the list.
    All,
}

impl TopList {
    /// The top list that a query asks for. `None` if its answer may need all groups.
    ///
    /// The list must begin with the largest count or sum, because these are added up from parts:
    /// bounds of the parts add up to bounds of the whole. Series, HAVING, totals, and a list that
    /// is too long to be asked for by key need all groups.
    #[must_use]
    pub fn of(query: &Query) -> Option<Self> {
        let first = query.order.first()?;
        let needs_all = query.series.is_some() || query.having.is_some() || query.totals;
        if needs_all || !first.descending || query.keys().is_empty() {
            return None;
        }
        let Expr::Leaf(slot) = &first.expr else { return None };
        let ranked_by = match slot {
            GroupInput::RawCount => Rank::RawCount,
            GroupInput::Count => Rank::Count,
            GroupInput::Measure(measure, AggregateFunction::RawCount) => Rank::RawCountOf(*measure),
            GroupInput::Measure(measure, AggregateFunction::Count) => Rank::CountOf(*measure),
            GroupInput::Measure(measure, AggregateFunction::Sum) if first.nulls_first => {
                Rank::NullOrSumOf(*measure)
            }
            GroupInput::Measure(measure, AggregateFunction::Sum) => Rank::SumOf(*measure),
            GroupInput::Measure(..) | GroupInput::Key(_) | GroupInput::Seconds => return None,
        };
        let rows = usize::try_from(query.offset.checked_add(query.limit)?).ok()?;
        let is_short = rows <= TOP_KEYS_MAX / TOP_GROUPS_PER_ROW;
        (query.limit > 0 && is_short).then_some(Self { ranked_by, rows })
    }

    /// The number of groups that a level of the tree sends (Scuba, VLDB 2013, section 3.5).
    #[must_use]
    pub const fn groups_max(&self) -> usize {
        let groups = self.rows.saturating_mul(TOP_GROUPS_PER_ROW);
        if groups > TOP_GROUPS_MIN { groups } else { TOP_GROUPS_MIN }
    }
}

impl Rank {
    /// How many units of bounds are one of the measure.
    pub(crate) const fn units(self) -> i128 {
        match self {
            Self::RawCount | Self::RawCountOf(_) => 1,
            Self::Count | Self::CountOf(_) | Self::SumOf(_) | Self::NullOrSumOf(_) => 1_000_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use hadal_query::{OrderKey, OutputExpr, SeriesLimit};

    use super::*;
    use crate::partial::fixture::{aggregate, column, groups_query};

    fn by(expr: OutputExpr) -> OrderKey {
        OrderKey { expr, descending: true, nulls_first: false }
    }

    fn top(order: Vec<OrderKey>, limit: u64) -> Query {
        Query { order, limit, ..groups_query(vec![column(0)], Vec::new()) }
    }

    #[test]
    fn lists_of_the_largest_counts_and_sums_are_top_lists() {
        let count = || Expr::Leaf(GroupInput::Count);
        for (expr, ranked_by) in [
            (count(), Rank::Count),
            (Expr::Leaf(GroupInput::RawCount), Rank::RawCount),
            (aggregate(AggregateFunction::Sum), Rank::SumOf(0)),
            (aggregate(AggregateFunction::Count), Rank::CountOf(0)),
            (aggregate(AggregateFunction::RawCount), Rank::RawCountOf(0)),
        ] {
            let query = Query { offset: 3, ..top(vec![by(expr), by(count())], 4) };
            assert_eq!(TopList::of(&query), Some(TopList { ranked_by, rows: 7 }));
        }
        for (finish, ranked_by) in [
            (AggregateFunction::Sum, Rank::NullOrSumOf(0)),
            (AggregateFunction::Count, Rank::CountOf(0)),
        ] {
            let first = OrderKey { nulls_first: true, ..by(aggregate(finish)) };
            let list = TopList::of(&top(vec![first], 7));
            assert_eq!(list, Some(TopList { ranked_by, rows: 7 }));
        }
    }

    #[test]
    fn whatever_may_need_all_groups_is_no_top_list() {
        let count = || Expr::Leaf(GroupInput::Count);
        let usual = || top(vec![by(count())], 10);
        assert!(TopList::of(&usual()).is_some());
        let series = Some(SeriesLimit { count: 3, rank: count() });
        let rising = OrderKey { descending: false, ..by(count()) };
        let longest = u64::try_from(TOP_KEYS_MAX / TOP_GROUPS_PER_ROW).expect("small");
        assert!(TopList::of(&Query { limit: longest, ..usual() }).is_some());
        for query in [
            Query { series, ..usual() },
            Query { having: Some(count()), ..usual() },
            Query { totals: true, ..usual() },
            Query { limit: 0, ..usual() },
            Query { limit: longest + 1, ..usual() },
            Query { offset: longest, ..usual() },
            Query { offset: u64::MAX, ..usual() },
            Query { order: Vec::new(), ..groups_query(Vec::new(), Vec::new()) },
            Query { limit: 10, order: vec![by(count())], ..groups_query(Vec::new(), Vec::new()) },
            top(Vec::new(), 10),
            top(vec![rising], 10),
            top(vec![by(Expr::Leaf(GroupInput::Key(0))), by(count())], 10),
            top(vec![by(aggregate(AggregateFunction::Avg))], 10),
        ] {
            assert_eq!(TopList::of(&query), None, "{query:?}");
        }
    }

    #[test]
    fn a_level_sends_five_groups_per_row_and_at_least_a_hundred() {
        for (rows, groups) in [(1, TOP_GROUPS_MIN), (20, 100), (21, 105), (1_000, TOP_KEYS_MAX)] {
            let list = TopList { ranked_by: Rank::Count, rows };
            assert_eq!(list.groups_max(), groups);
        }
    }
}
