//! Numbers as JSON: digits as they are, and whether a row block column can keep them all.

use hadal_types::Number;

use super::cells::Setting;
use super::losses::{Loss, Losses};

/// Appends a value that JSON has: a number that is finite, a truth, a text.
pub(super) fn push_json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    drop(serde_json::to_writer(out, value));
}

/// A whole number, which may be larger than stored decimals are.
pub(super) fn unsigned(value: u64, setting: Setting, out: &mut Vec<u8>, losses: &mut Losses) {
    let start = out.len();
    push_json(&value, out);
    if i64::try_from(value).is_err() {
        check_digits(start, setting, out, losses);
    }
}

/// A double; false for what is no number. In a list, whose elements are texts, there is nothing
/// that is none.
pub(super) fn double<F: Into<f64> + Copy + serde::Serialize>(
    value: F,
    setting: Setting,
    out: &mut Vec<u8>,
    losses: &mut Losses,
) -> bool {
    let wide: f64 = value.into();
    match (wide.is_finite(), setting.is_element) {
        (true, _) => push_json(&value, out),
        (false, true) => push_json(&wide.to_string(), out),
        (false, false) => losses.add(Loss::NotFinite),
    }
    wide.is_finite() || setting.is_element
}

/// The decimal mantissa × 10^−scale, the mantissa as text.
pub(super) fn decimal(
    mantissa: &str,
    scale: i8,
    setting: Setting,
    out: &mut Vec<u8>,
    losses: &mut Losses,
) {
    /// So many digits fit any stored decimal.
    const SAFE: usize = 18;
    let start = out.len();
    push_decimal(mantissa, scale, out);
    if mantissa.len() > SAFE || !(0..=18).contains(&scale) {
        check_digits(start, setting, out, losses);
    }
}

/// Appends a mantissa with its point where the scale has it.
pub(super) fn push_decimal(mantissa: &str, scale: i8, out: &mut Vec<u8>) {
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    out.extend_from_slice(sign.as_bytes());
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        out.extend_from_slice(digits.as_bytes());
        if places > 0 && digits != "0" {
            out.resize(out.len() + places, b'0');
        }
        return;
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    out.extend_from_slice(whole.as_bytes());
    out.push(b'.');
    out.extend_from_slice(fraction.as_bytes());
}

/// Counts a number, spelled from `start` on, that is not stored with all its digits.
fn check_digits(start: usize, setting: Setting, out: &[u8], losses: &mut Losses) {
    // Elements of lists are texts, which keep all.
    let text = std::str::from_utf8(&out[start..]).unwrap_or_default();
    let stored = match text.parse() {
        Ok(Number::Double(double)) => format!("{double:e}"),
        // A double of few digits is kept as a decimal.
        Ok(Number::Decimal(decimal)) => decimal.to_string(),
        Err(_) => return,
    };
    if !setting.is_element && significant(text) != significant(&stored) {
        losses.add(Loss::Digits);
    }
}

/// Digits between the first and the last that is not zero, exponent aside.
fn significant(text: &str) -> String {
    let mantissa = text.split('e').next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal_text(mantissa: &str, scale: i8) -> (String, usize) {
        let (mut out, mut losses) = (Vec::new(), Losses::default());
        decimal(mantissa, scale, Setting::default(), &mut out, &mut losses);
        (String::from_utf8(out).expect("utf-8"), losses.notes("x").count())
    }

    #[test]
    fn decimals_keep_their_digits_and_say_when_they_cannot() {
        for (mantissa, scale, text, lost) in [
            ("12345", 2, "123.45", 0),
            ("-5", 3, "-0.005", 0),
            ("0", 2, "0.00", 0),
            ("12", -3, "12000", 0),
            ("9223372036854775807", 0, "9223372036854775807", 0),
            // All but the zeros fit a decimal, or a double.
            ("1000000000000000000000", 20, "10.00000000000000000000", 0),
            ("1000000000000000000000000", 0, "1000000000000000000000000", 0),
            ("9223372036854775809", 0, "9223372036854775809", 1),
            ("1234567890123456789012345", 5, "12345678901234567890.12345", 1),
        ] {
            assert_eq!(decimal_text(mantissa, scale), (text.to_owned(), lost), "{mantissa}");
        }
    }

    #[test]
    fn doubles_are_numbers_or_nothing() {
        let mut losses = Losses::default();
        let mut text = |value: f64, is_element| {
            let (mut out, setting) = (Vec::new(), Setting { is_element, ..Setting::default() });
            let is_there = double(value, setting, &mut out, &mut losses);
            is_there.then(|| String::from_utf8(out).expect("utf-8"))
        };
        assert_eq!(text(0.1, false).as_deref(), Some("0.1"));
        assert_eq!(text(f64::NAN, false), None);
        assert_eq!(text(f64::NEG_INFINITY, true).as_deref(), Some("\"-inf\""));
        assert_eq!(losses.notes("x").count(), 1);
        let (mut out, mut losses) = (Vec::new(), Losses::default());
        assert!(double(0.1_f32, Setting::default(), &mut out, &mut losses));
        assert_eq!(out, b"0.1");
    }
}
