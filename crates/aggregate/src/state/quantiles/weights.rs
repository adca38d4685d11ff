//! The weight in each bucket of a quantile sketch.
//!
//! Buckets in use are near each other, so their weights are stored in chunks of 32. Adding a
//! block's counts is a pass over chunks, with a loop over integers in each. A weight rarely exceeds
//! 64 bits; the excess is stored beside the chunks.

use std::collections::BTreeMap;

/// Number of buckets of one chunk.
const TRAY: usize = 32;
const TRAY_BITS: u32 = TRAY.ilog2();

/// Weights in millionths by bucket, each above zero. They saturate at [`i128::MAX`].
#[derive(Clone, Debug, Default)]
pub struct QuantileWeights {
    /// In ascending order; each has a weight.
    chunks: Vec<Chunk>,
    /// The high part of a bucket's weight, in units of 2^64; the chunk has the low part.
    carried: BTreeMap<i32, u64>,
}

/// The weights of the 32 buckets from `number` · 32, modulo 2^64.
#[derive(Clone, Debug)]
struct Chunk {
    number: i32,
    weights: [u64; TRAY],
}

impl QuantileWeights {
    /// Adds rows of `weight` millionths each: `counts[i]` rows to the bucket `first` + i.
    pub(crate) fn add_counts(&mut self, first: i32, counts: &[u32], weight: u64) {
        let mut walk = Walk::new(self);
        let (mut bucket, mut rest) = (first, counts);
        while !rest.is_empty() {
            let start = slot_of(bucket);
            let (chunk_counts, more) = rest.split_at(rest.len().min(TRAY - start));
            if chunk_counts.iter().fold(0, |all, count| all | count) > 0 {
                walk.add_counts(bucket, chunk_counts, weight);
            }
            // At most the size of a chunk.
            bucket += i32::try_from(chunk_counts.len()).unwrap_or(0);
            rest = more;
        }
        walk.end();
    }

    /// Adds weights above zero of buckets in ascending order.
    pub fn add_weights(&mut self, weights: impl IntoIterator<Item = (i32, i128)>) {
        let mut walk = Walk::new(self);
        for (bucket, weight) in weights {
            let at = walk.chunk(bucket);
            walk.weights.add(at, bucket, weight.unsigned_abs());
        }
        walk.end();
    }

    /// Adds all weights of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.add_weights(other.iter());
    }

    /// Adds to the weight of a bucket in the chunk at index `at`.
    fn add(&mut self, at: usize, bucket: i32, weight: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        let (low, high) = (weight as u64, (weight >> 64) as u64);
        let sum = &mut self.chunks[at].weights[slot_of(bucket)];
        let (low_sum, has_carry) = sum.overflowing_add(low);
        *sum = low_sum;
        if high > 0 || has_carry {
            let carried = self.carried.entry(bucket).or_default();
            *carried = carried.saturating_add(high).saturating_add(has_carry.into());
        }
    }

    /// Buckets in ascending order with their weights.
    pub fn iter(&self) -> impl Iterator<Item = (i32, i128)> + Clone + '_ {
        let buckets = self.chunks.iter().flat_map(|chunk| {
            let first = chunk.number << TRAY_BITS;
            (first..).zip(chunk.weights)
        });
        buckets.filter_map(|(bucket, low)| {
            let high = if self.carried.is_empty() { None } else { self.carried.get(&bucket) };
            let weight = u128::from(*high.unwrap_or(&0)) << 64 | u128::from(low);
            (weight > 0).then(|| (bucket, i128::try_from(weight).unwrap_or(i128::MAX)))
        })
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk>() + self.carried.len() * size_of::<(i32, u64)>()
    }
}

/// A pass over chunks in ascending order. New chunks stay behind the others until the end.
struct Walk<'w> {
    weights: &'w mut QuantileWeights,
    /// The number of chunks that are in order.
    sorted: usize,
    /// The index of the current chunk; no earlier one is visited again.
    at: Option<usize>,
}

impl<'w> Walk<'w> {
    fn new(weights: &'w mut QuantileWeights) -> Self {
        let sorted = weights.chunks.len();
        Self { weights, sorted, at: None }
    }

    /// The index of the chunk with `bucket`.
    fn chunk(&mut self, bucket: i32) -> usize {
        let number = bucket >> TRAY_BITS;
        if let Some(last) = self.weights.chunks[self.sorted..].last()
            && last.number == number
        {
            return self.weights.chunks.len() - 1;
        }
        let chunks = &self.weights.chunks[..self.sorted];
        let mut at =
            self.at.unwrap_or_else(|| chunks.partition_point(|chunk| chunk.number < number));
        at += chunks[at..].iter().take_while(|chunk| chunk.number < number).count();
        self.at = Some(at);
        if chunks.get(at).is_some_and(|chunk| chunk.number == number) {
            return at;
        }
        self.weights.chunks.push(Chunk { number, weights: [0; TRAY] });
        self.weights.chunks.len() - 1
    }

    /// Adds counts of buckets of one chunk.
    fn add_counts(&mut self, bucket: i32, counts: &[u32], weight: u64) {
        let at = self.chunk(bucket);
        let sums = &mut self.weights.chunks[at].weights[slot_of(bucket)..];
        // A product of 32 and 31 bits leaves room for one more bit, so the loop needs no branch.
        if let Ok(weight) = u32::try_from(weight)
            && sums.iter().fold(0, |all, sum| all | sum) >> 63 == 0
            && weight >> 31 == 0
        {
            for (sum, &count) in sums.iter_mut().zip(counts) {
                *sum += u64::from(count) * u64::from(weight);
            }
            return;
        }
        for (bucket, &count) in (bucket..).zip(counts).filter(|(_, count)| **count > 0) {
            self.weights.add(at, bucket, u128::from(count) * u128::from(weight));
        }
    }

    fn end(self) {
        if self.weights.chunks.len() > self.sorted {
            // The list is now two ascending runs, which this stable sort merges.
            self.weights.chunks.sort_by_key(|chunk| chunk.number);
        }
    }
}

/// The index of a bucket in its chunk.
fn slot_of(bucket: i32) -> usize {
    usize::try_from(bucket.rem_euclid(1 << TRAY_BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bucket() -> impl Strategy<Value = i32> {
        prop_oneof![-70i32..70, -140_000i32..140_000, Just(-16), Just(-1), Just(0), Just(16)]
    }

    proptest! {
        #[test]
        fn weights_add_up_by_bucket(
            rows in prop::collection::vec(
                (bucket(), prop::collection::vec(0u32..3, 0..50), prop_oneof![
                    1u64..5_000_000, Just(1 << 31), Just((1 << 31) - 1), any::<u64>(),
                ]), 0..20,
            ),
            more in prop::collection::btree_map(bucket(), 1i128..=i128::MAX, 0..20),
            cut in 0usize..20,
        ) {
            let mut expected: BTreeMap<i32, i128> = BTreeMap::new();
            let mut add = |bucket: i32, weight: i128| {
                let sum = expected.entry(bucket).or_default();
                *sum = sum.saturating_add(weight);
            };
            let (mut whole, mut part) = (QuantileWeights::default(), QuantileWeights::default());
            for (index, (first, counts, weight)) in rows.iter().enumerate() {
                for (bucket, &count) in (*first..).zip(counts).filter(|(_, count)| **count > 0) {
                    add(bucket, i128::from(count) * i128::from(*weight));
                }
                let target = if index < cut { &mut whole } else { &mut part };
                target.add_counts(*first, counts, *weight);
            }
            more.iter().for_each(|(&bucket, &weight)| add(bucket, weight));
            part.add_weights(more.iter().map(|(&bucket, &weight)| (bucket, weight)));
            whole.merge(&part);
            prop_assert_eq!(whole.iter().collect::<BTreeMap<_, _>>(), expected.clone());
            let buckets = whole.iter().map(|entry| entry.0);
            prop_assert!(buckets.is_sorted_by(|left, right| left < right));
            let mut again = QuantileWeights::default();
            again.add_weights(expected);
            prop_assert!(again.iter().eq(whole.iter()));
        }
    }
}
