//! The selected rows of a block by weight, mostly without decoding their sample rates.

use hadal_encoding::{Bitmap, IntsView};
use hadal_types::{Kind, Weight};

use crate::column::encoded_filter::EncodedColumn;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::{CLASSES_MAX, Weights, weight};
use crate::scan_memory::Interrupt;

/// The selected rows of one weight.
pub(crate) struct WeightClass {
    pub(crate) millionths: i64,
    /// The number of rows.
    pub(crate) rows: usize,
    /// The rows; `None` for those that are in no other class.
    pub(crate) chosen: Option<Bitmap>,
}

/// The classes of the selected rows, of different weights. `None` if there are more than
/// [`CLASSES_MAX`].
///
/// # Errors
/// If the sample rates cannot be read.
pub(crate) fn weight_classes(
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
) -> Result<Option<Vec<WeightClass>>, Interrupt> {
    let Some(index) = columns.find(Weight::COLUMN, Kind::Number) else {
        let (millionths, rows) = (Weight::UNIT, selection.count());
        return Ok(Some(vec![WeightClass { millionths, rows, chosen: None }]));
    };
    let stored = columns.stored(index)?;
    let by_class = match stored.as_deref().and_then(rows_by_class) {
        Some(by_class) => by_class,
        None => match Weights::new(columns)?.rows_by_class() {
            Some(by_class) => by_class,
            None => return Ok(None),
        },
    };
    Ok(Some(among(selection, by_class)))
}

/// The selected rows of each class. The one listed last gets those that are left.
fn among(selection: &Selection, by_class: Vec<(i64, Bitmap)>) -> Vec<WeightClass> {
    let mut left = selection.count();
    let last = by_class.len().saturating_sub(1);
    let class = |(index, (millionths, mut rows)): (usize, (i64, Bitmap))| {
        if index == last {
            return WeightClass { millionths, rows: left, chosen: None };
        }
        if let Some(selected) = selection.chosen() {
            rows.and(selected);
        }
        let count = rows.count_ones();
        left = left.saturating_sub(count);
        WeightClass { millionths, rows: count, chosen: Some(rows) }
    };
    by_class.into_iter().enumerate().map(class).filter(|class| class.rows > 0).collect()
}

/// The rows of each weight, by the encoded stream; `None` if it does not show few weights.
fn rows_by_class(stored: &EncodedColumn<'_>) -> Option<Vec<(i64, Bitmap)>> {
    let (integers, scale) = stored.integers().filter(|(_, scale)| *scale <= Weight::SCALE)?;
    let values = few_values(integers)?;
    let mut classes: Vec<(i64, Bitmap)> = Vec::with_capacity(values.len() + 1);
    let mut add = |weight: i64, rows: Bitmap| match classes.iter_mut().find(|(w, _)| *w == weight) {
        Some((_, before)) => before.or(&rows),
        None => classes.push((weight, rows)),
    };
    for value in values {
        add(weight(value, scale), stored.rows_between(integers, value, value));
    }
    if let Some(valid) = stored.valid() {
        let mut absent = Bitmap::clone(valid);
        absent.not();
        add(Weight::UNIT, absent);
    }
    (classes.len() <= CLASSES_MAX).then_some(classes)
}

/// The different values of a stream, and perhaps some more; `None` if they may be many.
fn few_values(integers: &IntsView<'_>) -> Option<Vec<i64>> {
    if let Some((entries, _)) = integers.dictionary() {
        let mut values = Vec::new();
        if entries.len() <= CLASSES_MAX {
            entries.decode_into(&mut values);
        }
        return Some(values).filter(|values| !values.is_empty());
    }
    if let Some(runs) = integers.runs() {
        let mut values = runs.values.into_owned();
        values.sort_unstable();
        values.dedup();
        return Some(values).filter(|values| values.len() <= CLASSES_MAX);
    }
    let frame = integers.frame_of_reference()?;
    let is_small = usize::try_from(frame.span).is_ok_and(|span| span < CLASSES_MAX);
    let value = |k: u32| frame.from.wrapping_add(frame.step.wrapping_mul(k.into()));
    is_small.then(|| (0..=frame.span).map(value).collect())
}
