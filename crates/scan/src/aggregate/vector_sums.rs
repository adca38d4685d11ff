//! Sums of encoded columns whose rows have weights, without groups: vector by vector, in one pass.
//!
//! The weights of a vector's rows are looked up by the codes of the sample rates, once for all
//! columns. A column's sum is then the dot product of the weights and its values.

use std::rc::Rc;

use hadal_aggregate::WeightedCount;
use hadal_block::BlockError;
use hadal_encoding::{IntsView, ints, kernels};
use hadal_types::limits::VECTOR_VALUES;
use hadal_types::{Kind, Weight};

use crate::column::encoded_filter::EncodedColumn;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::weight;

/// The maximum number of different sample rates: a table of them stays in registers.
const RATES_MAX: usize = 32;
/// Words of one bit per row of a vector.
const VECTOR_WORDS: usize = VECTOR_VALUES / 64;

/// The sums of the selected rows.
pub(crate) struct VectorSums {
    pub(crate) count: WeightedCount,
    /// In the order of the columns.
    pub(crate) columns: Vec<WeighedSum>,
}

/// The sum of a column over the rows that have a value.
#[derive(Clone, Copy, Default)]
pub(crate) struct WeighedSum {
    pub(crate) count: WeightedCount,
    /// In millionths of the unit of `scale`.
    pub(crate) product: i128,
    pub(crate) scale: u8,
}

/// The weights of a block's rows: a code per row, and the weight of each code.
struct Rates<'v> {
    codes: IntsView<'v>,
    /// In units of `unit`.
    table: Vec<u32>,
    /// In millionths.
    unit: i64,
}

/// A column to be summed.
struct Column<'v, 'c> {
    stored: &'v EncodedColumn<'c>,
    integers: &'v IntsView<'c>,
    frame: ints::FrameOfReference,
    scale: u8,
}

/// Sums over the rows of a vector or of a block, in units of the weights.
#[derive(Clone, Copy, Default)]
struct Total {
    rows: u64,
    weights: u64,
    squares: u128,
    /// Of weights and distances from the frame's start, in steps.
    products: u128,
}

/// Sums the columns of these indexes over the selected rows; `None` if the block's sample rates or
/// one of the columns are not stored in a form that this can sum.
///
/// # Errors
/// If the bytes of a column do not decode.
pub(crate) fn sum(
    columns: &LazyColumns<'_, '_>,
    indexes: &[usize],
    selection: &Selection,
) -> Result<Option<VectorSums>, BlockError> {
    let Some(rates) = columns.find(Weight::COLUMN, Kind::Number) else { return Ok(None) };
    let Some(stored) = columns.stored(rates)? else { return Ok(None) };
    let Some(rates) = Rates::new(&stored) else { return Ok(None) };
    let stored: Option<Vec<Rc<EncodedColumn<'_>>>> =
        indexes.iter().map(|&index| columns.stored(index)).collect::<Result<_, _>>()?;
    let Some(stored) = stored else { return Ok(None) };
    let summed: Option<Vec<Column<'_, '_>>> =
        stored.iter().map(|stored| Column::new(stored, &rates)).collect();
    Ok(summed.and_then(|summed| rates.sums(&summed, selection)))
}

impl<'v> Rates<'v> {
    /// `None` if rows have no rate, or if there is no dictionary of few rates.
    fn new(stored: &'v EncodedColumn<'_>) -> Option<Self> {
        let (integers, scale) = stored.integers().filter(|(_, scale)| *scale <= Weight::SCALE)?;
        let (entries, codes) = integers.dictionary().filter(|_| stored.valid().is_none())?;
        if entries.len() > RATES_MAX {
            return None;
        }
        let mut rates = Vec::new();
        entries.decode_into(&mut rates);
        let weights: Vec<i64> = rates.iter().map(|&rate| weight(rate, scale)).collect();
        let unit = weights.iter().fold(0, |unit, &weight| greatest_common_divisor(unit, weight));
        let units = |weight: &i64| u32::try_from(weight.checked_div(unit)?).ok();
        let table: Vec<u32> = weights.iter().map(units).collect::<Option<_>>()?;
        // The sum of a vector's squares fits 64 bits.
        let fits = table.iter().all(|&weight| weight < 1 << 27);
        fits.then_some(Self { codes, table, unit })
    }

    fn weight_max(&self) -> u32 {
        self.table.iter().copied().max().unwrap_or(0)
    }

    /// `None` if a code or a value is beyond its limit, in bytes that no writer produces, or if a
    /// sum is too large.
    fn sums(&self, columns: &[Column<'_, '_>], selection: &Selection) -> Option<VectorSums> {
        let mut total = Total::default();
        let mut totals = vec![Total::default(); columns.len()];
        let (mut codes, mut weights) = ([0; VECTOR_VALUES], [0; VECTOR_VALUES]);
        for vector in 0..selection.block_rows().div_ceil(VECTOR_VALUES) {
            let selected = words_of(selection.chosen().map(|rows| rows.words()), vector);
            if selected.is_some_and(|words| words.iter().all(|&word| word == 0)) {
                continue;
            }
            let length = self.codes.decode_vector(vector, &mut codes);
            let codes = &codes[..length];
            let weights = &mut weights[..length];
            if kernels::min_max_u32(codes)?.1 as usize >= self.table.len() {
                return None;
            }
            kernels::gather_u32(&self.table, codes, weights);
            if let Some(words) = selected {
                kernels::mask_u32(weights, words, 0);
            }
            total.add_weights(weights, selected);
            for (column, total) in columns.iter().zip(&mut totals) {
                column.add(vector, weights, selected, total)?;
            }
        }
        let sums = columns.iter().zip(&totals).map(|(column, total)| column.sum(total, self.unit));
        Some(VectorSums { count: total.count(self.unit)?, columns: sums.collect::<Option<_>>()? })
    }
}

impl<'v, 'c> Column<'v, 'c> {
    fn new(stored: &'v EncodedColumn<'c>, rates: &Rates<'_>) -> Option<Self> {
        let (integers, scale) = stored.integers()?;
        let frame = integers.frame_of_reference()?;
        let product = u128::from(frame.span) * u128::from(rates.weight_max());
        let fits = product * (VECTOR_VALUES as u128) < 1 << 64;
        (fits && !stored.omits_rows()).then_some(Self { stored, integers, frame, scale })
    }

    /// Adds a vector's rows. `weights` is zero where a row is not selected.
    fn add(
        &self,
        vector: usize,
        weights: &[u32],
        selected: Option<&[u64]>,
        total: &mut Total,
    ) -> Option<()> {
        let mut steps = [0; VECTOR_VALUES];
        let decoded = self.integers.decode_steps_vector(&self.frame, vector, &mut steps).ok()?;
        let steps = steps.get(..decoded).filter(|steps| steps.len() == weights.len())?;
        let Some(valid) = words_of(self.stored.valid().map(|valid| valid.words()), vector) else {
            total.add_weights(weights, selected);
            total.products += u128::from(kernels::dot_u32(steps, weights));
            return Some(());
        };
        let mut own = [0; VECTOR_VALUES];
        let own = &mut own[..weights.len()];
        own.copy_from_slice(weights);
        kernels::mask_u32(own, valid, 0);
        let mut both = [0; VECTOR_WORDS];
        let both = &mut both[..valid.len()];
        for (place, (word, &valid)) in both.iter_mut().zip(valid).enumerate() {
            *word = valid & selected.map_or(u64::MAX, |words| words[place]);
        }
        total.add_weights(own, Some(both));
        total.products += u128::from(kernels::dot_u32(steps, own));
        Some(())
    }

    fn sum(&self, total: &Total, unit: i64) -> Option<WeighedSum> {
        let steps = i128::try_from(total.products).ok()?.checked_mul(self.frame.step.into())?;
        let base = i128::from(total.weights).checked_mul(self.frame.from.into())?;
        let product = base.checked_add(steps)?.checked_mul(unit.into())?;
        Some(WeighedSum { count: total.count(unit)?, product, scale: self.scale })
    }
}

impl Total {
    /// Adds the weights of a vector's rows, those with bits in `counted`; `None`: all.
    fn add_weights(&mut self, weights: &[u32], counted: Option<&[u64]>) {
        self.rows += counted.map_or(weights.len() as u64, kernels::count_ones);
        self.weights += kernels::sum_u32(weights);
        self.squares += u128::from(kernels::dot_u32(weights, weights));
    }

    /// The count, where the weights are in units of `unit` millionths.
    fn count(&self, unit: i64) -> Option<WeightedCount> {
        let (unit, squares) = (i128::from(unit), i128::try_from(self.squares).ok()?);
        let mut count = WeightedCount::default();
        let weight = i128::from(self.weights).checked_mul(unit)?;
        count.add(self.rows, weight, squares.checked_mul(unit.checked_mul(unit)?)?);
        Some(count)
    }
}

/// The words of a vector's rows.
fn words_of(words: Option<&[u64]>, vector: usize) -> Option<&[u64]> {
    words?.chunks(VECTOR_WORDS).nth(vector)
}

fn greatest_common_divisor(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
