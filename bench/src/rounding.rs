//! Rounding of random numbers.

/// The nearest integer, at least 0 and at most the largest `u32`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a double saturates"
)]
pub(crate) const fn whole(value: f64) -> u32 {
    value.round() as u32
}
