//! How a vector is written: as a frame of reference or as differences, at which width, with which
//! patches. Every choice compares counted bytes, not guesses.

use hadal_types::limits::VECTOR_VALUES;

use super::vector::Delta;
use super::{DELTA, PATCHED_DELTA, PATCHED_REFERENCE, REFERENCE};
use crate::cursor::{write_length, write_varint, write_zigzag};
use crate::{kernels, packing};

/// Delta must save this many bits per value: it decodes at half the speed.
const DELTA_GAIN_BITS: usize = 2;
/// One value in 16 may be patched: a patch takes as much time as unpacking ten values.
const PATCH_VALUES_MIN: usize = 16;
/// Extra cost of a patch in bits, for the time it takes.
const PATCH_EXTRA_COST: usize = 16;
/// Approximate bytes of a head.
const HEAD_BYTES: usize = 6;

/// How one vector is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorPlan {
    min: i64,
    range: u64,
    delta: Option<Delta>,
    packed: Packed,
}

/// How values from 0 up are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    width: u8,
    /// Bytes of a patch's extra; `None` without patches.
    extra_bytes: Option<u8>,
    /// Cost in bits, with the extra cost of patches.
    cost: usize,
}

impl VectorPlan {
    /// The cheapest plan for a vector that is not empty; without patches unless `may_patch`.
    pub(super) fn of(vector: &[i64], may_patch: bool) -> Self {
        let (min, max) = bounds(vector);
        let range = max.wrapping_sub(min).cast_unsigned();
        let mut reference = Packed::plain(vector.len(), range);
        if may_patch {
            reference = reference.patched(vector, min);
        }
        if may_patch && !is_worth_delta(vector, reference) {
            return Self { min, range, delta: None, packed: reference };
        }
        let mut buffer = [0i64; VECTOR_VALUES];
        let (step, delta) = plan_steps(differences(vector, &mut buffer), may_patch);
        let gain = vector.len() * DELTA_GAIN_BITS;
        if vector.len() > 1 && delta.cost + gain <= reference.cost {
            let delta_form = Delta { first: vector[0], step };
            return Self { min, range, delta: Some(delta_form), packed: delta };
        }
        Self { min, range, delta: None, packed: reference }
    }

    /// Cost in bytes, with the head and the extra cost of patches. An estimate.
    pub(super) const fn cost(&self) -> usize {
        HEAD_BYTES + self.packed.cost.div_ceil(8)
    }

    /// Appends the vector's head and its packed values; `base` is the min of the previous vector.
    /// Returns this vector's min.
    pub(super) fn write(
        &self,
        vector: &[i64],
        base: i64,
        heads: &mut Vec<u8>,
        packed: &mut Vec<u8>,
    ) -> i64 {
        let Packed { width, extra_bytes, .. } = self.packed;
        heads.push(match (self.delta, extra_bytes) {
            (None, None) => REFERENCE,
            (Some(_), None) => DELTA + width,
            (None, Some(_)) => PATCHED_REFERENCE + width,
            (Some(_), Some(_)) => PATCHED_DELTA + width,
        });
        write_zigzag(self.min.wrapping_sub(base), heads);
        write_varint(self.range, heads);
        let mut offsets = [0u64; VECTOR_VALUES];
        if let Some(Delta { first, step }) = self.delta {
            write_varint(first.wrapping_sub(self.min).cast_unsigned(), heads);
            write_zigzag(step, heads);
            for (offset, pair) in offsets[1..].iter_mut().zip(vector.windows(2)) {
                *offset = pair[1].wrapping_sub(pair[0]).wrapping_sub(step).cast_unsigned();
            }
        } else {
            for (offset, value) in offsets.iter_mut().zip(vector) {
                *offset = value.wrapping_sub(self.min).cast_unsigned();
            }
        }
        if vector.len() == VECTOR_VALUES {
            kernels::pack(&offsets, width, packed);
        } else {
            packing::pack(&offsets[..vector.len()], width, packed);
        }
        if let Some(extra_bytes) = extra_bytes {
            let patches = write_patches(&offsets[..vector.len()], width, extra_bytes, packed);
            write_length(patches, heads);
            heads.push(extra_bytes);
        }
        self.min
    }
}

impl Packed {
    /// Packing without patches.
    const fn plain(count: usize, max: u64) -> Self {
        let width = packing::bit_width(max);
        Self { width, extra_bytes: None, cost: count * width as usize }
    }

    /// The same values with the cheapest patches, or without if these are cheaper.
    fn patched(self, values: &[i64], base: i64) -> Self {
        let patches_max = values.len() / PATCH_VALUES_MIN;
        if self.width == 0 {
            return self;
        }
        // If one bit less already leaves too many values outside, every smaller width does too.
        if kernels::count_beyond(values, base, u32::from(self.width) - 1) > patches_max {
            return self;
        }
        let counts = count_widths(values, base);
        let mut best = self;
        let mut patches = 0;
        for width in (0..self.width).rev() {
            patches += counts[usize::from(width) + 1];
            if patches > patches_max {
                break;
            }
            // One more bit, for the sign.
            let extra_bytes = bytes_of_bits(self.width - width + 1);
            let cost = values.len() * usize::from(width) + patches * patch_cost(extra_bytes);
            if cost < best.cost {
                best = Self { width, extra_bytes: Some(extra_bytes), cost };
            }
        }
        best
    }
}

/// Whether delta may be cheaper: most differences of a sample are close together. Without this
/// test, all vectors would pay for a plan that few need.
fn is_worth_delta(vector: &[i64], reference: Packed) -> bool {
    const SAMPLE: usize = 16;
    // Two at either end may be outliers.
    const ENDS: usize = 2;
    let mut sample = [0i64; SAMPLE];
    let every = vector.len().saturating_sub(1) / SAMPLE;
    if every == 0 {
        return true;
    }
    for (index, step) in sample.iter_mut().enumerate() {
        *step = vector[index * every + 1].wrapping_sub(vector[index * every]);
    }
    sample.sort_unstable();
    let range = sample[SAMPLE - 1 - ENDS].wrapping_sub(sample[ENDS]).cast_unsigned();
    let cost = vector.len() * (usize::from(packing::bit_width(range)) + DELTA_GAIN_BITS);
    cost <= reference.cost
}

/// The step to subtract from the differences, and how to pack the rest, which has one value more
/// than there are differences.
fn plan_steps(steps: &[i64], may_patch: bool) -> (i64, Packed) {
    let (step, step_max) = bounds(steps);
    let mut packed = Packed::plain(steps.len() + 1, step_max.wrapping_sub(step).cast_unsigned());
    if may_patch {
        packed = packed.patched(steps, step);
        if let Some((common, by_patches)) = common_divisor(steps)
            && by_patches.cost < packed.cost
        {
            return (common, by_patches);
        }
    }
    (step, packed)
}

/// How many values, less `base`, have 0, 1, ... 64 significant bits.
fn count_widths(values: &[i64], base: i64) -> [usize; 65] {
    let offset = |value: i64| value.wrapping_sub(base).cast_unsigned();
    // Four tables, because an addition to the same table waits for the previous one.
    let mut counts = [[0u16; 65]; 4];
    let (chunks, rest) = values.as_chunks::<4>();
    for chunk in chunks {
        for (counts, &value) in counts.iter_mut().zip(chunk) {
            counts[usize::from(packing::bit_width(offset(value)))] += 1;
        }
    }
    for &value in rest {
        counts[0][usize::from(packing::bit_width(offset(value)))] += 1;
    }
    std::array::from_fn(|width| counts.iter().map(|counts| usize::from(counts[width])).sum())
}

/// The step that all but a few differences have, as with counters that restart.
fn common_divisor(steps: &[i64]) -> Option<(i64, Packed)> {
    let [first, .., last] = *steps else { return None };
    let middle = steps[steps.len() / 2];
    let step = if first == middle || first == last { first } else { middle };
    let patches = steps.iter().filter(|&&difference| difference != step).count();
    if patches > steps.len() / PATCH_VALUES_MIN {
        return None;
    }
    // As many bits as the largest difference, negative ones inverted; plus the sign.
    let bits = |difference: i64| (difference ^ (difference >> 63)).cast_unsigned();
    let all = steps.iter().fold(0, |all, difference| all | bits(difference.wrapping_sub(step)));
    let extra_bytes = bytes_of_bits(packing::bit_width(all) + 1);
    let cost = patches * patch_cost(extra_bytes);
    Some((step, Packed { width: 0, extra_bytes: Some(extra_bytes), cost }))
}

const fn patch_cost(extra_bytes: u8) -> usize {
    16 + extra_bytes as usize * 8 + PATCH_EXTRA_COST
}

/// The bytes of a signed integer of `bits` bits.
const fn bytes_of_bits(bits: u8) -> u8 {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// Appends positions and extras of the offsets that `width` bits cannot hold; returns their number.
fn write_patches(offsets: &[u64], width: u8, extra_bytes: u8, out: &mut Vec<u8>) -> usize {
    let mut extras = Vec::new();
    let mut count = 0;
    for (position, offset) in (0u16..).zip(offsets) {
        let extra = offset.cast_signed() >> width;
        if extra != 0 {
            out.extend_from_slice(&position.to_le_bytes());
            extras.extend_from_slice(&extra.to_le_bytes()[..usize::from(extra_bytes)]);
            count += 1;
        }
    }
    out.extend_from_slice(&extras);
    count
}

/// The differences of neighbours: one fewer than values.
fn differences<'b>(vector: &[i64], buffer: &'b mut [i64; VECTOR_VALUES]) -> &'b [i64] {
    for (slot, pair) in buffer.iter_mut().zip(vector.windows(2)) {
        *slot = pair[1].wrapping_sub(pair[0]);
    }
    &buffer[..vector.len() - 1]
}

/// The smallest and the largest value; (0, 0) if there are none.
pub(super) fn bounds(values: &[i64]) -> (i64, i64) {
    kernels::min_max_i64(values).unwrap_or_default()
}
