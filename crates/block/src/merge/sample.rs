//! Subsampling: keeps some rows of a block; each kept row then stands for more events.
//!
//! The rows are grouped by columns, and each group keeps one row in *factor*. The factor is an
//! integer that depends only on the number of rows in the group. So each row has exactly one chance
//! in `factor` to be kept, and its weight is multiplied by exactly `factor`. Sums over weights are
//! unbiased, without any rounding, and the group's original number of rows is known to within one
//! factor:
//!
//! ```text
//!  group of n rows -> factor f -> keep floor(n / f) rows, plus one with probability (n mod f) / f
//! ```
//!
//! Usually the factor is the requested factor. If the requested factor would leave a group fewer
//! rows than the minimum, the factor is the largest power of two that leaves at least the minimum.
//! So there are few distinct weights, which makes counting them fast.
//!
//! If a column holds a *key*, such as a user's id, rows with a key are not drawn one by one. All
//! rows with the same key are kept or dropped, in every block and leaf, by a hash of the key
//! (`spec/row-block.md`). One key in `factor` is kept, so a block may lose all its rows. The hash
//! is divided by the block's previous sample factor. If the previous sampling used the same key,
//! the result equals the result of a single sampling; if not, each remaining key still has one
//! chance in `factor` (cluster sampling: Cochran, chapter 9A).
//!
//! The other rows are drawn by a hash of the row and of the checksum of the block's front, which
//! covers the checksums of all bodies. The same block always keeps the same rows, wherever it is
//! stored, and two blocks are sampled independently (stratified sampling and the estimator of its
//! sums: Cochran, "Sampling Techniques", chapters 5 and 5A; Horvitz and Thompson, JASA 1952).

use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{ColumnName, Kind, Logical, Weight};
use twox_hash::XxHash3_64;

use super::concatenate::number_through;
use super::settle::with_front;
use super::{BlockError, BlockView, Concatenated, Dense, DenseValues, Encoder, Inputs};
use crate::assemble::assemble;
use crate::header::{CHECKSUM_BYTES, SAMPLED_VERSION};

/// How to subsample a block.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'s> {
    /// The sample factor n to reach, relative to the rows before any sampling: keep one row in n.
    pub one_in: u16,
    /// The column whose numbers and strings are keys: rows with a key are kept or dropped by it,
    /// all others are drawn from their group.
    pub key: Option<&'s ColumnName>,
    /// The columns that define the groups; if empty, all rows are one group.
    pub by: &'s [ColumnName],
    /// The minimum of rows that each group keeps, if it has them; at least one.
    pub least: u32,
}

impl Sampling<'_> {
    /// The factor by which to sample a block again that has the sample factor `kept_one_in`: the
    /// largest integer that keeps at least the requested share; 1 if there is nothing to do.
    #[must_use]
    pub fn factor(&self, kept_one_in: u16) -> u16 {
        (self.one_in / kept_one_in.max(1)).max(1)
    }
}

/// Makes blocks of the rows of `block` that are kept, in their order. The result is almost always
/// one block, with the new sample factor in its front; no block if no key in it is kept. Like
/// [`super::merge`] by time it drops batches, so the rows must no longer be revocable. Verifies
/// checksums on the way.
///
/// # Errors
/// When the block is corrupt.
pub fn sample(block: &BlockView<'_>, sampling: &Sampling<'_>) -> Result<Vec<Vec<u8>>, BlockError> {
    block.verify()?;
    let factor = sampling.factor(block.kept_one_in());
    let kept_one_in = block.kept_one_in() * factor;
    let blocks = std::slice::from_ref(block);
    let inputs = Inputs::new(blocks);
    let weights = weights(&inputs)?;
    let fates = fates(&inputs, sampling, factor)?;
    // If the weight column is the time column, weights cannot change.
    let is_fixed = block.time_column().name().as_str() == Weight::COLUMN;
    let kept = choose(&weights, &fates, factor, sampling.least.max(1), block.seed());
    if is_fixed || kept.iter().map(|(_, weight)| weight).eq(&weights) {
        return Ok(vec![with_front(block, |header| {
            header.kept_one_in = kept_one_in;
            header.encoding_version = header.encoding_version.max(SAMPLED_VERSION);
        })]);
    }
    let mut rows_max = BLOCK_ROWS_MAX;
    loop {
        // Adding a column of weights may exceed the maximum size of a block.
        match gather(&inputs, &kept, rows_max, kept_one_in) {
            Err(BlockError::TooLarge(_)) if rows_max > 1 => rows_max /= 2,
            made => return made,
        }
    }
}

/// A kept row, and its new weight in millionths.
type Kept = (u32, i64);

/// The weight of each row in millionths, read in the same way as by a scan.
fn weights(inputs: &Inputs<'_, '_>) -> Result<Vec<i64>, BlockError> {
    let one = vec![Weight::UNIT; inputs.rows()];
    let Some(column) = inputs.rates()? else { return Ok(one) };
    let weight = |rate| Weight::from_rate(rate).unwrap_or(Weight::ONE).millionths();
    Ok(column.numbers().map(|rate| rate.map_or(Weight::UNIT, weight)).collect())
}

/// How a row is sampled, unless its weight is too large to be multiplied.
#[derive(Clone, Copy)]
enum Fate {
    /// By its key, which is kept or dropped.
    ByKey { is_kept: bool },
    /// Drawn from the rows of this group.
    Drawn { group: u32 },
}

fn fates(
    inputs: &Inputs<'_, '_>,
    sampling: &Sampling<'_>,
    factor: u16,
) -> Result<Vec<Fate>, BlockError> {
    let groups = groups(inputs, sampling.by)?.into_iter();
    let mut fates: Vec<Fate> = groups.map(|group| Fate::Drawn { group }).collect();
    let before = inputs.blocks[0].kept_one_in();
    for (name, kind) in inputs.columns() {
        if sampling.key != Some(name) {
            continue;
        }
        let column = Concatenated::new(inputs, name, kind)?;
        for (fate, text) in fates.iter_mut().zip(column.texts()) {
            if let Some(key) = text {
                *fate = Fate::ByKey { is_kept: is_kept(&key, before, factor) };
            }
        }
    }
    Ok(fates)
}

/// The seed that separates the hashes of keys from other hashes of the same texts: so to a distinct
/// count, the kept keys are a random sample.
const KEYS: u64 = u64::from_le_bytes(*b"hadalkey");

/// Whether a block with sample factor `before` keeps a key when it is sampled again by `factor`.
fn is_kept(key: &str, before: u16, factor: u16) -> bool {
    (hash_of_key(key) / u64::from(before)).is_multiple_of(factor.into())
}

fn hash_of_key(key: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(KEYS, key.as_bytes())
}

/// The group of each row; one group if there are no columns to group by.
fn groups(inputs: &Inputs<'_, '_>, by: &[ColumnName]) -> Result<Vec<u32>, BlockError> {
    let mut groups = vec![0; inputs.rows()];
    for (name, kind) in inputs.columns().into_iter().filter(|(name, _)| by.contains(name)) {
        let values = Concatenated::new(inputs, name, kind)?.identities();
        let pairs: Vec<(u32, u32)> = groups.into_iter().zip(values).collect();
        groups = number_through(&pairs);
    }
    Ok(groups)
}

/// The kept rows, ascending.
fn choose(weights: &[i64], fates: &[Fate], factor: u16, least: u32, seed: u64) -> Vec<Kept> {
    let factor = u64::from(factor);
    let heaviest = Weight::MILLIONTHS_MAX / factor.cast_signed();
    let mut kept: Vec<Kept> = Vec::new();
    let mut rows: Vec<(u32, u64, u32)> = Vec::with_capacity(weights.len());
    for (row, (&weight, &fate)) in (0u32..).zip(weights.iter().zip(fates)) {
        match fate {
            // The multiplied weight would exceed the maximum.
            _ if weight > heaviest => kept.push((row, weight)),
            Fate::ByKey { is_kept: true } => kept.push((row, weight * factor.cast_signed())),
            Fate::ByKey { is_kept: false } => {}
            Fate::Drawn { group } => rows.push((group, hash(seed, row.into()), row)),
        }
    }
    rows.sort_unstable();
    for group in rows.chunk_by(|one, next| one.0 == next.0) {
        let factor = factor_of(group.len() as u64, factor, least.into());
        let draw = hash(seed, GROUPS | u64::from(group[0].0));
        let count = count_of(group.len() as u64, factor, draw);
        let weigh = |row: u32| (row, weights[row as usize] * factor.cast_signed());
        let count = usize::try_from(count).unwrap_or(group.len());
        kept.extend(group.iter().take(count).map(|&(_, _, row)| weigh(row)));
    }
    kept.sort_unstable();
    kept
}

/// The bit that separates the hashes of groups from those of rows.
const GROUPS: u64 = 1 << 32;

fn hash(seed: u64, of: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, &of.to_le_bytes())
}

/// The factor for a group of `rows` rows: the requested one, or the largest power of two that
/// leaves at least `least` rows.
fn factor_of(rows: u64, factor: u64, least: u64) -> u64 {
    if rows >= factor.saturating_mul(least) {
        return factor;
    }
    let power = 1 << (rows / least).max(1).ilog2();
    factor.min(power)
}

/// The number of rows to keep, given a random number: on average exactly `rows / factor`.
fn count_of(rows: u64, factor: u64, draw: u64) -> u64 {
    rows / factor + u64::from(draw % factor < rows % factor)
}

/// Makes blocks of at most `rows_max` rows from these rows and their weights.
fn gather(
    inputs: &Inputs<'_, '_>,
    kept: &[Kept],
    rows_max: usize,
    kept_one_in: u16,
) -> Result<Vec<Vec<u8>>, BlockError> {
    let Ok(weight_column) = ColumnName::new(Weight::COLUMN) else { return Err(BlockError::Empty) };
    let weight = (&weight_column, Kind::Number);
    let mut keys = inputs.columns();
    // Drops all kinds of the weight column: a row with a weight has no other value there.
    keys.retain(|(name, _)| **name != weight_column);
    keys.push(weight);
    keys.sort_unstable();
    let rows: Vec<u32> = kept.iter().map(|(row, _)| *row).collect();
    let weights: Vec<i64> = kept.iter().map(|(_, weight)| *weight).collect();
    let outputs: Vec<(&[u32], &[i64])> =
        rows.chunks(rows_max).zip(weights.chunks(rows_max)).collect();
    let encoder = |weights: &[i64]| Encoder::new(Some(&weights_of(&weight_column, weights)));
    let mut columns: Vec<(Vec<_>, Encoder)> =
        outputs.iter().map(|(_, weights)| (Vec::new(), encoder(weights))).collect();
    for (name, kind) in keys {
        let read = match (name, kind) == weight {
            true => None,
            false => Some(Concatenated::new(inputs, name, kind)?),
        };
        for ((rows, weights), (columns, encoder)) in outputs.iter().zip(&mut columns) {
            let column = match &read {
                None => Some(weights_of(name, weights)),
                Some(read) => read.gather(rows),
            };
            columns.extend(column.map(|column| encoder.encode(column)).transpose()?);
        }
    }
    let block = &inputs.blocks[0];
    let time_column = block.time_column().name();
    let finished = outputs.iter().zip(columns).map(|((rows, _), (columns, _))| {
        assemble(time_column, rows.len(), block.created_at(), &[], kept_one_in, columns)
    });
    finished.collect()
}

fn weights_of<'n>(name: &'n ColumnName, weights: &[i64]) -> Dense<'n> {
    let values = DenseValues::Decimals { mantissas: weights.to_vec(), scale: Weight::SCALE };
    Dense { name, kind: Kind::Number, logical: Logical::Plain, validity: None, values }
}

impl BlockView<'_> {
    /// A number that depends on all content of the block: the checksum of its front, which covers
    /// the checksums of all bodies.
    fn seed(&self) -> u64 {
        let front = self.header().front_bytes();
        let checksum = self.bytes().get(front - CHECKSUM_BYTES..front);
        checksum.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_by_the_same_hash_for_ever() {
        // As in spec/row-block.md: the users kept today must be the users kept in ten years.
        for (key, hash) in [
            ("", 10_340_663_154_582_448_090),
            ("7", 15_728_024_893_682_450_167),
            ("-12.5", 13_794_741_255_147_426_059),
            ("1e300", 17_467_729_809_495_384_585),
            ("user-42", 8_274_327_304_651_346_578),
            ("Zo\u{eb}", 16_715_580_364_479_322_848),
        ] {
            assert_eq!(hash_of_key(key), hash, "{key:?}");
        }
    }
}
