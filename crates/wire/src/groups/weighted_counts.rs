//! Codec of counts. Mostly all rows weigh the same, and then rows are all that is written.

use hadal_aggregate::WeightedCount;
use hadal_types::Weight;

use crate::error::{At, DecodeError, required, unfit};
use crate::numbers;
use crate::proto;
use crate::size_guard::MemoryLimit;

pub(super) fn encode_counts(counts: &[WeightedCount]) -> proto::Tallies {
    let rows = numbers::encode(counts.iter().map(|count| count.rows().into()));
    if let Some(row_weight) = row_weight(counts) {
        return proto::Tallies { rows, row_weight, ..Default::default() };
    }
    let weights = counts.iter().map(|count| count.weight().unsigned_abs());
    let squares = counts.iter().map(|count| count.weight_squares().unsigned_abs());
    proto::Tallies {
        rows,
        row_weight: 0,
        weights: numbers::encode(weights),
        weight_squares: numbers::encode(squares),
    }
}

/// The weight of every row in millionths, if all weigh the same.
fn row_weight(counts: &[WeightedCount]) -> Option<u64> {
    let Some(first) = counts.iter().find(|count| count.rows() > 0) else {
        return u64::try_from(Weight::ONE.millionths()).ok();
    };
    let weight = u64::try_from(first.weight() / i128::from(first.rows())).ok();
    weight.filter(|&weight| {
        weight > 0 && counts.iter().all(|count| weighing(count.rows(), weight) == Some(*count))
    })
}

/// The count of rows of this weight in millionths; `None` if it does not fit.
fn weighing(rows: u64, weight: u64) -> Option<WeightedCount> {
    let weights = i128::from(rows).checked_mul(weight.into())?;
    WeightedCount::from_parts(rows, weights, weights.checked_mul(weight.into())?)
}

pub(super) fn decode_counts(
    tallies: Option<&proto::Tallies>,
    count: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<WeightedCount>, DecodeError> {
    let tallies = required(tallies)?;
    if tallies.row_weight > 0 {
        if !(tallies.weights.is_empty() && tallies.weight_squares.is_empty()) {
            return Err(unfit("weights beside a weight of all rows", "one of them"));
        }
        let count_of = |rows| weighing(u64::try_from(rows).ok()?, tallies.row_weight);
        return numbers::decode(&tallies.rows, count, memory, count_of).at("rows");
    }
    let rows = numbers::decode(&tallies.rows, count, memory, |rows| u64::try_from(rows).ok());
    let rows = rows.at("rows")?;
    let weight = |number| i128::try_from(number).ok();
    let weights = numbers::decode(&tallies.weights, count, memory, weight).at("weights")?;
    let squares = numbers::decode(&tallies.weight_squares, count, memory, weight);
    let squares = squares.at("weight_squares")?;
    memory.spend(count, size_of::<WeightedCount>())?;
    let parts = rows.into_iter().zip(weights).zip(squares);
    let counts = parts.map(|((rows, weight), squares)| {
        WeightedCount::from_parts(rows, weight, squares).ok_or_else(|| {
            let tally = format!("{rows} rows of weight {weight}, squared {squares}");
            unfit(tally, "what rows weigh")
        })
    });
    counts.collect()
}
