//! One bit per row: which rows have a value, which rows a filter selects.

use std::ops::Range;

use hadal_types::limits::BLOCK_ROWS_MAX;

use crate::cursor::{Cursor, write_length};
use crate::{EncodingError, IntsView, ints, kernels};

/// First byte of a validity section: one bit per row.
const BITS: u8 = 0;
/// First byte of a validity section: lengths of runs.
const RUNS: u8 = 1;

/// A fixed number of bits in words of 64, lowest bit first. Bits after the last are zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    length: usize,
}

impl Bitmap {
    /// `length` zeros.
    #[must_use]
    pub fn zeros(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(64)], length }
    }

    /// `length` ones.
    #[must_use]
    pub fn ones(length: usize) -> Self {
        let mut bitmap = Self { words: vec![u64::MAX; length.div_ceil(64)], length };
        bitmap.clear_spare_bits();
        bitmap
    }

    /// Bits from words, lowest bit first. Words and bits beyond `length` are dropped; missing words
    /// are zero.
    #[must_use]
    pub fn from_words(mut words: Vec<u64>, length: usize) -> Self {
        words.resize(length.div_ceil(64), 0);
        let mut bitmap = Self { words, length };
        bitmap.clear_spare_bits();
        bitmap
    }

    /// How many bits there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no bits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The words: bit i is bit i mod 64 of word i div 64; bits after the last are zero.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bit `index`; false beyond the end.
    #[must_use]
    pub fn get(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Makes bit `index` one.
    ///
    /// # Panics
    /// When `index` is not below [`Self::len`].
    pub fn set(&mut self, index: usize) {
        assert!(index < self.length, "bit {index} of {}", self.length);
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Makes bits `from..to` one.
    ///
    /// # Panics
    /// When `to` is beyond [`Self::len`].
    pub fn set_range(&mut self, from: usize, to: usize) {
        assert!(to <= self.length, "bits {from}..{to} of {}", self.length);
        set_bits(&mut self.words, from, to);
    }

    /// The range of the ones if they are contiguous; the empty range if there are none.
    #[must_use]
    pub(crate) fn range_of_ones(&self) -> Option<Range<usize>> {
        let Some(start) = self.iter_ones().next() else { return Some(0..0) };
        let end = start + self.count_ones();
        (self.run_end(start, true) == end).then_some(start..end)
    }

    /// Bitwise and: keeps the bits that are one in both.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn and(&mut self, other: &Self) {
        self.combine(other, |left, right| left & right);
    }

    /// Bitwise or: keeps the bits that are one in either.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn or(&mut self, other: &Self) {
        self.combine(other, |left, right| left | right);
    }

    /// Inverts every bit.
    pub fn not(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clear_spare_bits();
    }

    /// Expands the bits to the length of `present`: each one of `present` takes the next bit, each
    /// zero stays zero. Missing bits are zeros.
    #[must_use]
    pub fn spread_over(&self, present: &Self) -> Self {
        let mut words = vec![0; present.words.len()];
        kernels::expand_bits(&self.words, &present.words, &mut words);
        Self { words, length: present.length }
    }

    /// Compresses to the bits at the ones of `present`.
    ///
    /// # Panics
    /// When the lengths differ.
    #[must_use]
    pub fn only_of(&self, present: &Self) -> Self {
        assert_eq!(self.length, present.length, "lengths of two bitmaps");
        let mut words = Vec::with_capacity(self.words.len());
        kernels::compress_bits(&self.words, &present.words, &mut words);
        Self { words, length: present.count_ones() }
    }

    /// How many bits are one.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        count_ones(&self.words)
    }

    /// The indexes of the ones, ascending.
    pub fn iter_ones(&self) -> impl Iterator<Item = usize> + '_ {
        ones_of(&self.words)
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        assert_eq!(self.length, other.length, "lengths of two bitmaps");
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            *word = operation(*word, other);
        }
    }

    fn clear_spare_bits(&mut self) {
        if let Some(last) = self.words.last_mut()
            && !self.length.is_multiple_of(64)
        {
            *last &= (1 << (self.length % 64)) - 1;
        }
    }

    /// Appends the bitmap as a validity section: as bits, or as runs if these are shorter.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut by_runs = vec![RUNS];
        let runs = self.runs();
        let bit_bytes = self.length.div_ceil(8);
        // A run takes at least one bit, so more runs than bits cannot win.
        if runs.len() <= bit_bytes * 8 {
            write_length(runs.len(), &mut by_runs);
            ints::encode_codes(&runs, &mut by_runs);
            if by_runs.len() <= bit_bytes {
                return out.extend_from_slice(&by_runs);
            }
        }
        out.push(BITS);
        let bytes = self.words.iter().flat_map(|word| word.to_le_bytes());
        out.extend(bytes.take(bit_bytes));
    }

    /// Reads a validity section of `length` bits, at most [`BLOCK_ROWS_MAX`].
    ///
    /// # Errors
    /// When `bytes` are not exactly one validity section.
    pub fn parse(bytes: &[u8], length: usize) -> Result<Self, EncodingError> {
        let mut cursor = Cursor::new(bytes, "validity");
        match cursor.u8()? {
            BITS => {
                let bits = cursor.take(length.div_ceil(8))?;
                cursor.end()?;
                Self::from_bits(bits, length)
            }
            RUNS => {
                let count = cursor.length("runs of validity", length.min(BLOCK_ROWS_MAX) + 1)?;
                Self::from_runs(&IntsView::parse(cursor.rest(), count)?, length)
            }
            byte => Err(EncodingError::Unknown { what: "validity form", byte }),
        }
    }

    fn from_bits(bits: &[u8], length: usize) -> Result<Self, EncodingError> {
        let (whole, rest) = bits.as_chunks();
        let mut words: Vec<u64> = whole.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_le_bytes(last));
        }
        let last = words.last().copied();
        let bitmap = Self::from_words(words, length);
        if bitmap.words.last().copied() == last {
            return Ok(bitmap);
        }
        let what = "spare bits of validity";
        Err(EncodingError::Mismatch { what, value: 1, expected: 0 })
    }

    /// Lengths of runs of zeros, ones, zeros ...; the first may be 0. Cost: O(words + runs).
    fn runs(&self) -> Vec<u32> {
        let mut runs = Vec::new();
        let (mut start, mut ones) = (0, false);
        while start < self.length {
            let end = self.run_end(start, ones);
            runs.push(u32::try_from(end - start).unwrap_or(u32::MAX));
            (start, ones) = (end, !ones);
        }
        runs
    }

    /// The first bit from `start` on that is not `ones`, or the length.
    fn run_end(&self, start: usize, ones: bool) -> usize {
        let flip = if ones { u64::MAX } else { 0 };
        let mut mask = u64::MAX << (start % 64);
        for (index, word) in self.words.iter().enumerate().skip(start / 64) {
            let other = (word ^ flip) & mask;
            if other != 0 {
                return (index * 64 + other.trailing_zeros() as usize).min(self.length);
            }
            mask = u64::MAX;
        }
        self.length
    }

    fn from_runs(runs: &IntsView<'_>, length: usize) -> Result<Self, EncodingError> {
        let mut lengths = Vec::new();
        runs.decode_codes_into(length + 1, &mut lengths)?;
        let mut bitmap = Self::zeros(length);
        let mut at = 0;
        for (index, run) in lengths.into_iter().enumerate() {
            let end = at + run as usize;
            if end > length {
                let (value, most) = (end as u64, length as u64);
                return Err(EncodingError::Limit { what: "rows in runs", value, most });
            }
            if index % 2 == 1 {
                bitmap.set_range(at, end);
            }
            at = end;
        }
        if at == length {
            return Ok(bitmap);
        }
        let (value, expected) = (at as u64, length as u64);
        Err(EncodingError::Mismatch { what: "rows in runs", value, expected })
    }
}

/// How many bits are one.
pub(crate) fn count_ones(words: &[u64]) -> usize {
    usize::try_from(kernels::count_ones(words)).unwrap_or(usize::MAX)
}

/// The indexes of the ones, ascending.
pub(crate) fn ones_of(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors((word != 0).then_some(word), |word| {
            let rest = word & (word - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |word| index * 64 + word.trailing_zeros() as usize)
    })
}

/// Makes bits `from..to` one.
pub(crate) fn set_bits(words: &mut [u64], from: usize, to: usize) {
    let mut at = from;
    while at < to {
        let count = (64 - at % 64).min(to - at);
        words[at / 64] |= (u64::MAX >> (64 - count)) << (at % 64);
        at += count;
    }
}

/// Sets bit `index` to `bit`.
pub(crate) fn put(words: &mut [u64], index: usize, bit: bool) {
    let word = &mut words[index / 64];
    *word = *word & !(1 << (index % 64)) | u64::from(bit) << (index % 64);
}

/// How many of the bits `from..to` are one.
pub(crate) fn count_ones_in(words: &[u64], from: usize, to: usize) -> usize {
    let mut ones = 0;
    let mut at = from;
    while at < to {
        let count = (64 - at % 64).min(to - at);
        ones += (words[at / 64] >> (at % 64) << (64 - count)).count_ones() as usize;
        at += count;
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bitmap(bits: &[bool]) -> Bitmap {
        let mut bitmap = Bitmap::zeros(bits.len());
        for index in (0..bits.len()).filter(|&index| bits[index]) {
            bitmap.set(index);
        }
        bitmap
    }

    fn section(bitmap: &Bitmap) -> Vec<u8> {
        let mut out = Vec::new();
        bitmap.encode(&mut out);
        out
    }

    #[test]
    fn spare_bits_are_zero() {
        for length in [0, 1, 63, 64, 65, 128] {
            let ones = Bitmap::ones(length);
            assert_eq!(ones.count_ones(), length);
            let mut inverted = Bitmap::zeros(length);
            inverted.not();
            assert_eq!(inverted, ones);
            assert_eq!(Bitmap::from_words(vec![u64::MAX; 3], length), ones);
            assert_eq!(Bitmap::from_words(vec![], length), Bitmap::zeros(length));
        }
        assert!(!Bitmap::ones(3).get(3));
        assert!(!Bitmap::ones(3).get(300));
    }

    #[test]
    fn few_values_in_many_rows_are_small() {
        let mut sparse = Bitmap::zeros(65_536);
        sparse.set(40_000);
        assert!(section(&sparse).len() < 20);
        sparse.not();
        assert!(section(&sparse).len() < 20);
        let random = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).count_ones().is_multiple_of(2);
        let random = bitmap(&(0..65_536).map(random).collect::<Vec<_>>());
        assert_eq!(section(&random).len(), 8_193);
    }

    #[test]
    fn bad_sections_are_refused() {
        assert!(Bitmap::parse(&[0, 0b1000], 4).is_ok());
        assert!(Bitmap::parse(&[0, 0b1_0000], 4).is_err());
        assert!(Bitmap::parse(&[0, 1, 1], 4).is_err());
        assert!(Bitmap::parse(&[2, 1], 4).is_err());
        assert!(Bitmap::parse(&[1, 2, 0, 4], 4).is_ok());
        assert!(Bitmap::parse(&[1, 2, 0, 6], 4).is_err());
        assert!(Bitmap::parse(&[1, 1, 0, 6], 4).is_err());
        assert!(Bitmap::parse(&[], 4).is_err());
    }

    proptest! {
        #[test]
        fn sections_survive(runs in prop::collection::vec(1usize..90, 0..60)) {
            let mut bits = Vec::new();
            for (index, run) in runs.iter().enumerate() {
                bits.extend(std::iter::repeat_n(index % 2 == 1, *run));
            }
            let bitmap = bitmap(&bits);
            prop_assert_eq!(Bitmap::parse(&section(&bitmap), bits.len()), Ok(bitmap));
        }

        #[test]
        fn ranges_of_bits_agree_with_bools(
            bits in prop::collection::vec(any::<bool>(), 1..200),
            (from, to) in (0usize..200, 0usize..200),
        ) {
            let (from, to) = (from.min(bits.len()), to.min(bits.len()));
            let map = bitmap(&bits);
            let some = bits.get(from..to).unwrap_or_default();
            let expected = some.iter().filter(|bit| **bit).count();
            prop_assert_eq!(count_ones_in(map.words(), from, to), expected);
            let mut range = Bitmap::zeros(bits.len());
            if from <= to {
                range.set_range(from, to);
                prop_assert_eq!(range.count_ones(), to - from);
                let ones = range.range_of_ones().expect("neighbours");
                prop_assert_eq!(ones.clone(), if from < to { from..to } else { 0..0 });
                if !bits[from..to].is_empty() && from >= 2 {
                    put(&mut range.words, 0, true);
                    prop_assert_eq!(range.range_of_ones(), None);
                    put(&mut range.words, 0, false);
                    prop_assert_eq!(range.range_of_ones(), Some(ones));
                }
            }
        }

        #[test]
        fn operations_agree_with_bools(
            pairs in prop::collection::vec(any::<(bool, bool)>(), 0..200),
        ) {
            let (left, right): (Vec<bool>, Vec<bool>) = pairs.iter().copied().unzip();
            let check = |operate: fn(&mut Bitmap, &Bitmap), oracle: fn(bool, bool) -> bool| {
                let mut result = bitmap(&left);
                operate(&mut result, &bitmap(&right));
                let expected: Vec<bool> = pairs.iter().map(|&(a, b)| oracle(a, b)).collect();
                assert_eq!(result, bitmap(&expected));
                let ones: Vec<usize> = (0..expected.len()).filter(|&i| expected[i]).collect();
                assert_eq!(result.iter_ones().collect::<Vec<_>>(), ones);
                assert_eq!(result.count_ones(), ones.len());
            };
            let kept: Vec<bool> =
                pairs.iter().filter(|(_, present)| *present).map(|(bit, _)| *bit).collect();
            let both: Vec<bool> = pairs.iter().map(|&(bit, present)| bit & present).collect();
            let compressed = bitmap(&left).only_of(&bitmap(&right));
            prop_assert_eq!(&compressed, &bitmap(&kept));
            prop_assert_eq!(compressed.spread_over(&bitmap(&right)), bitmap(&both));
            check(Bitmap::and, |a, b| a & b);
            check(Bitmap::or, |a, b| a | b);
            check(|map, _| map.not(), |a, _| !a);
        }

        #[test]
        fn random_sections_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            form in 0u8..2,
            length in 0usize..400,
        ) {
            let bytes: Vec<u8> = std::iter::once(form).chain(bytes).collect();
            if let Ok(bitmap) = Bitmap::parse(&bytes, length) {
                prop_assert_eq!(bitmap.len(), length);
                prop_assert!(bitmap.iter_ones().all(|index| index < length));
            }
        }
    }
}
