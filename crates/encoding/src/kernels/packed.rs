//! Bit packing of full vectors: 1,024 values in FastLanes order, so that a plain loop over lanes
//! becomes SIMD on any machine (Afroozeh and Boncz, "The FastLanes Compression Layout", VLDB 2023).
//!
//! A vector of width w is w *words* of 1,024 bits: T-bit words of L = 1024 / T adjacent lanes, T
//! the smallest of 8, 16, 32, 64 with w <= T. A *row* is one value of every lane. Row r begins at
//! bit r × w of the words, so it is one or two words, shifted and masked; its values are L
//! neighbours of the vector:
//!
//! ```text
//!           lane 0  lane 1  ... lane L-1
//!  word 0   1110000 1110000     1110000     row 0 is bits 0..w of word 0, row 1 the next w bits,
//!  word 1   2222111 2222111     2222111     here cut by the end of the word ...
//! ```
//!
//! The width is a variable, not a constant. A row is 1,024 bits, so the loop around it costs
//! little, and one loop per T serves every width. (One function per width, as in the `fastlanes`
//! crate, would be 120 functions per kernel and level.) Input need not be aligned.

mod fold;
mod select;

use std::ops::{Add, BitAnd, BitOr, Not, Range, Shl, Shr};

use hadal_types::limits::VECTOR_VALUES;

use super::primitives::Primitives;
use super::simd_level::kernels;

pub use fold::{PackedFold, fold_packed, fold_packed_where, sum_packed, sum_packed_where};
pub use select::filter_packed;

/// Bytes of a word of all lanes.
const WORD_BYTES: usize = 128;
/// The order of rows: the first value of row r has index `ORDER[r / 8] * 16 + (r % 8) * 128`.
const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// The element type that a stream decodes to: wide integers, or codes.
pub trait Element: Copy + Default {
    /// The value modulo the element's size.
    fn from_u64(value: u64) -> Self;
    /// Addition modulo the element's size.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

impl Element for i64 {
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value.cast_signed()
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Element for u32 {
    #[expect(clippy::cast_possible_truncation, reason = "modulo is what is promised")]
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

kernels! {
    /// Appends the low `width` bits of each value: 128 × width bytes.
    ///
    /// # Panics
    /// When `width` is over 64.
    pub fn pack(values: &[u64; VECTOR_VALUES], width: u8, out: &mut Vec<u8>) = pack_body;

    /// Fills `out` with `base` + each of the 1,024 values of `width` bits in `bytes`, modulo the
    /// element's size.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn unpack[S: Element](
        bytes: &[u8], width: u8, base: S, out: &mut [S; VECTOR_VALUES],
    ) = unpack_body;

    /// Like [`unpack`], for codes.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn unpack_u32(
        bytes: &[u8], width: u8, base: u32, out: &mut [u32; VECTOR_VALUES],
    ) = unpack_body;

    /// Like [`unpack`], for wide integers.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn unpack_i64(
        bytes: &[u8], width: u8, base: i64, out: &mut [i64; VECTOR_VALUES],
    ) = unpack_body;
}

/// A T-bit word of one lane.
trait Lane:
    Copy
    + Ord
    + Into<u64>
    + Add<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
{
    /// T.
    const BITS: usize;
    /// L.
    const LANES: usize = VECTOR_VALUES / Self::BITS;
    /// One value per lane.
    type Row: AsMut<[Self]>;
    /// A sum of at most T values per lane.
    type Sums;

    fn row(value: Self) -> Self::Row;
    fn no_sums() -> Self::Sums;
    fn add_wide(sums: &mut Self::Sums, lane: usize, value: Self);
    fn total(sums: &Self::Sums) -> u128;
    /// The sum of one value per lane.
    fn sum_of(primitives: impl Primitives, row: &Self::Row) -> u128;
    fn load(word: &[u8; WORD_BYTES], lane: usize) -> Self;
    /// Subtraction modulo 2^T.
    fn minus(self, other: Self) -> Self;
    fn store(row: &Self::Row, word: &mut [u8; WORD_BYTES]);
    /// The low T bits.
    fn cut(value: u64) -> Self;
}

macro_rules! lane {
    ($lane:ty, $sum:ty, $sum_of:expr) => {
        impl Lane for $lane {
            const BITS: usize = <$lane>::BITS as usize;
            type Row = [Self; Self::LANES];
            type Sums = [$sum; Self::LANES];

            #[inline(always)]
            fn row(value: Self) -> Self::Row {
                [value; Self::LANES]
            }
            #[inline(always)]
            fn no_sums() -> Self::Sums {
                [0; Self::LANES]
            }
            #[inline(always)]
            fn add_wide(sums: &mut Self::Sums, lane: usize, value: Self) {
                sums[lane] += <$sum>::from(value);
            }
            #[inline(always)]
            fn total(sums: &Self::Sums) -> u128 {
                u128::from(sums.iter().map(|sum| u64::from(*sum)).sum::<u64>())
            }
            #[inline(always)]
            fn sum_of(primitives: impl Primitives, row: &Self::Row) -> u128 {
                u128::from($sum_of(primitives, row))
            }
            lane!($lane);
        }
    };
    ($lane:ty) => {
        #[inline(always)]
        fn load(word: &[u8; WORD_BYTES], lane: usize) -> Self {
            let (lanes, _) = word.as_chunks::<{ size_of::<Self>() }>();
            Self::from_le_bytes(lanes[lane])
        }
        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }
        #[inline(always)]
        fn store(row: &Self::Row, word: &mut [u8; WORD_BYTES]) {
            let (lanes, _) = word.as_chunks_mut::<{ size_of::<Self>() }>();
            for (slot, lane) in lanes.iter_mut().zip(row) {
                *slot = lane.to_le_bytes();
            }
        }
        #[allow(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
        #[allow(clippy::unnecessary_cast, reason = "for lanes of 64 bits")]
        #[inline(always)]
        fn cut(value: u64) -> Self {
            value as Self
        }
    };
}

lane!(u8, u16, sum_of_bytes);
lane!(u16, u32, sum_of_halves);
lane!(u32, u64, sum_of_words);

#[inline(always)]
fn sum_of_bytes(primitives: impl Primitives, row: &[u8; 128]) -> u64 {
    let mut sums = [0; 8];
    for bytes in row.as_chunks::<64>().0 {
        primitives.add_eights(bytes, &mut sums);
    }
    sums.iter().sum()
}

#[inline(always)]
fn sum_of_halves(_: impl Primitives, row: &[u16; 64]) -> u64 {
    row.iter().map(|lane| u32::from(*lane)).sum::<u32>().into()
}

#[inline(always)]
fn sum_of_words(_: impl Primitives, row: &[u32; 32]) -> u64 {
    row.iter().map(|lane| u64::from(*lane)).sum()
}

impl Lane for u64 {
    const BITS: usize = 64;
    type Row = [Self; Self::LANES];
    /// Sums of the low and of the high halves, since the sum of 64 values of 64 bits does not fit
    /// 64 bits.
    type Sums = [[Self; Self::LANES]; 2];

    #[inline(always)]
    fn row(value: Self) -> Self::Row {
        [value; Self::LANES]
    }
    #[inline(always)]
    fn no_sums() -> Self::Sums {
        [[0; Self::LANES]; 2]
    }
    #[inline(always)]
    fn add_wide(sums: &mut Self::Sums, lane: usize, value: Self) {
        sums[0][lane] += value & 0xFFFF_FFFF;
        sums[1][lane] += value >> 32;
    }
    #[inline(always)]
    fn total(sums: &Self::Sums) -> u128 {
        let [low, high] = sums.map(|halves| u128::from(halves.iter().sum::<Self>()));
        low + (high << 32)
    }
    #[inline(always)]
    fn sum_of(_: impl Primitives, row: &Self::Row) -> u128 {
        let mut halves = Self::no_sums();
        row.iter().enumerate().for_each(|(lane, value)| Self::add_wide(&mut halves, lane, *value));
        Self::total(&halves)
    }
    lane!(u64);
}

/// A consumer of rows: `value(lane)` is the value with index `start + lane`.
trait Rows<T: Lane> {
    fn row(&mut self, start: usize, value: impl Fn(usize) -> T);
}

/// Calls `sink` with each row. `width` must be 1 to T.
#[inline(always)]
fn for_rows<T: Lane>(bytes: &[u8], width: usize, rows: Range<usize>, sink: &mut impl Rows<T>) {
    let (words, spare) = bytes.as_chunks::<WORD_BYTES>();
    assert!(words.len() == width && spare.is_empty(), "a packed vector's length");
    let mask = T::cut(u64::MAX) >> (T::BITS - width);
    for row in rows {
        let (index, shift) = (row * width / T::BITS, row * width % T::BITS);
        let word = &words[index];
        if shift + width <= T::BITS {
            sink.row(start_of(row), |lane| T::load(word, lane) >> shift & mask);
        } else {
            let (next, rest) = (&words[index + 1], T::BITS - shift);
            sink.row(start_of(row), |lane| {
                (T::load(word, lane) >> shift | T::load(next, lane) << rest) & mask
            });
        }
    }
}

/// The index of a row's first value.
#[inline(always)]
const fn start_of(row: usize) -> usize {
    ORDER[row / 8] * 16 + row % 8 * 128
}

/// Calls a function for the lane type of a width from 1 to 64.
macro_rules! by_lane {
    ($width:expr, $function:ident($($argument:expr),*)) => {{
        assert!($width <= 64, "a packed vector's width");
        match $width {
            0..=8 => $function::<u8>($($argument),*),
            9..=16 => $function::<u16>($($argument),*),
            17..=32 => $function::<u32>($($argument),*),
            _ => $function::<u64>($($argument),*),
        }
    }};
}

use by_lane;

/// The packed value at one index, without unpacking the others.
///
/// # Panics
/// When `width` is over 64, `bytes` is not 128 × width long, or `place` is not below 1,024.
#[must_use]
pub(crate) fn packed_value(bytes: &[u8], width: u8, place: usize) -> u64 {
    #[inline(always)]
    fn value<T: Lane>(bytes: &[u8], width: usize, place: usize) -> u64 {
        let (words, spare) = bytes.as_chunks::<WORD_BYTES>();
        assert!(words.len() == width && spare.is_empty(), "a packed vector's length");
        let lane = place % T::LANES;
        // The order is its own inverse.
        let row = ORDER[(place % 128 - lane) / 16] * 8 + place / 128;
        let (index, shift) = (row * width / T::BITS, row * width % T::BITS);
        let low = T::load(&words[index], lane) >> shift;
        let value = match shift + width <= T::BITS {
            true => low,
            false => low | T::load(&words[index + 1], lane) << (T::BITS - shift),
        };
        (value & (T::cut(u64::MAX) >> (T::BITS - width))).into()
    }

    assert!(place < VECTOR_VALUES, "a place of a vector");
    if is_empty(bytes, width) { 0 } else { by_lane!(width, value(bytes, width.into(), place)) }
}

#[inline(always)]
fn pack_body(_: impl Primitives, values: &[u64; VECTOR_VALUES], width: u8, out: &mut Vec<u8>) {
    #[inline(always)]
    fn pack<T: Lane>(values: &[u64; VECTOR_VALUES], width: usize, out: &mut [u8]) {
        let mask = T::cut(u64::MAX) >> (T::BITS - width);
        let (words, _) = out.as_chunks_mut::<WORD_BYTES>();
        let (mut words, mut pending) = (words.iter_mut(), T::row(T::cut(0)));
        for row in 0..T::BITS {
            let values = &values[start_of(row)..][..T::LANES];
            let shift = row * width % T::BITS;
            for (slot, value) in pending.as_mut().iter_mut().zip(values) {
                *slot = *slot | (T::cut(*value) & mask) << shift;
            }
            if shift + width >= T::BITS
                && let Some(word) = words.next()
            {
                T::store(&pending, word);
                // The bits that did not fit. Shifted in two steps, because all T bits may have
                // fitted.
                let stored = T::BITS - shift;
                for (slot, value) in pending.as_mut().iter_mut().zip(values) {
                    *slot = (T::cut(*value) & mask) >> (stored - 1) >> 1;
                }
            }
        }
    }

    let start = out.len();
    out.resize(start + WORD_BYTES * usize::from(width), 0);
    if width > 0 {
        by_lane!(width, pack(values, width.into(), &mut out[start..]));
    }
}

#[inline(always)]
fn unpack_body<S: Element>(
    _: impl Primitives,
    bytes: &[u8],
    width: u8,
    base: S,
    out: &mut [S; VECTOR_VALUES],
) {
    struct Unpack<'a, S> {
        base: S,
        out: &'a mut [S; VECTOR_VALUES],
    }

    impl<T: Lane, S: Element> Rows<T> for Unpack<'_, S> {
        #[inline(always)]
        fn row(&mut self, start: usize, value: impl Fn(usize) -> T) {
            for (lane, slot) in self.out[start..][..T::LANES].iter_mut().enumerate() {
                *slot = self.base.plus(S::from_u64(value(lane).into()));
            }
        }
    }

    #[inline(always)]
    fn unpack<T: Lane>(bytes: &[u8], width: usize, sink: &mut impl Rows<T>) {
        for_rows(bytes, width, 0..T::BITS, sink);
    }

    if is_empty(bytes, width) {
        return out.fill(base);
    }
    by_lane!(width, unpack(bytes, width.into(), &mut Unpack { base, out }));
}

/// Whether all values are zeros of width 0.
#[inline(always)]
fn is_empty(bytes: &[u8], width: u8) -> bool {
    assert!(width > 0 || bytes.is_empty(), "a packed vector's length");
    width == 0
}
