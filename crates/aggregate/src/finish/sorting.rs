//! The rows of a result in their order, within OFFSET and LIMIT.

use std::cmp::Ordering;

use hadal_query::{GroupInput, Query};
use hadal_types::MemoryReservation;

use crate::finish::{
    Finisher, LINES_AT_ONCE, ReservedRows, ResultRow, ResultRows, RowKind, bounds,
};
use crate::query_error::{FinishError, QueryError, out_of_memory};
use crate::sort_order::SortKey;

/// A row and its sort key.
type Ranked = (Box<[SortKey]>, ResultRow);

impl Finisher<'_> {
    /// Reserves memory for the sort entries of `lines` result rows, without values. The entries
    /// that are kept exist beside the rows that they are chosen from.
    pub(super) fn hold(
        &self,
        lines: usize,
        query: &Query,
        held: &mut MemoryReservation,
    ) -> Result<(), QueryError> {
        let (_, end) = bounds(query);
        let line = size_of::<Ranked>() + query.order.len() * size_of::<SortKey>();
        let bytes = lines.min(kept_max(end)) * line;
        held.grow(bytes).map_err(|spent| out_of_memory(held.bytes() + bytes, spent))
    }

    /// The rows within OFFSET and LIMIT, in the query's order, and how many rows HAVING keeps. Ties
    /// are sorted by keys, nulls last, and "other" comes after a group with the same keys. Rows
    /// that are certainly beyond the limit are dropped on the way and never sorted.
    pub(super) fn first_of(
        &self,
        lines: ResultRows,
        query: &Query,
        held: &mut MemoryReservation,
        is_late: &dyn Fn() -> bool,
    ) -> Result<(Vec<ResultRow>, u64), FinishError> {
        let (offset, end) = bounds(query);
        let (mut kept, mut passed): (Vec<Ranked>, u64) = (Vec::new(), 0);
        let (before, mut sorted_by) = (held.bytes(), ReservedRows::default());
        // The worst of the rows that were kept by the last cut.
        let mut worst = None;
        for (index, line) in lines.enumerate() {
            if index % LINES_AT_ONCE == 0 && is_late() {
                return Err(FinishError::Late);
            }
            if !self.keeps(&line)? {
                continue;
            }
            passed += 1;
            let slot = |slot: &GroupInput| self.slot(&line, slot);
            let ranked = (self.order.sort_keys(&slot)?, line);
            if worst.is_some_and(|worst: usize| self.compare(&ranked, &kept[worst]).is_gt()) {
                continue;
            }
            sorted_by.add(ranked.0.iter().map(SortKey::heap_bytes).sum(), held)?;
            kept.push(ranked);
            if kept.len() >= kept_max(end) {
                worst = self.cut(&mut kept, end);
                // Only the kept rows' bytes stay reserved; nothing else was reserved since
                // `before`.
                held.shrink(held.bytes() - before);
                let heap = kept.iter().flat_map(|(sort, _)| sort).map(SortKey::heap_bytes);
                sorted_by = ReservedRows::default();
                sorted_by.add(heap.sum(), held)?;
            }
        }
        self.cut(&mut kept, end);
        kept.sort_unstable_by(|left, right| self.compare(left, right));
        Ok((kept.into_iter().skip(offset).map(|(_, line)| line).collect(), passed))
    }

    fn compare(&self, left: &Ranked, right: &Ranked) -> Ordering {
        left.0.cmp(&right.0).then_with(|| self.cmp_keys(&left.1, &right.1))
    }

    /// Drops all but the first `end` rows. Returns the place of the last of these, if rows were
    /// dropped and some are left.
    fn cut(&self, kept: &mut Vec<Ranked>, end: usize) -> Option<usize> {
        if end >= kept.len() {
            return None;
        }
        let last = end.checked_sub(1);
        if let Some(last) = last {
            kept.select_nth_unstable_by(last, |left, right| self.compare(left, right));
        }
        kept.truncate(end);
        last
    }

    /// Compares by keys in ascending order, nulls last; "other" comes last among equal keys.
    fn cmp_keys(&self, left: &ResultRow, right: &ResultRow) -> Ordering {
        if let (ResultRow::Place(left), ResultRow::Place(right)) = (left, right) {
            return self.groups.cmp_by(&[], *left, *right);
        }
        let keys = 0..self.key_count(left);
        let orders = keys.map(|key| match (self.key(left, key), self.key(right, key)) {
            (Some(left), Some(right)) => {
                left.is_null().cmp(&right.is_null()).then_with(|| left.cmp(&right))
            }
            _ => Ordering::Equal,
        });
        let mut different = orders.filter(|order| order.is_ne());
        let keys = different.next().unwrap_or(Ordering::Equal);
        keys.then((left.kind() == RowKind::Other).cmp(&(right.kind() == RowKind::Other)))
    }

    fn key_count(&self, line: &ResultRow) -> usize {
        match line {
            ResultRow::Raw(values) => values.len(),
            ResultRow::Alone { key, .. } => key.len(),
            ResultRow::Place(_) => self.groups.key_count(),
        }
    }
}

/// The number of rows that are kept before the worst are dropped. Only the first `end` are needed;
/// twice as many are kept, so that selecting the worst costs little per row.
fn kept_max(end: usize) -> usize {
    end.max(LINES_AT_ONCE).saturating_mul(2)
}
