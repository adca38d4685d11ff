//! Time zones: offsets, names and abbreviations, as options and after a time of day.

use jiff::tz::TimeZone;

/// Abbreviations that mean one zone to most people, with minutes east of Greenwich. In lists of
/// time zones some have another, rarer meaning.
const ABBREVIATIONS: [(&str, i32); 41] = [
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("Z", 0),
    ("WET", 0),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEZ", 60),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("TRT", 180),
    ("EAT", 180),
    ("CAT", 120),
    ("WAT", 60),
    ("SAST", 120),
    ("BRT", -180),
    ("NST", -210),
    ("NDT", -150),
    ("EST", -300),
    ("EDT", -240),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("PKT", 300),
    ("WIB", 420),
    ("HKT", 480),
    ("SGT", 480),
    ("AWST", 480),
    ("JST", 540),
    ("KST", 540),
    ("AEST", 600),
    ("AEDT", 660),
];

/// Abbreviations that several zones have, or that are used for the whole year of a zone with two
/// offsets. A time with one of them is not read: any choice would be wrong for somebody.
const AMBIGUOUS: [&str; 22] = [
    "IST", "CST", "BST", "AST", "ADT", "ECT", "GST", "SST", "AMT", "ACT", "BOT", "COT", "PET",
    "ART", "CLT", "WST", "ET", "CT", "MT", "PT", "NZST", "NZDT",
];

/// The longest name that is looked up.
const NAME_BYTES_MAX: usize = 40;

/// The offset of a civil time from UTC.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Zone {
    /// Seconds east of Greenwich.
    Offset(i32),
    /// A zone of the time zone database, whose offset depends on the day.
    Named(TimeZone),
}

impl Zone {
    pub(crate) const UTC: Self = Self::Offset(0);

    /// Reads the option `zone`: `Europe/Berlin`, `+02:00`, `UTC`, `CET`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of_option(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if is_ambiguous(name) {
            return Err(format!(
                "{text:?}, which several zones are called; it may be a name such as \
                 Europe/Berlin, or an offset such as +02:00"
            ));
        }
        let is_whole = |(zone, end): (Self, usize)| (end == name.len()).then_some(zone);
        let zone = offset(name)
            .and_then(is_whole)
            .or_else(|| abbreviation(name).map(Self::Offset))
            .or_else(|| named(name));
        zone.ok_or_else(|| {
            format!("{text:?}; it may be a name such as Europe/Berlin, or an offset such as +02:00")
        })
    }
}

/// The zone at the beginning of a text that follows a time of day, and the number of its bytes.
/// `None` if no zone is there, or one that cannot be understood.
pub(super) fn read_start(text: &str) -> Option<(Zone, usize)> {
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let rest = &text[blanks..];
    let (zone, end) = if let Some((zone, end)) = offset(rest) {
        (zone, end + note_bytes(&rest[end..]))
    } else if let Some((name, end)) = bracketed(rest) {
        (named(name)?, end)
    } else {
        word_zone(rest)?
    };
    Some((zone, blanks + end))
}

/// Whether a text begins, after blanks, with a zone that cannot be understood.
pub(super) fn starts_ambiguous(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\t', '[', '(']);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    rest.len() < text.len() && is_ambiguous(&rest[..end])
}

/// An abbreviation, a zone's name with a slash, or `GMT+0200`.
fn word_zone(text: &str) -> Option<(Zone, usize)> {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let letters = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
    let (word, after) = text.split_at(letters);
    if after.starts_with('/') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
        let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
        return Some((named(&text[..end])?, end));
    }
    if matches!(word, "GMT" | "UTC")
        && let Some((zone, end)) = offset(after)
    {
        let end = letters + end;
        return Some((zone, end + note_bytes(&text[end..])));
    }
    if after.starts_with(|c: char| c.is_ascii_digit() || c == '_') {
        return None;
    }
    let zone = Zone::Offset(abbreviation(word)?);
    Some((zone, letters + clock_note_bytes(after)))
}

/// An offset in hours, or hours and minutes: `+02`, `+0200`, `+02:00`, `-07:00:00`.
fn offset(text: &str) -> Option<(Zone, usize)> {
    let bytes = text.as_bytes();
    let sign = match bytes.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |at: usize| {
        let digits = bytes.get(at..at + 2).filter(|two| two.iter().all(u8::is_ascii_digit))?;
        digits.iter().try_fold(0_i32, |value, digit| Some(value * 10 + i32::from(digit - b'0')))
    };
    // `+2` and `+2:00` have one digit.
    let (hours, mut end) = match two(1) {
        Some(hours) => (hours, 3),
        None => (i32::from(bytes.get(1).filter(|digit| digit.is_ascii_digit())? - b'0'), 2),
    };
    let mut seconds = hours * 3_600;
    for unit in [60, 1] {
        let colon = usize::from(bytes.get(end) == Some(&b':'));
        let Some(value) = two(end + colon) else { break };
        if value > 59 {
            return None;
        }
        seconds += value * unit;
        end += colon + 2;
    }
    let is_over = bytes.get(end).is_none_or(|byte| !byte.is_ascii_digit());
    (hours <= 18 && is_over).then_some((Zone::Offset(sign * seconds), end))
}

/// The length of the notes after an offset, which add nothing to it: an abbreviation, the offset
/// again, a name in brackets or parentheses, and the monotonic clock of Go.
fn note_bytes(text: &str) -> usize {
    let rest = text.trim_start_matches(' ');
    let blanks = text.len() - rest.len();
    let letters = rest.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(rest.len());
    let word = &rest[..letters];
    let end = if abbreviation(word).is_some() || is_ambiguous(word) {
        letters
    } else if let Some((name, end)) = bracketed(rest).filter(|(name, _)| named(name).is_some()) {
        debug_assert!(!name.is_empty());
        end
    } else if rest.starts_with('(') {
        rest.find(')').map_or(0, |end| end + 1)
    } else if blanks > 0 {
        offset(rest).map_or(0, |(_, end)| end)
    } else {
        0
    };
    let notes = if end == 0 { 0 } else { blanks + end };
    notes + clock_note_bytes(&text[notes..])
}

/// The length of ` m=+0.500123`, the monotonic clock in a text of Go's `Time.String`.
fn clock_note_bytes(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(" m=") else { return 0 };
    let is_number = |c: char| c.is_ascii_digit() || "+-.".contains(c);
    text.len() - rest.trim_start_matches(is_number).len()
}

/// The text in the brackets at the beginning, and the number of bytes with the brackets.
fn bracketed(text: &str) -> Option<(&str, usize)> {
    let end = text.strip_prefix('[')?.find(']')?;
    Some((&text[1..=end], end + 2))
}

fn abbreviation(word: &str) -> Option<i32> {
    let found = ABBREVIATIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))?;
    Some(found.1 * 60)
}

fn is_ambiguous(word: &str) -> bool {
    AMBIGUOUS.contains(&word)
}

fn named(name: &str) -> Option<Zone> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    TimeZone::get(name).ok().map(Zone::Named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_after_a_time_are_read() {
        for (text, seconds, rest) in [
            ("Z", 0, ""),
            (" UTC: up", 0, ": up"),
            (" +0100 [error]", 3_600, " [error]"),
            ("+01:00", 3_600, ""),
            ("-07", -25_200, ""),
            ("+05:30:00", 19_800, ""),
            (" CEST [42]", 7_200, " [42]"),
            (" GMT+0200 (Central European Summer Time)", 7_200, ""),
            (" UTC+2", 7_200, ""),
            (" +0100 CET m=+0.500123", 3_600, ""),
            (" +0000 UTC", 0, ""),
            (" +0530 IST", 19_800, ""),
            (" +0300 +0300", 10_800, ""),
            ("-07:00[America/Los_Angeles]", -25_200, ""),
            (" pst", -28_800, ""),
        ] {
            let (zone, end) = read_start(text).expect(text);
            assert_eq!((zone, &text[end..]), (Zone::Offset(seconds), rest), "{text}");
        }
        for text in [" Europe/Berlin", "[Europe/Berlin]", " America/Argentina/Buenos_Aires"] {
            let (zone, end) = read_start(text).expect(text);
            assert!(matches!(zone, Zone::Named(_)) && end == text.len(), "{text}");
        }
        for text in ["", " IST", " ERROR", " Nowhere/City", "+1:0", " Z80", "+0160", "+25:00"] {
            let read = read_start(text).map(|(_, end)| &text[end..]);
            assert!(read.is_none() || text == "+1:0", "{text}: {read:?}");
        }
        assert!(starts_ambiguous(" IST x") && starts_ambiguous(" [CST]"));
        assert!(!starts_ambiguous(" ERROR x") && !starts_ambiguous("IST"));
    }

    #[test]
    fn an_option_is_a_zone_or_refused() {
        for text in ["Europe/Berlin", "+02:00", "-7", "UTC", "utc", "Japan", "CET", "Z"] {
            assert!(Zone::of_option(text).is_ok(), "{text}");
        }
        for text in ["IST", "CST"] {
            let error = Zone::of_option(text).expect_err("ambiguous");
            assert!(error.contains("several zones are called"), "{error}");
        }
        for text in ["", "Mars/Base", "+99", "02:00"] {
            assert!(Zone::of_option(text).is_err(), "{text}");
        }
    }
}
