//! The table of the ways in which times are written, and the reader of one of them.
//!
//! A spelling is written in words like those of strptime. Brackets enclose what may be left out.
//!
//! | word | stands for |
//! |---|---|
//! | `%Y`, `%y` | a year of four or two digits |
//! | `%m`, `%d` | a month or day of one or two digits; of two beside another number |
//! | `%b` | an English month, short or whole |
//! | `%t` | a time of day: `3:51`, `03:51:42.5`, also with `,` or `:` before the decimals, and AM or PM |
//! | `%c` | a time of day without colons, of six digits and decimals, or of two or four digits |
//! | `%z` | a zone, if there is one |
//! | `~` | `T`, blanks, a comma and blanks, `_`, or a colon |
//! | a blank | one or more blanks |

use super::civil::Civil;
use super::names;
use super::zone;

/// The order of a day and a month that are both numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DayOrder {
    /// `21/11/2026`.
    DayFirst,
    /// `11/21/2026`.
    MonthFirst,
}

/// One way to write times.
pub(super) struct Spelling {
    pub(super) words: &'static str,
    /// Set if another spelling differs only in the order of month and day.
    pub(super) order: Option<DayOrder>,
}

const fn plain(words: &'static str) -> Spelling {
    Spelling { words, order: None }
}

const fn day_first(words: &'static str) -> Spelling {
    Spelling { words, order: Some(DayOrder::DayFirst) }
}

const fn month_first(words: &'static str) -> Spelling {
    Spelling { words, order: Some(DayOrder::MonthFirst) }
}

/// All spellings. `spec/import.md` lists them for people.
pub(super) const SPELLINGS: [Spelling; 30] = [
    // ISO 8601, RFC 3339, `Time.String` of Go.
    plain("%Y-%m-%d[~%t%z]"),
    plain("%Y-%m-%d[~%c%z]"),
    plain("%Y/%m/%d[~%t%z]"),
    plain("%Y.%m.%d[~%t%z]"),
    plain("%Y%m%d[~%c%z]"),
    plain("%Y%m%d[~%t%z]"),
    plain("%Y%m%d%c%z"),
    // With the names of months: RFC 2822, RFC 850, common logs, asctime, syslog.
    plain("%d/%b/%Y[~%t%z]"),
    plain("%d %b %Y[~%t%z]"),
    plain("%d-%b-%Y[~%t%z]"),
    plain("%d-%b-%y[~%t%z]"),
    plain("%d %b %y[~%t%z]"),
    plain("%Y %b %d[~%t%z]"),
    plain("%Y-%b-%d[~%t%z]"),
    plain("%b %d, %Y[~%t%z]"),
    plain("%b %d %Y[~%t%z]"),
    plain("%b %d %t%z %Y"),
    plain("%b %d %t%z"),
    plain("%d %b %t%z"),
    // Day and month as numbers.
    day_first("%d.%m.%Y[~%t%z]"),
    month_first("%m.%d.%Y[~%t%z]"),
    day_first("%d.%m.%y[~%t%z]"),
    day_first("%d/%m/%Y[~%t%z]"),
    month_first("%m/%d/%Y[~%t%z]"),
    day_first("%d/%m/%y[~%t%z]"),
    month_first("%m/%d/%y[~%t%z]"),
    day_first("%d-%m-%Y[~%t%z]"),
    month_first("%m-%d-%Y[~%t%z]"),
    // klog, and Android's logcat: without a year.
    plain("%m%d %t%z"),
    plain("%m-%d %t%z"),
];

/// A time that a text begins with.
#[derive(Debug)]
pub(super) struct Spelled {
    pub(super) civil: Civil,
    /// The number of its bytes.
    pub(super) end: usize,
    /// Whether it has a time of day.
    pub(super) has_clock: bool,
    /// Its spelling in the words of strptime, if asked for.
    pub(super) strptime: Option<String>,
}

impl Spelling {
    /// Reads the time at the beginning of a text, after a weekday if there is one.
    pub(super) fn read(&self, text: &str, with_strptime: bool) -> Option<Spelled> {
        let strptime = with_strptime.then(String::new);
        let civil = Civil::default();
        let (has_clock, afternoon) = (false, None);
        let mut reader = Reader { text, at: 0, civil, has_clock, afternoon, strptime };
        reader.weekday()?;
        reader.words(self.words)?;
        let Reader { mut civil, at, has_clock, afternoon, strptime, .. } = reader;
        if let Some(is_afternoon) = afternoon {
            if !(1..=12).contains(&civil.hour) {
                return None;
            }
            civil.hour = civil.hour % 12 + if is_afternoon { 12 } else { 0 };
        }
        Some(Spelled { civil, end: at, has_clock, strptime })
    }
}

/// A reader of one spelling.
#[derive(Clone)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
    civil: Civil,
    has_clock: bool,
    afternoon: Option<bool>,
    strptime: Option<String>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes bytes, which are this in the words of strptime.
    fn take(&mut self, bytes: usize, words: &str) {
        self.at += bytes;
        if let Some(strptime) = &mut self.strptime {
            strptime.push_str(words);
        }
    }

    fn weekday(&mut self) -> Option<()> {
        let Some(end) = names::weekday_bytes(self.rest()) else { return Some(()) };
        self.take(end, "%a");
        if self.byte() == Some(b',') {
            self.take(1, ",");
        }
        self.blanks()
    }

    /// Reads what the words of a spelling say.
    fn words(&mut self, words: &str) -> Option<()> {
        if let Some((before, optional)) = words.split_once('[') {
            self.words(before)?;
            let (optional, after) = optional.split_once(']')?;
            let mut with = self.clone();
            if with.words(optional).is_some() {
                *self = with;
            }
            return self.words(after);
        }
        let bytes = words.as_bytes();
        let mut at = 0;
        let mut is_after_number = false;
        while let Some(&byte) = bytes.get(at) {
            if byte != b'%' {
                at += 1;
                self.literal(byte)?;
                is_after_number = false;
                continue;
            }
            let word = *bytes.get(at + 1)?;
            at += 2;
            let is_number = |word: Option<&u8>| word.is_some_and(|word| b"Ymdyc".contains(word));
            let is_before_number = bytes.get(at) == Some(&b'%') && is_number(bytes.get(at + 1));
            let is_exact = is_after_number || is_before_number;
            is_after_number = is_number(Some(&word));
            self.word(word, is_exact)?;
        }
        Some(())
    }

    fn word(&mut self, word: u8, is_exact: bool) -> Option<()> {
        let least = if is_exact { 2 } else { 1 };
        match word {
            b'Y' => self.civil.year = Some(self.number(4, 4, "%Y")?),
            b'y' => {
                // The century of strptime.
                let year = self.number(2, 2, "%y")?;
                self.civil.year = Some(if year < 69 { 2_000 + year } else { 1_900 + year });
            }
            b'm' => self.civil.month = self.number(least, 2, "%m")?,
            b'd' => self.civil.day = self.number(least, 2, "%d")?,
            b'b' => {
                let (month, end) = names::month(self.rest())?;
                self.civil.month = month;
                self.take(end, "%b");
            }
            b't' => self.clock()?,
            b'c' => self.compact_clock()?,
            b'z' => self.zone(),
            _ => return None,
        }
        Some(())
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        match byte {
            b' ' => return self.blanks(),
            b'~' => return self.joint(),
            byte if self.byte() != Some(byte) => return None,
            b'-' => self.take(1, "-"),
            b'/' => self.take(1, "/"),
            b'.' => self.take(1, "."),
            b',' => self.take(1, ","),
            _ => return None,
        }
        Some(())
    }

    /// Reads one or more blanks, also those that do not break lines.
    fn blanks(&mut self) -> Option<()> {
        let rest = self.rest();
        let after = rest.trim_start_matches([' ', '\t', '\u{a0}', '\u{202f}']);
        let bytes = rest.len() - after.len();
        self.take(bytes, " ");
        (bytes > 0).then_some(())
    }

    /// Reads what is between a day and a time of day.
    fn joint(&mut self) -> Option<()> {
        match self.byte()? {
            b'T' => self.take(1, "T"),
            b't' => self.take(1, "t"),
            b'_' => self.take(1, "_"),
            b':' => self.take(1, ":"),
            b',' => {
                self.take(1, ",");
                return self.blanks();
            }
            _ => return self.blanks(),
        }
        Some(())
    }

    /// Reads the next number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize, words: &str) -> Option<i64> {
        let digits = self.rest().bytes().take(most).take_while(u8::is_ascii_digit);
        let (count, value) = digits.fold((0, 0), |(count, value), digit| {
            (count + 1, value * 10 + i64::from(digit - b'0'))
        });
        if count < least {
            return None;
        }
        self.take(count, words);
        Some(value)
    }

    /// Reads `3:51`, and seconds, decimals, AM or PM if they are there.
    fn clock(&mut self) -> Option<()> {
        let start = self.strptime.as_ref().map(String::len);
        self.civil.hour = self.number(1, 2, "%H")?;
        (self.byte()? == b':').then(|| self.take(1, ":"))?;
        self.civil.minute = self.number(2, 2, "%M")?;
        self.has_clock = true;
        if self.byte() == Some(b':') && self.digits_after(1) == 2 {
            self.take(1, ":");
            self.civil.second = self.number(2, 2, "%S")?;
            self.fraction();
        }
        let before = (self.at, self.strptime.clone());
        let _ = self.blanks();
        match names::is_afternoon(self.rest()) {
            Some((is_afternoon, end)) => {
                self.afternoon = Some(is_afternoon);
                self.take(end, "%p");
                if let (Some(strptime), Some(start)) = (&mut self.strptime, start) {
                    strptime.replace_range(start..start + 2, "%I");
                }
            }
            None => (self.at, self.strptime) = before,
        }
        Some(())
    }

    /// Reads `035142`, with decimals if they are there, or `0351`, or `03`. Between a day and it
    /// may be nothing; then six digits are needed.
    fn compact_clock(&mut self) -> Option<()> {
        let digits = self.digits_after(0);
        let is_joined = self.text.as_bytes()[..self.at].last().is_some_and(u8::is_ascii_digit);
        let is_length = match is_joined {
            true => matches!(digits, 6 | 9),
            false => matches!(digits, 2 | 4 | 6),
        };
        if !is_length {
            return None;
        }
        self.civil.hour = self.number(2, 2, "%H")?;
        if digits > 2 {
            self.civil.minute = self.number(2, 2, "%M")?;
        }
        if digits > 4 {
            self.civil.second = self.number(2, 2, "%S")?;
        }
        if digits == 9 {
            self.civil.micros = self.number(3, 3, "%f")? * 1_000;
        } else if digits == 6 {
            self.fraction();
        }
        self.has_clock = true;
        Some(())
    }

    /// Reads the decimals of a second after a point, a comma or a colon, if there are any.
    fn fraction(&mut self) {
        let words = match self.byte() {
            Some(b'.') => "%.f",
            Some(b',') => ",%f",
            Some(b':') => ":%f",
            _ => return,
        };
        let count = self.digits_after(1);
        if !(1..=12).contains(&count) {
            return;
        }
        let digits = self.rest().bytes().skip(1).take(count);
        let places = digits.chain(std::iter::repeat(b'0')).take(6);
        self.civil.micros = places.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0'));
        self.take(1 + count, words);
    }

    /// The number of digits after the next `skip` bytes.
    fn digits_after(&self, skip: usize) -> usize {
        self.rest().bytes().skip(skip).take_while(u8::is_ascii_digit).count()
    }

    fn zone(&mut self) {
        let Some((zone, end)) = zone::read_start(self.rest()) else { return };
        let has_blank = self.rest().starts_with([' ', '\t']);
        let is_offset = self.rest().trim_start().starts_with(['+', '-']);
        let words = match (has_blank, is_offset) {
            (true, true) => " %z",
            (false, true) => "%z",
            (true, false) => " %Z",
            (false, false) => "%Z",
        };
        self.civil.zone = Some(zone);
        self.take(end, words);
    }
}
