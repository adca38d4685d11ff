//! Bounds of the rows that accumulators weight, so that no accumulator overflows.

/// The sum of weights takes the lower bits of a count's first accumulator, the number of rows takes
/// the others.
pub(super) const WEIGHT_BITS: u32 = 36;
/// The maximum number of rows.
const ROWS_MAX: u64 = 1 << 26;
/// The maximum weight, in units: more would leave room for few rows.
pub(super) const WEIGHT_MAX: i64 = 1 << 14;

/// Bounds of the rows that were weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub(super) rows: u64,
    /// In units.
    pub(super) weight_max: i64,
}

impl Bounds {
    /// The bounds once more rows are added; `None` if a count could overflow.
    pub(super) fn plus(self, more: Self) -> Option<Self> {
        let rows = self.rows.checked_add(more.rows).filter(|&rows| rows <= ROWS_MAX)?;
        let weight_max = self.weight_max.max(more.weight_max);
        let weights = rows.checked_mul(weight_max.unsigned_abs())?;
        (weights < 1 << WEIGHT_BITS).then_some(Self { rows, weight_max })
    }
}
