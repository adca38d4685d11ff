//! Hashes integers, and splits hashes into a register of a HyperLogLog sketch and its rank, many at
//! a time.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Sets `out[i]` to the hash of `values[i]` ^ `salt`: the finalizer of MurmurHash3 (A.
    /// Appleby). Every bit of the input affects every bit of the hash, and no two integers share a
    /// hash.
    ///
    /// # Panics
    /// When `out` is not as long as `values`.
    pub fn hash_i64(values: &[i64], salt: u64, out: &mut [u64]) = hash_i64_body;

    /// Sets `out[i]` to register · 256 + rank of a hash. The first `bits` bits are the register;
    /// the rank is one more than the leading zeros of the other bits.
    ///
    /// # Panics
    /// When `out` is not as long as `hashes`, or `bits` is 0 or more than 24.
    pub fn register_ranks(hashes: &[u64], bits: u32, out: &mut [u32]) = register_ranks_body;
}

#[inline(always)]
fn hash_i64_body(_: impl Primitives, values: &[i64], salt: u64, out: &mut [u64]) {
    assert_eq!(out.len(), values.len(), "places for hashes");
    for (slot, value) in out.iter_mut().zip(values) {
        let bits = value.cast_unsigned() ^ salt;
        let bits = (bits ^ (bits >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        let bits = (bits ^ (bits >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        *slot = bits ^ (bits >> 33);
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "24 bits and a rank of at most 64")]
fn register_ranks_body(_: impl Primitives, hashes: &[u64], bits: u32, out: &mut [u32]) {
    assert_eq!(out.len(), hashes.len(), "places for ranks");
    assert!((1..=24).contains(&bits), "{bits} bits for a register, of 1 to 24");
    for (slot, hash) in out.iter_mut().zip(hashes) {
        // The one after the last bit ends the zeros.
        let rest = (hash << bits) | (1 << (bits - 1));
        let register = hash >> (64 - bits);
        *slot = (register << 8) as u32 | (rest.leading_zeros() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;

    const LENGTHS: [usize; 7] = [0, 1, 7, 64, 1_023, 1_024, 3_000];

    fn values() -> Vec<i64> {
        let mut seed = 5u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed.cast_signed() >> (seed >> 58)
        };
        (0..3_000).map(|_| next()).collect()
    }

    /// The finalizer as written in the reference code.
    fn fmix64(mut k: u64) -> u64 {
        k ^= k >> 33;
        k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
        k ^= k >> 33;
        k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        k ^ (k >> 33)
    }

    #[test]
    fn all_levels_hash_as_one_value_at_a_time() {
        let values = values();
        for (level, length) in
            Level::available().into_iter().flat_map(|level| LENGTHS.map(|length| (level, length)))
        {
            for salt in [0, 0x9E37_79B9_7F4A_7C15] {
                let mut out = vec![0; length];
                level.hash_i64(&values[..length], salt, &mut out);
                for (&value, &hash) in values.iter().zip(&out) {
                    assert_eq!(hash, fmix64(value.cast_unsigned() ^ salt), "{}", level.name());
                }
            }
        }
    }

    #[test]
    fn all_levels_split_hashes_as_one_at_a_time() {
        let extremes = [0, 1, u64::MAX, 1 << 63, (1 << 50) - 1, 1 << 49];
        let hashes = values().into_iter().map(i64::cast_unsigned);
        let hashes: Vec<u64> = extremes.into_iter().chain(hashes).take(3_000).collect();
        for (level, length) in
            Level::available().into_iter().flat_map(|level| LENGTHS.map(|length| (level, length)))
        {
            for bits in [1, 14, 24] {
                let mut out = vec![0; length];
                level.register_ranks(&hashes[..length], bits, &mut out);
                for (&hash, &register_rank) in hashes.iter().zip(&out) {
                    let digits = format!("{hash:064b}");
                    let (register, rest) = digits.split_at(bits as usize);
                    let zeros = rest.find('1').unwrap_or(rest.len());
                    assert_eq!(
                        u64::from(register_rank >> 8),
                        u64::from_str_radix(register, 2).expect("bits")
                    );
                    assert_eq!(
                        (register_rank & 255) as usize,
                        zeros + 1,
                        "{hash} {}",
                        level.name()
                    );
                }
            }
        }
    }
}
