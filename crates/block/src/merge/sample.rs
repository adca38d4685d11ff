//! Subsampling: a block of which some rows are kept, each standing for more events than before.
//!
//! The rows are grouped by columns, and of each group one row in so many is kept. How many is a
//! whole number, the *factor*, which depends only on how many rows the group has; so each of its
//! rows had exactly one chance in `factor` to be kept, and weighs exactly `factor` times what it
//! weighed. Sums over weights are right on average, without any rounding, and how many rows a group
//! had is known to within one factor:
//!
//! ```text
//! group of n rows -> factor f -> floor(n / f) rows are kept, and one more with the odds of the rest
//! ```
//!
//! The factor is the one that is asked for, or where that would leave fewer rows than each group
//! keeps at least, the largest power of two that does not: so weights are of few classes, which is
//! what makes counting them fast.
//!
//! Where a column holds a *key*, as that of a user, its rows are not drawn: all rows with the same
//! key are kept or none, in every block and leaf, as a hash of the key says (`spec/row-block.md`). One
//! key in `factor` is left, and a block may be left without any. The hash is divided by what the
//! block was sampled by before. Where that was by the same key, what is left now is what would have
//! been left at once; where it was not, each key that is left has one chance in `factor` all the same
//! (cluster sampling: Cochran, chapter 9A).
//!
//! Which of the others are kept is told by a hash of the block's front, which has the checksums of all
//! that is in the block, and the row: the same block always keeps the same rows, wherever it lies,
//! and two blocks keep theirs independently (stratified sampling and the estimator of its sums:
//! Cochran, "Sampling Techniques", chapters 5 and 5A; Horvitz and Thompson, JASA 1952).

use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{ColumnName, Kind, Logical, Weight};
use twox_hash::XxHash3_64;

use super::concatenate::number_through;
use super::settle::with_front;
use super::{BlockError, BlockView, Concatenated, Dense, DenseValues, Inputs, Sections, encode};
use crate::assemble::assemble;
use crate::header::{CHECKSUM_BYTES, SAMPLED_VERSION};

/// How a block is to be subsampled.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'s> {
    /// Of how many rows one is to be left, counted from before any sampling.
    pub one_in: u16,
    /// The column whose numbers and strings are keys: rows that have one are kept by it, all others
    /// by their group.
    pub key: Option<&'s ColumnName>,
    /// The columns whose values tell groups apart; none: all rows are one group.
    pub by: &'s [ColumnName],
    /// Rows that each group keeps, if it has them; at least one.
    pub least: u32,
}

impl Sampling<'_> {
    /// By how much a block of which one row in `kept_one_in` is left is to be sampled once more: the
    /// largest whole number that does not leave less than what is asked for; 1 where that is nothing.
    #[must_use]
    pub fn factor(&self, kept_one_in: u16) -> u16 {
        (self.one_in / kept_one_in.max(1)).max(1)
    }
}

/// Makes blocks of the rows of `block` that are kept, in their order: almost always one, which says
/// in its front by how much it was sampled; none where no key in it is kept. Like [`super::merge`] by
/// time it drops batches, so only what is settled may be given to it. Checksums are verified on the
/// way.
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
    // Where times are weights, weights cannot change.
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
        // A column of weights may come to a block that is as large as it can be.
        match gather(&inputs, &kept, rows_max, kept_one_in) {
            Err(BlockError::TooLarge(_)) if rows_max > 1 => rows_max /= 2,
            made => return made,
        }
    }
}

/// A row that is kept, and its weight from now on, in millionths.
type Kept = (u32, i64);

/// The weight of each row, in millionths: as a scan reads it.
fn weights(inputs: &Inputs<'_, '_>) -> Result<Vec<i64>, BlockError> {
    let one = vec![Weight::UNIT; inputs.rows()];
    let column = inputs.columns().into_iter();
    let mut column = column.filter(|(name, kind)| is_weight(name, *kind));
    let Some((name, _)) = column.next() else { return Ok(one) };
    let column = Concatenated::new(inputs, name, Kind::Number)?;
    let weight = |rate| Weight::from_rate(rate).unwrap_or(Weight::ONE).millionths();
    Ok(column.numbers().map(|rate| rate.map_or(Weight::UNIT, weight)).collect())
}

fn is_weight(name: &ColumnName, kind: Kind) -> bool {
    name.as_str() == Weight::COLUMN && kind == Kind::Number
}

/// What becomes of a row, unless it weighs too much to stand for more.
#[derive(Clone, Copy)]
enum Fate {
    /// Its key is kept, or goes.
    ByKey { is_kept: bool },
    /// Rows are drawn of this group.
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

/// Tells the hashes of keys from all others of the same texts: to those that count different values,
/// the keys that are left are like any.
const KEYS: u64 = u64::from_le_bytes(*b"hadalkey");

/// Whether a key is kept in a block of which one row in `before` is left, and of those one in
/// `factor` is to be.
fn is_kept(key: &str, before: u16, factor: u16) -> bool {
    (hash_of_key(key) / u64::from(before)).is_multiple_of(factor.into())
}

fn hash_of_key(key: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(KEYS, key.as_bytes())
}

/// The group of each row: one where no column tells rows apart.
fn groups(inputs: &Inputs<'_, '_>, by: &[ColumnName]) -> Result<Vec<u32>, BlockError> {
    let mut groups = vec![0; inputs.rows()];
    for (name, kind) in inputs.columns().into_iter().filter(|(name, _)| by.contains(name)) {
        let values = Concatenated::new(inputs, name, kind)?.identities();
        let pairs: Vec<(u32, u32)> = groups.into_iter().zip(values).collect();
        groups = number_through(&pairs);
    }
    Ok(groups)
}

/// The rows that are kept, ascending.
fn choose(weights: &[i64], fates: &[Fate], factor: u16, least: u32, seed: u64) -> Vec<Kept> {
    let factor = u64::from(factor);
    let heaviest = Weight::MILLIONTHS_MAX / factor.cast_signed();
    let mut kept: Vec<Kept> = Vec::new();
    let mut rows: Vec<(u32, u64, u32)> = Vec::with_capacity(weights.len());
    for (row, (&weight, &fate)) in (0u32..).zip(weights.iter().zip(fates)) {
        match fate {
            // No weight would be large enough for what it would stand for.
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

/// What tells the hashes of groups from those of rows.
const GROUPS: u64 = 1 << 32;

fn hash(seed: u64, of: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, &of.to_le_bytes())
}

/// Of how many rows of a group one is kept: so many as are asked for, or as the group's rows allow
/// with at least `least` of them left.
fn factor_of(rows: u64, factor: u64, least: u64) -> u64 {
    if rows >= factor.saturating_mul(least) {
        return factor;
    }
    let power = 1 << (rows / least).max(1).ilog2();
    factor.min(power)
}

/// How many rows are kept, as a drawn number says: on average exactly `rows / factor`.
fn count_of(rows: u64, factor: u64, draw: u64) -> u64 {
    rows / factor + u64::from(draw % factor < rows % factor)
}

/// Blocks of these rows, with their weights, of at most so many rows.
fn gather(
    inputs: &Inputs<'_, '_>,
    kept: &[Kept],
    rows_max: usize,
    kept_one_in: u16,
) -> Result<Vec<Vec<u8>>, BlockError> {
    let Ok(weight_column) = ColumnName::new(Weight::COLUMN) else { return Err(BlockError::Empty) };
    let weight = (&weight_column, Kind::Number);
    let mut keys = inputs.columns();
    // Of any kind: a row with a weight has no other value there.
    keys.retain(|(name, _)| **name != weight_column);
    keys.push(weight);
    keys.sort_unstable();
    let rows: Vec<u32> = kept.iter().map(|(row, _)| *row).collect();
    let weights: Vec<i64> = kept.iter().map(|(_, weight)| *weight).collect();
    let outputs: Vec<(&[u32], &[i64])> =
        rows.chunks(rows_max).zip(weights.chunks(rows_max)).collect();
    let mut columns: Vec<(Vec<_>, Sections)> = Vec::new();
    columns.resize_with(outputs.len(), Default::default);
    for (name, kind) in keys {
        let read = match (name, kind) == weight {
            true => None,
            false => Some(Concatenated::new(inputs, name, kind)?),
        };
        for ((rows, weights), (columns, sections)) in outputs.iter().zip(&mut columns) {
            let column = match &read {
                None => Some(weights_of(name, weights.to_vec())),
                Some(read) => read.gather(rows),
            };
            columns.extend(column.map(|column| encode(column, sections)).transpose()?);
        }
    }
    let block = &inputs.blocks[0];
    let time_column = block.time_column().name();
    let finished = outputs.iter().zip(columns).map(|((rows, _), (columns, _))| {
        assemble(time_column, rows.len(), block.created_at(), &[], kept_one_in, columns)
    });
    finished.collect()
}

fn weights_of(name: &ColumnName, mantissas: Vec<i64>) -> Dense<'_> {
    let values = DenseValues::Decimals { mantissas, scale: Weight::SCALE };
    Dense { name, kind: Kind::Number, logical: Logical::Plain, validity: None, values }
}

impl BlockView<'_> {
    /// A number that depends on all that is in the block: its front's checksum, which covers those of
    /// all bodies.
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
        // As in spec/row-block.md: what is kept of a user today must be what is kept in ten years.
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
