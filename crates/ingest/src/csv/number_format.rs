//! Numbers as people write them: with a decimal comma, marks between thousands, a currency or `%`.
//!
//! Plain numbers, as JSON spells them, need no format.

use std::borrow::Cow;

/// Signs of currencies, before or after a number.
const CURRENCIES: [&str; 20] = [
    "$", "€", "£", "¥", "₹", "₩", "₺", "₽", "zł", "kr", "Kč", "CHF", "EUR", "USD", "GBP", "SEK",
    "NOK", "DKK", "PLN", "JPY",
];

/// A number that was spelled in some format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number<'c> {
    /// The number as JSON spells it.
    pub(super) json: Cow<'c, str>,
    /// The sign of its currency, or `%`; empty if there is none.
    pub(super) unit: &'static str,
    /// Whether it has a decimal mark or marks between thousands.
    pub(super) has_marks: bool,
}

/// Reads a number with this decimal mark, a point or a comma. The marks between thousands are the
/// other one of the two, a space or an apostrophe.
pub(super) fn read(cell: &str, decimal: u8) -> Option<Number<'_>> {
    let cell = cell.trim();
    if is_json_number(cell) && (decimal == b'.' || !cell.contains(['.', 'e', 'E'])) {
        let has_marks = cell.contains('.');
        return Some(Number { json: Cow::Borrowed(cell), unit: "", has_marks });
    }
    // Most texts are not worth more work.
    if cell.len() > 64 || !cell.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (is_negative, rest) = without_sign(cell);
    let (unit, digits) = without_unit(rest)?;
    let (is_negative, digits) = match without_sign(digits) {
        (true, _) if is_negative => return None,
        (inner, digits) => (is_negative || inner, digits),
    };
    let (whole, fraction) = match digits.split_once(char::from(decimal)) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut json = String::with_capacity(digits.len() + 1);
    if is_negative {
        json.push('-');
    }
    let is_grouped = take_whole(whole, decimal, &mut json)?;
    if let Some(fraction) = fraction {
        if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        json.push('.');
        json.push_str(fraction);
    }
    let has_marks = is_grouped || fraction.is_some();
    Some(Number { json: Cow::Owned(json), unit, has_marks })
}

/// Whether a cell is written like a JSON number; `007` and `1.` are not, they are texts.
pub(super) fn is_json_number(cell: &str) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = cell.strip_prefix('-').unwrap_or(cell).as_bytes();
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text.first() == Some(&b'0')) {
        return false;
    }
    match text.get(whole..) {
        None | Some([]) => true,
        Some([b'.', fraction @ ..]) => {
            let count = digits(fraction);
            let is_whole = count > 0 && count == fraction.len();
            is_whole || (count > 0 && is_serde_number(cell))
        }
        Some([b'e' | b'E', ..]) => is_serde_number(cell),
        Some(_) => false,
    }
}

/// The same for numbers with an exponent, which may be out of range.
fn is_serde_number(cell: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(cell).is_ok()
}

/// A minus before or after the text, or parentheses around it, as accountants write it.
fn without_sign(text: &str) -> (bool, &str) {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let rest = inner
        .or_else(|| text.strip_prefix('-'))
        .or_else(|| text.strip_prefix('\u{2212}'))
        .map(str::trim);
    rest.map_or((false, text), |rest| (true, rest))
}

/// The sign of a currency or `%`, and the text without it. `None` if there are two.
fn without_unit(text: &str) -> Option<(&'static str, &str)> {
    let units = || CURRENCIES.into_iter().chain(["%"]);
    let before = units().find_map(|unit| Some((unit, text.strip_prefix(unit)?)));
    let (before, text) = before.map_or(("", text), |(unit, text)| (unit, text.trim_start()));
    let after = units().find_map(|unit| Some((unit, text.strip_suffix(unit)?)));
    let (after, text) = after.map_or(("", text), |(unit, text)| (unit, text.trim_end()));
    match (before, after) {
        ("", unit) => Some((unit, text)),
        ("%", _) => None,
        (unit, "") => Some((unit, text)),
        _ => None,
    }
}

/// Appends the digits before the decimal mark. Returns whether there are marks between thousands.
fn take_whole(whole: &str, decimal: u8, json: &mut String) -> Option<bool> {
    let other = if decimal == b'.' { ',' } else { '.' };
    let marks = [other, ' ', '\'', '\u{2019}', '\u{a0}', '\u{202f}'];
    let mark = whole.chars().find(|character| marks.contains(character));
    let mut groups = whole.split(|character| Some(character) == mark);
    let first = groups.next().unwrap_or_default();
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_first =
        !first.is_empty() && is_digits(first) && (first == "0" || !first.starts_with('0'));
    if !is_first || (mark.is_some() && (first.len() > 3 || first == "0")) {
        return None;
    }
    json.push_str(first);
    for group in groups {
        if group.len() != 3 || !is_digits(group) {
            return None;
        }
        json.push_str(group);
    }
    Some(mark.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(cell: &str, decimal: u8) -> Option<String> {
        read(cell, decimal).map(|number| number.json.into_owned())
    }

    #[test]
    fn numbers_have_marks() {
        for (cell, with_point, with_comma) in [
            ("12", Some("12"), Some("12")),
            ("-1.5", Some("-1.5"), None),
            ("10,20", None, Some("10.20")),
            ("1.299,99", None, Some("1299.99")),
            ("1,299.99", Some("1299.99"), None),
            ("1,234", Some("1234"), Some("1.234")),
            ("1.234", Some("1.234"), Some("1234")),
            ("1,234,567", Some("1234567"), None),
            ("0,123", None, Some("0.123")),
            ("1\u{a0}234,5", None, Some("1234.5")),
            ("1\u{202f}234", Some("1234"), Some("1234")),
            ("1'234.50", Some("1234.50"), None),
            ("1 234 567", Some("1234567"), Some("1234567")),
            ("\u{2212}5", Some("-5"), Some("-5")),
            ("(1,234.50)", Some("-1234.50"), None),
            ("1e3", Some("1e3"), None),
        ] {
            assert_eq!(json(cell, b'.').as_deref(), with_point, "{cell}");
            assert_eq!(json(cell, b',').as_deref(), with_comma, "{cell}");
        }
    }

    #[test]
    fn units_are_left_out_and_named() {
        let unit = |cell| read(cell, b'.').map(|number| (number.json.into_owned(), number.unit));
        let expected = |json: &str, unit| Some((json.to_owned(), unit));
        assert_eq!(unit("€12.30"), expected("12.30", "€"));
        assert_eq!(unit("12.30 €"), expected("12.30", "€"));
        assert_eq!(unit("-$1,000"), expected("-1000", "$"));
        assert_eq!(unit("$-5"), expected("-5", "$"));
        assert_eq!(unit("CHF 1'000.00"), expected("1000.00", "CHF"));
        assert_eq!(unit("5%"), expected("5", "%"));
        assert_eq!(unit("5 %"), expected("5", "%"));
        for none in ["", "$", "€5$", "%5", "5%%", "--5", "(-5)", "$ €5"] {
            assert_eq!(unit(none), None, "{none}");
        }
    }

    #[test]
    fn codes_and_words_are_no_numbers() {
        for cell in [
            "007",
            "1.",
            ".5",
            "+1",
            "1,2,3",
            "12,34.5",
            "1.2.3",
            "01.02.2024",
            "1,,000",
            "1, 000",
            "0,000,1",
            "12 kg",
            "1234,567.8",
            "x",
            "1_000",
            "192.0.2.1",
            "é",
        ] {
            assert_eq!(json(cell, b'.'), None, "{cell}");
        }
        for cell in ["10.5", "007", "1e3", "1.2.3", "01.02.2024", "1,5,5", "5,", ",5"] {
            assert_eq!(json(cell, b','), None, "{cell}");
        }
    }
}
