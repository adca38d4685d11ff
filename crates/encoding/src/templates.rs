//! Strings that are unique only because of numbers in them: "user 4711 logged in" is a template
//! with a placeholder, and the number 4711.
//!
//! ```text
//!  templates, sorted: strings(t)     codes: one per string     numbers: by stream, in their order
//!  0  user # logged in                1 0 0 1 ...               4711 93 12 ...
//!  1  user # logged out
//! ```
//!
//! Follows CLP (Rodrigues, Luo and Yuan, "CLP: Efficient and Scalable Search on Compressed Text
//! Logs", OSDI 2021, section 3), but without its dictionary of variables. Other words of a message
//! stay in the template, where front coding stores shared prefixes once. There are far fewer
//! templates than strings, so a text without digits is searched once per template.
//!
//! A number that was lifted out of a string is restored digit by digit: decimal numbers have no
//! leading zero, and all other numbers have a fixed number of hexadecimal digits. Layout to the
//! byte: `spec/row-block.md` section 6.

mod canonical;
mod renderer;

mod digits;
mod encode;
mod lift;
#[cfg(test)]
mod tests;
mod view;

pub use canonical::{CanonicalStrings, beginning, cmp_texts, put_together};
pub use encode::encode_numbers;
pub use lift::{Digits, lift};
pub use view::TemplatesView;

/// The placeholder of a decimal number: no leading zero, at most 18 digits.
const NUMBER: u8 = 0x0E;
/// The placeholder of one hexadecimal digit (lower case); the next byte is that of two digits, and
/// so on up to sixteen.
const HEX: u8 = 0x10;
/// The placeholder of sixteen digits.
const HEX_LAST: u8 = 0x1F;
/// Maximum digits of a decimal number, so that it fits 64 bits with a sign.
const NUMBER_DIGITS_MAX: usize = 18;
/// Decimal numbers are below this.
const NUMBER_LIMIT: u64 = 1_000_000_000_000_000_000;
/// Maximum number of streams.
const STREAMS_MAX: usize = 16;

const fn is_placeholder(byte: u8) -> bool {
    byte == NUMBER || matches!(byte, HEX..=HEX_LAST)
}
