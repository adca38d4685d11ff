//! How `scan` adds the rows of a block to groups: the contract between the two crates.
//!
//! `scan` looks up *group indexes* ([`Groups::find_or_insert_all`] and others), which are valid
//! until [`Groups::enforce_capacity`] returns true. Then `scan` writes to arrays that [`Groups`]
//! owns and prepares for each call. These arrays are long enough for all group indexes:
//!
//! | Function | Array, and the part of a group | What `scan` does |
//! |---|---|---|
//! | [`Groups::add_accumulators`] | `[i64]`: by class, by column | adds what the layout says |
//! | [`Groups::defer`] | the same, by key instead of group | the same |
//! | [`Groups::ranges_mut`] | `[(i64, i64)]`: (min, max) | widens it |
//! | [`Groups::quantile_counts`] | `[u16]`: by class, by bucket | counts in the lower 15 bits |
//! | [`Groups::states_mut`] | `[State]`: one state | adds values to it |
//!
//! The accumulator of a row is at (group index × class count + class) × columns + column
//! ([`AccumulatorLayout`]); column 0 counts all rows, and more if rows are weighted. Deferred rows
//! have the index of their key; rows without a value have the index after the last key. Counts are
//! at [`QuantileCounts::start_of`].
//!
//! `scan` promises bounds beforehand: of sums ([`SumInput::size_max`]), mantissas and buckets. So
//! no sum overflows. `scan` passes full counts to [`QuantileCounts::note_full`], and extends the
//! range of the sketch by the rows of marked counts.
//!
//! On return, each row is in every measure once, or in [`Groups::drop_rows`] if its group was
//! refused. `false` or `None` means that no row was added; [`Groups::states_mut`] never refuses.

use super::Groups;
use crate::state::State;
use crate::state::weighted_count::WeightedCount;

pub use crate::groups::accumulators::layout::{
    AccumulatorColumn, AccumulatorInput, AccumulatorLayout, SumInput,
};
pub use crate::groups::deferred::DeferredKeys;
pub use crate::groups::key_dictionary::KeyDictionary;
pub use crate::state::distinct::{DISTINCT_REGISTER_BITS, DistinctRegisters};
pub use crate::state::histogram::grid::{HistogramGrid, Steps};
pub use crate::state::quantiles::buckets::{
    BUCKET_FRACTION_BITS, BUCKET_OFFSET, bucket_of, bucket_of_decimal,
};
pub use crate::state::quantiles::counts::{BucketInput, QuantileCounts};
pub use crate::state::quantiles::weights::QuantileWeights;
pub use crate::state::value_hash::{INTEGER_SALT, hash_decimal, hash_text, hash_value};

impl Groups {
    /// Counts rows of a group.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn add_count(&mut self, group_index: u32, count: WeightedCount) {
        assert!((group_index as usize) < self.len(), "a group at {group_index}");
        if self.counts.len() <= group_index as usize {
            self.counts.resize(self.len(), WeightedCount::default());
        }
        self.counts[group_index as usize].merge(count);
    }

    /// Adds rows to accumulators: `add` receives the layout of incoming rows, and the accumulators
    /// by group index. Returns whether the rows fit. Sums within 2^62 and up to 16 weight classes
    /// always fit.
    pub fn add_accumulators(
        &mut self,
        incoming: &AccumulatorInput<'_>,
        add: impl FnOnce(&AccumulatorLayout, &mut [i64]),
    ) -> bool {
        let Some(layout) = self.prepare(incoming) else { return false };
        add(&layout, self.accumulators.numbers_mut(self.len()));
        true
    }

    /// Adds rows with this count to the moments of a group's measure. `product` is Σ mantissa ·
    /// weight in millionths, for values of this scale, at most 18.
    ///
    /// # Panics
    /// If there is no such group or measure.
    pub fn add_decimal(
        &mut self,
        measure: usize,
        group_index: u32,
        count: WeightedCount,
        product: i128,
        scale: u8,
    ) {
        self.states[measure].add_decimal(group_index as usize, count, product, scale, self.len());
    }

    /// The states of a measure by group index; the caller may add to them.
    ///
    /// # Panics
    /// If there is no such measure.
    pub fn states_mut(&mut self, measure: usize) -> &mut [State] {
        self.states[measure].states_mut(self.len())
    }

    /// The bucket counts of a quantiles measure, and its sketches by group index; see
    /// [`StateColumn::quantile_counts`].
    ///
    /// # Panics
    /// If there is no such measure.
    pub fn quantile_counts(
        &mut self,
        measure: usize,
        incoming: &BucketInput<'_>,
    ) -> Option<(&mut QuantileCounts, &mut [State])> {
        self.states[measure].quantile_counts(self.len(), incoming)
    }

    /// The ranges of a min/max measure of decimals, by group index; the caller may widen them. See
    /// [`StateColumn::ranges_mut`].
    ///
    /// # Panics
    /// If there is no such measure.
    pub fn ranges_mut(
        &mut self,
        measure: usize,
        scale: u8,
        bounds: (i64, i64),
    ) -> Option<(&mut [(i64, i64)], i64)> {
        self.states[measure].ranges_mut(self.len(), scale, bounds)
    }

    /// Counts rows of groups that were dropped.
    pub fn drop_rows(&mut self, rows: u64) {
        self.dropped_rows = self.dropped_rows.saturating_add(rows);
    }
}
