//! Strings that hardly repeat but for numbers in them: "user 4711 logged in" is a template with a
//! placeholder, and 4711.
//!
//! ```text
//!  templates, sorted: strings(t)     codes: one per string     numbers: by stream, in their order
//!  0  user # logged in                1 0 0 1 ...               4711 93 12 ...
//!  1  user # logged out
//! ```
//!
//! After CLP (Rodrigues, Luo and Yuan, "CLP: Efficient and Scalable Search on Compressed Text
//! Logs", OSDI 2021, section 3), but for its dictionary of variables: the other words of a message
//! stay in the template, where front coding takes what they share. Templates are few beside the
//! strings, so what has no digits in it is searched in each template once.
//!
//! What is lifted out of a string comes back digit by digit: numbers have no zero in front, and
//! anything else has a fixed number of hexadecimal digits. Layout to the byte:
//! `spec/row-block.md` section 6.

mod canonical;
mod renderer;

mod digits;
mod encode;
mod lift;
#[cfg(test)]
mod tests;
mod view;

pub use canonical::{CanonicalStrings, beginning, put_together};
pub use encode::encode_numbers;
pub use lift::{Digits, lift};
pub use view::TemplatesView;

/// Stands in a template for a decimal number: no zero in front, at most 18 digits.
const NUMBER: u8 = 0x0E;
/// Stands for one hexadecimal digit (lower case), the next byte for two, and so on up to sixteen.
const HEX: u8 = 0x10;
/// Stands for sixteen.
const HEX_LAST: u8 = 0x1F;
/// Digits of a decimal number at most, so that it fits 64 bits with a sign.
const NUMBER_DIGITS_MAX: usize = 18;
/// Decimal numbers are below this.
const NUMBER_LIMIT: u64 = 1_000_000_000_000_000_000;
/// Streams of numbers at most.
const STREAMS_MAX: usize = 16;

const fn is_placeholder(byte: u8) -> bool {
    byte == NUMBER || matches!(byte, HEX..=HEX_LAST)
}
