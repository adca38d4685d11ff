//! Parses the most common time format without a general parser: `2026-11-21T03:51:42.5Z`.

use hadal_types::Micros;

use super::civil::{days, days_of};

/// Parses a date and a time of day with seconds. `T` or a space separates them; decimals of the
/// second and a final `Z` are optional. Returns the time in UTC, and whether the text names UTC.
/// `None` for all other texts, times or not.
#[inline]
pub(super) fn read(text: &str) -> Option<(Micros, bool)> {
    let (head, tail) = text.as_bytes().split_first_chunk::<19>()?;
    let &[a, b, c, d, b'-', m0, m1, b'-', d0, d1, b'T' | b' ', h0, h1, b':', n0, n1, b':', s0, s1] =
        head
    else {
        return None;
    };
    let year = two(a, b)? * 100 + two(c, d)?;
    let (month, day) = (two(m0, m1)?, two(d0, d1)?);
    let (hour, minute, second) = (two(h0, h1)?, two(n0, n1)?, two(s0, s1)?);
    let is_day = year > 0 && (1..=12).contains(&month) && (1..=28).contains(&day);
    let is_time = hour < 24 && minute < 60 && second < 60;
    let is_last = !is_day && (29..=days_of(year, month)).contains(&day) && year > 0;
    if !is_time || !(is_day || is_last) {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    let has_zone = tail.last() == Some(&b'Z');
    Some((Micros(seconds * Micros::SECOND + micros(tail)?), has_zone))
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// The microseconds at the end of the text; further digits are dropped.
fn micros(tail: &[u8]) -> Option<i64> {
    let tail = tail.strip_suffix(b"Z").unwrap_or(tail);
    let Some((b'.', digits)) = tail.split_first() else { return tail.is_empty().then_some(0) };
    if !(1..=9).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let places = digits.iter().copied().chain(std::iter::repeat(b'0')).take(6);
    Some(places.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use hadal_types::time::parse_timestamp;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_spelled_so_is_left_to_others() {
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T03:51",
            "2026-11-21T03:51:60Z",
            "2026-11-21T24:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-00T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2026-11-21T03:51:42+01:00",
            "2026-11-21T03:51:42.Z",
            "2026-11-21T03:51:42.0123456789Z",
            "2026-11-21T03:51:42ZZ",
            "2026-11-2xT03:51:42Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("0001-01-01T00:00:00Z", Micros::MIN.0),
            ("9999-12-31T23:59:59.9999999Z", Micros::MAX.0),
            ("2024-02-29 00:00:00", 1_709_164_800_000_000),
        ] {
            assert_eq!(read(text).map(|(time, _)| time), Some(Micros(micros)), "{text}");
            assert_eq!(read(text).map(|(_, zone)| zone), Some(text.ends_with('Z')));
        }
    }

    proptest! {
        #[test]
        fn the_parser_agrees(
            micros in Micros::MIN.0..=Micros::MAX.0,
            unit in prop::sample::select(vec![1, 1_000, 1_000_000, 86_400_000_000]),
        ) {
            let time = Micros(micros.div_euclid(unit) * unit);
            if let Some(time) = time.in_range() {
                prop_assert_eq!(read(&time.to_string()), Some((time, true)));
            }
        }

        #[test]
        fn whatever_is_read_is_what_the_parser_reads(
            year in "[0-9]{4}", month in "0[0-9]|1[0-3]", day in "[0-3][0-9]",
            time in "[0-2][0-9]:[0-6][0-9]:[0-6][0-9]", fraction in "(\\.[0-9]{0,10})?Z?",
        ) {
            let text = format!("{year}-{month}-{day}T{time}{fraction}");
            if let Some((time, _)) = read(&text) {
                prop_assert_eq!(parse_timestamp(&text), Some(time));
            }
        }
    }
}
