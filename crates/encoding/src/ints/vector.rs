//! One vector of a stream: unpacking, patches, sums of differences.

use hadal_types::limits::VECTOR_VALUES;

use super::{DELTA, Element, HEADS_END, PATCHED_DELTA, PATCHED_REFERENCE, REFERENCE};
use crate::{Cursor, EncodingError, kernels, packing};

/// An encoded vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector<'a> {
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) delta: Option<Delta>,
    pub(super) width: u8,
    pub(super) packed: &'a [u8],
    pub(super) patches: Patches<'a>,
}

/// The head of a vector of differences between neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delta {
    pub(super) first: i64,
    /// The number that is subtracted from each difference.
    pub(super) step: i64,
}

/// The bits of some values above the width: value = packed + extra × 2^width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patches<'a> {
    count: usize,
    extra_bytes: u8,
    /// The length of the vector.
    end: usize,
    /// Two bytes per position, ascending.
    positions: &'a [u8],
    /// `extra_bytes` bytes per extra: a signed integer.
    extras: &'a [u8],
}

impl<'a> Vector<'a> {
    /// The vector that heads are parsed into.
    pub(super) const EMPTY: Self = Self {
        min: 0,
        max: 0,
        delta: None,
        width: 0,
        packed: &[],
        patches: Patches { count: 0, extra_bytes: 0, end: 0, positions: &[], extras: &[] },
    };

    /// Reads a head into an empty vector; `base` is the min of the previous vector.
    /// [`Self::parse_body`] reads the rest.
    ///
    /// In place, because moving a vector costs more than reading one.
    #[inline]
    pub(super) fn parse_head(
        &mut self,
        cursor: &mut Cursor<'_>,
        base: i64,
    ) -> Result<(), EncodingError> {
        let form = cursor.u8()?;
        self.min = base.wrapping_add(cursor.zigzag()?);
        let range = cursor.varint()?;
        self.max = self.min.wrapping_add(range.cast_signed());
        self.width = match form {
            REFERENCE => packing::bit_width(range),
            DELTA..PATCHED_REFERENCE => form - DELTA,
            PATCHED_REFERENCE..PATCHED_DELTA => form - PATCHED_REFERENCE,
            PATCHED_DELTA..HEADS_END => form - PATCHED_DELTA,
            byte => return Err(EncodingError::Unknown { what: "vector form", byte }),
        };
        if matches!(form, DELTA..PATCHED_REFERENCE | PATCHED_DELTA..) {
            let first = self.min.wrapping_add(cursor.varint()?.cast_signed());
            self.delta = Some(Delta { first, step: cursor.zigzag()? });
        }
        if form >= PATCHED_REFERENCE {
            self.patches.count = cursor.length("patches of a vector", VECTOR_VALUES)?;
            self.patches.extra_bytes = cursor.u8()?;
            if !matches!(self.patches.extra_bytes, 1 | 2 | 4 | 8) {
                let byte = self.patches.extra_bytes;
                return Err(EncodingError::Unknown { what: "size of patches", byte });
            }
        }
        Ok(())
    }

    /// Reads the packed values of a vector of this length.
    #[inline]
    pub(super) fn parse_body(
        &mut self,
        cursor: &mut Cursor<'a>,
        length: usize,
    ) -> Result<(), EncodingError> {
        self.packed = cursor.take(packing::packed_bytes(length, self.width))?;
        if !self.is_patched() {
            return Ok(());
        }
        self.patches.positions = cursor.take(self.patches.count * 2)?;
        self.patches.extras =
            cursor.take(self.patches.count * usize::from(self.patches.extra_bytes))?;
        self.patches.end = length;
        Ok(())
    }

    /// Whether some values have more bits than the packed ones.
    pub(super) const fn is_patched(&self) -> bool {
        self.patches.count > 0
    }

    /// Decodes the vector's `length` values, each plus `bias`, to the front of `out`.
    pub(super) fn decode<S: Element>(&self, length: usize, bias: S, out: &mut [S; VECTOR_VALUES]) {
        match self.delta {
            Some(delta) if self.width == 0 => self.progress(delta, bias, &mut out[..length]),
            Some(delta) => {
                self.unpack(length, S::from_u64(delta.step.cast_unsigned()), out);
                // The first packed value is a placeholder, so the sum begins one step early.
                let before = delta.first.wrapping_sub(delta.step);
                let mut sum = bias.plus(S::from_u64(before.cast_unsigned()));
                for slot in &mut out[..length] {
                    sum = sum.plus(*slot);
                    *slot = sum;
                }
            }
            None => self.unpack(length, bias.plus(S::from_u64(self.min.cast_unsigned())), out),
        }
    }

    fn unpack<S: Element>(&self, length: usize, base: S, out: &mut [S; VECTOR_VALUES]) {
        if length == VECTOR_VALUES {
            kernels::unpack(self.packed, self.width, base, out);
        } else {
            packing::unpack(self.packed, length, self.width, |index, value| {
                out[index] = base.plus(S::from_u64(value));
            });
        }
        self.for_each_patch(|position, extra| {
            out[position] = out[position].plus(S::from_u64(extra));
        });
    }

    /// Differences of width 0: fills the values from patch to patch.
    fn progress<S: Element>(&self, delta: Delta, bias: S, out: &mut [S]) {
        let step = S::from_u64(delta.step.cast_unsigned());
        let before = delta.first.wrapping_sub(delta.step);
        let mut last = bias.plus(S::from_u64(before.cast_unsigned()));
        let mut start = 0;
        let fill = |slots: &mut [S], last: &mut S| {
            let mut value = *last;
            for slot in slots {
                value = value.plus(step);
                *slot = value;
            }
            *last = value;
        };
        self.for_each_patch(|position, extra| {
            fill(&mut out[start..position], &mut last);
            last = last.plus(S::from_u64(extra));
            start = position;
        });
        fill(&mut out[start..], &mut last);
    }

    /// The extra of the patch at this position, modulo 2^64; 0 without a patch, which is the usual
    /// case.
    pub(super) fn extra_at(&self, place: usize) -> u64 {
        let mut result = 0;
        self.for_each_patch(|position, extra| {
            if position == place {
                result = extra;
            }
        });
        result
    }

    /// Calls `put` with each patch's position and extra, modulo 2^64; positions ascend and are
    /// below the length. A stored position that breaks this order is no patch. That is checked only
    /// here: checking all positions when heads are parsed would wait for memory all over the
    /// stream.
    pub(super) fn for_each_patch(&self, put: impl FnMut(usize, u64)) {
        match self.patches.extra_bytes {
            1 => self.patches.for_each::<1>(self.width, put),
            2 => self.patches.for_each::<2>(self.width, put),
            4 => self.patches.for_each::<4>(self.width, put),
            _ => self.patches.for_each::<8>(self.width, put),
        }
    }
}

impl Patches<'_> {
    fn for_each<const BYTES: usize>(&self, width: u8, mut put: impl FnMut(usize, u64)) {
        let (positions, _) = self.positions.as_chunks::<2>();
        let (extras, _) = self.extras.as_chunks::<BYTES>();
        let mut next = 0;
        for (position, extra) in positions.iter().zip(extras) {
            let position = usize::from(u16::from_le_bytes(*position));
            if (next..self.end).contains(&position) {
                put(position, shifted(extra, width));
                next = position + 1;
            }
        }
    }
}

/// A signed extra × 2^width, modulo 2^64. `extra` must have 1 to 8 bytes.
#[inline]
fn shifted(extra: &[u8], width: u8) -> u64 {
    let is_negative = extra.last().is_some_and(|last| *last >= 0x80);
    let mut wide = [if is_negative { 0xFF } else { 0 }; 8];
    wide[..extra.len()].copy_from_slice(extra);
    u64::from_le_bytes(wide).checked_shl(width.into()).unwrap_or_default()
}
