//! Groups as columns in the order of their keys: the form in which they are sent. Equal groups have
//! equal columns, whatever the form in which they are stored.

use std::borrow::Cow;

use hadal_query::{Query, StateKind};
use hadal_types::{Value, Weight};

use super::Groups;
use crate::groups::key_dictionary::distinct_values::DistinctValues;
use crate::groups::state_column::StateColumn;
use crate::groups::state_column::common_scale::{at_scale, common_scale};
use crate::groups::state_column::measure_column::MeasureColumn;
use crate::state::State;
use crate::state::weighted_count::WeightedCount;

/// Groups in ascending order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupColumns<'g> {
    /// By key of the query.
    pub keys: Vec<KeyColumn<'g>>,
    /// The counts of all rows of each group.
    pub counts: Vec<WeightedCount>,
    /// By measure of the query.
    pub measures: Vec<MeasureColumn<'g>>,
    /// The rows in none of the groups.
    pub dropped_rows: u64,
}

/// One key of all groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn<'g> {
    /// The different values, each of some group.
    pub values: DistinctValues<'g>,
    /// By group: the index of its value; after the last value is null.
    pub indexes: Vec<u32>,
}

impl Groups {
    /// The groups as columns; groups beyond the limit are dropped before. The rows of "other"
    /// (see [`Query::series`]) are among the dropped rows.
    pub fn to_columns(&mut self) -> GroupColumns<'_> {
        self.cut_to_limit();
        let (values, indexes) = self.sorted_keys();
        let width = self.keys.len();
        let order = order(&indexes, width, self.len());
        let keys = values.into_iter().enumerate().map(|(key, values)| {
            let indexes = order.iter().map(|&group| indexes[group as usize * width + key]);
            KeyColumn { values, indexes: indexes.collect() }
        });
        GroupColumns {
            keys: keys.collect(),
            counts: order.iter().map(|&group| self.count_at(group as usize)).collect(),
            measures: (0..self.kinds.len()).map(|at| self.measure_column(at, &order)).collect(),
            dropped_rows: self.dropped_rows.saturating_add(self.folded().1),
        }
    }

    /// The groups of these columns. `None` if they do not fit together, are too many, are not what
    /// `query` asks for, or have a key or a value twice. The order of keys is not checked.
    #[must_use]
    pub fn from_columns(query: &Query, columns: GroupColumns<'_>) -> Option<Self> {
        let mut all = Self { dropped_rows: columns.dropped_rows, ..Self::new(query) };
        let count = columns.counts.len();
        let fits = count <= all.groups_max
            && columns.keys.len() == all.keys.len()
            && columns.measures.len() == all.kinds.len()
            && columns.keys.iter().all(|key| key.indexes.len() == count)
            && columns.measures.iter().all(|measure| measure.len() == count);
        if !fits || !all.insert_keys(columns.keys, count) {
            return None;
        }
        all.counts = columns.counts;
        let measures = all.kinds.iter().zip(columns.measures);
        all.states =
            measures.map(|(&kind, column)| StateColumn::of(kind, column)).collect::<Option<_>>()?;
        if all.dropped_rows > 0 {
            all.key_max = count.checked_sub(1).map(|last| all.key_of(last));
        }
        Some(all)
    }

    /// By key, its different values; and group by group the indexes of its values, key by key.
    fn sorted_keys(&self) -> (Vec<DistinctValues<'_>>, Vec<u32>) {
        let width = self.keys.len();
        let numbers: Vec<u32> = (0..self.len()).flat_map(|group| self.numbers_at(group)).collect();
        let sorted = self.keys.iter().enumerate().map(|(key, dictionary)| {
            dictionary.sorted_values(numbers.iter().skip(key).step_by(width).copied())
        });
        let (values, by_number): (Vec<_>, Vec<_>) = sorted.unzip();
        let mut indexes = numbers;
        for indexes in indexes.chunks_exact_mut(width.max(1)) {
            for (index, by_number) in indexes.iter_mut().zip(&by_number) {
                *index = by_number[*index as usize];
            }
        }
        (values, indexes)
    }

    /// Adds `count` groups with these keys. Returns whether all of them are different.
    fn insert_keys(&mut self, keys: Vec<KeyColumn<'_>>, count: usize) -> bool {
        if count == 0 {
            return keys.iter().all(|key| key.values.is_empty());
        }
        let mut numbers = Vec::with_capacity(keys.len());
        for (dictionary, key) in self.keys.iter_mut().zip(keys) {
            // The first values have the first numbers, and null has the next one.
            let values = key.values.len();
            if !dictionary.push_values(&key.values) {
                return false;
            }
            if key.indexes.iter().any(|&index| index as usize == values) {
                dictionary.number_of(&Value::Null);
            }
            if key.indexes.iter().any(|&index| index as usize >= dictionary.len()) {
                return false;
            }
            numbers.push(key.indexes);
        }
        let group_indexes = self.find_or_insert_all(&numbers, count);
        group_indexes.into_iter().eq((0..).take(count)) && self.len() == count
    }

    fn measure_column(&self, measure: usize, order: &[u32]) -> MeasureColumn<'_> {
        let column = &self.states[measure];
        let compact = match column.kind() {
            StateKind::Moments => self.sums(measure, order),
            StateKind::MinMax => column.compact_ranges(order),
            _ => None,
        };
        compact.unwrap_or_else(|| {
            let has_accumulators = self.accumulators.measures().any(|other| other == measure);
            let state = |&group: &u32| match column.borrowed(group as usize) {
                Some(state) if !has_accumulators => state,
                _ => {
                    let state = self.state_at(group as usize, measure);
                    Cow::Owned(state.unwrap_or_else(|| State::new(column.kind())))
                }
            };
            MeasureColumn::States(order.iter().map(state).collect())
        })
    }

    /// The moments of a measure in this order of groups, if all sums fit.
    fn sums(&self, measure: usize, order: &[u32]) -> Option<MeasureColumn<'_>> {
        let column = &self.states[measure];
        let mut counts = Vec::with_capacity(order.len());
        let mut sums = Vec::with_capacity(order.len());
        for group in order.iter().map(|&group| group as usize) {
            let (mut count, mut sum) = column.scaled_sum(group)?;
            if let Some((more, product, scale)) = self.accumulators.decimal(group, measure) {
                count.merge(more);
                sum = plus(sum, (product, scale + Weight::SCALE))?;
            }
            counts.push(count);
            sums.push(sum);
        }
        let scale = common_scale(sums.iter().copied())?;
        let wide = scale.max(Weight::SCALE);
        let fits = |&(sum, of): &(i128, u8)| {
            at_scale((sum, of), wide)?;
            at_scale((sum, of), scale)
        };
        let sums = sums.iter().map(fits).collect::<Option<_>>()?;
        Some(MeasureColumn::Sums { counts, scale, sums })
    }
}

/// The sum of two scaled numbers.
fn plus(left: (i128, u8), right: (i128, u8)) -> Option<(i128, u8)> {
    if left.0 == 0 {
        return Some(right);
    }
    let scale = left.1.max(right.1);
    Some((at_scale(left, scale)?.checked_add(at_scale(right, scale)?)?, scale))
}

/// The order of groups with these indexes of values, group by group.
fn order(indexes: &[u32], width: usize, count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(count).collect();
    let mut bits = vec![0u32; width];
    for indexes in indexes.chunks_exact(width.max(1)) {
        for (bits, index) in bits.iter_mut().zip(indexes) {
            *bits = (*bits).max(u32::BITS - index.leading_zeros());
        }
    }
    if bits.iter().sum::<u32>() > u64::BITS {
        let key = |group: u32| indexes.get(group as usize * width..(group as usize + 1) * width);
        order.sort_unstable_by(|&left, &right| key(left).cmp(&key(right)));
        return order;
    }
    // Side by side, the indexes of a group are one integer.
    let packed = |group: u32| {
        let indexes = &indexes[group as usize * width..(group as usize + 1) * width];
        let indexes = indexes.iter().zip(&bits);
        indexes.fold(0u64, |all, (&index, &bits)| all.unbounded_shl(bits) | u64::from(index))
    };
    let mut keyed: Vec<(u64, u32)> = order.iter().map(|&group| (packed(group), group)).collect();
    if !keyed.is_sorted() {
        keyed.sort_unstable();
    }
    keyed.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests;
