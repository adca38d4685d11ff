//! Numbers as JSON with all their digits, and whether storing them keeps all digits.

use hadal_types::Number;

use super::cell_writer::Setting;
use super::losses::{Loss, Losses};

/// Appends a JSON value: a finite number, a boolean or a string.
pub(super) fn push_json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    drop(serde_json::to_writer(out, value));
}

/// Writes a double. Returns false for NaN and infinity, except in a list: elements of lists are
/// strings, so every value can be written.
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

/// Writes the decimal `mantissa` × 10^−`scale`.
pub(super) fn decimal(
    mantissa: &str,
    scale: i8,
    setting: Setting,
    out: &mut Vec<u8>,
    losses: &mut Losses,
) {
    /// Up to this number of digits, before and after the point, no number is rounded.
    const SAFE: usize = 18;
    let start = out.len();
    push_decimal(mantissa, scale, out);
    // Elements of lists are strings, which keep all digits.
    if !setting.is_element && (mantissa.len() > SAFE || !(0..=18).contains(&scale)) {
        let text = std::str::from_utf8(&out[start..]).unwrap_or_default();
        if matches!(Number::read(text), Ok((_, true))) {
            losses.add(Loss::Digits);
        }
    }
}

/// Appends a mantissa with its decimal point.
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
            // All digits but the zeros fit a decimal or a double.
            ("1000000000000000000000", 20, "10.00000000000000000000", 0),
            ("1", -40, "10000000000000000000000000000000000000000", 0),
            ("18446744073709551615", 0, "18446744073709551615", 0),
            ("1234567890123456789012345", 5, "12345678901234567890.12345", 0),
            (
                "12345678901234567890123456789012345678",
                36,
                "12.345678901234567890123456789012345678",
                0,
            ),
            (
                "12345678901234567890123456789012345678",
                37,
                "1.2345678901234567890123456789012345678",
                1,
            ),
            (
                "1234567890123456789012345678901234567890",
                0,
                "1234567890123456789012345678901234567890",
                1,
            ),
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
