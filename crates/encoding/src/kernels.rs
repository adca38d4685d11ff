//! SIMD kernels: loops over whole slices and vectors, compiled for each level of processor.
//!
//! A kernel is a free function that runs at this processor's level. Tests and benchmarks call the
//! method of [`Level`] with the same name to choose another level. At all levels the results equal
//! the results of the twins in [`scalar`], to the bit; the twins define each kernel's meaning.
//! Kernels are compiled and dispatched in `simd_level.rs`; only `x86.rs` names instructions.
//!
//! Arguments that do not fit each other (lengths, widths, codes beyond a table) panic before
//! anything is read. No kernel reads or writes out of bounds, whatever its arguments.

mod add_i64;
mod delimiters;
mod expand_compress;
mod exponent_buckets;
mod mask;
mod primitives;
mod run_add;
mod run_stats;

mod compare;
mod fold;
mod hashes;
mod packed;
mod packed_sums;
pub mod scalar;
mod scatter;
mod simd_level;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use add_i64::{add_side_by_side, gather_i64, weigh_u32, widen_ranges_by, widen_u32};
pub use compare::{
    Comparison, between_f64, between_i64, between_u32, compare_f64, compare_i64, compare_u32,
    in_codes,
};
pub use delimiters::mark_delimiters;
pub use expand_compress::{compress_bits, expand_bits, expand_i64, expand_u32, indexes_of};
pub use exponent_buckets::{BucketCounts, ExponentBuckets, ScaledSteps, count_exponent_buckets};
pub use fold::{
    count_ones, dot_u32, min_max_i64, min_max_i64_where, min_max_u32, min_max_u32_where, sum_i64,
    sum_i64_where, sum_u32, sum_u32_where,
};
pub use hashes::{hash_i64, register_ranks};
pub use mask::{mask_i64, mask_u32};
pub(crate) use packed::packed_value;
pub use packed::{
    Element, PackedFold, filter_packed, fold_packed, fold_packed_where, pack, sum_packed,
    sum_packed_where, unpack, unpack_i64, unpack_u32,
};
pub use packed_sums::{Addend, add_lanes_by};
pub use run_add::{add_adjacent, add_scaled, breaks_u32, scale, widen_adjacent};
pub use run_stats::{count_beyond, count_changes};
pub use scatter::{append_codes, bucket_u32, count_by, gather_u32, index_among, prepend_numbers};
pub use simd_level::Level;
