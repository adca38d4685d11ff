//! Rounding of random numbers.

/// The nearest whole number, at least 0; the largest one where it does not fit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a double saturates"
)]
pub(crate) const fn whole(value: f64) -> u32 {
    value.round() as u32
}
