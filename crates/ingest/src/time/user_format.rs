//! The option `time-format`: how times are spelled, in the words of strptime.

use hadal_types::Micros;
use jiff::civil::date;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::Offset;

use super::civil::Civil;
use super::spelling::DayOrder;
use super::zone::{self, Zone};

/// How times are spelled, as the user says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TimeFormat {
    /// All the usual spellings; where day and month are numbers, in this order.
    Usual(DayOrder),
    /// In the words of strptime.
    Strptime(Strptime),
}

/// A format in the words of strptime.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strptime {
    words: String,
    /// Whether a zone's abbreviation, the word `%Z`, follows.
    has_zone_name: bool,
}

impl TimeFormat {
    /// Reads the option: words of strptime, `day-first` or `month-first`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of_option(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "day-first" => return Ok(Self::Usual(DayOrder::DayFirst)),
            "month-first" => return Ok(Self::Usual(DayOrder::MonthFirst)),
            _ => {}
        }
        let (words, has_zone_name) = match text.trim_end().strip_suffix("%Z") {
            Some(words) => (words.trim_end(), true),
            None => (text, false),
        };
        let format = Strptime { words: words.to_owned(), has_zone_name };
        // A time that is written in the format has to be read again.
        let sample = date(2026, 11, 21).at(15, 51, 42, 0).to_zoned(Offset::UTC.to_time_zone());
        let example = sample.ok().and_then(|sample| strtime::format(words, &sample).ok());
        let read = example.and_then(|example| {
            let example = if has_zone_name { example + " UTC" } else { example };
            format.read(&example, &Zone::UTC, Micros(1_795_276_302_000_000))
        });
        match read {
            Some(_) => Ok(Self::Strptime(format)),
            None => Err(format!(
                "{text:?}; it may be words of strptime that make a day, such as %d.%m.%Y %H:%M, or \
                 day-first, or month-first"
            )),
        }
    }
}

impl Strptime {
    /// Reads a whole text; `assumed` is the zone of a time without one.
    pub(super) fn read(&self, text: &str, assumed: &Zone, now: Micros) -> Option<Micros> {
        if !self.has_zone_name {
            return time(&BrokenDownTime::parse(&self.words, text).ok()?, None, assumed, now);
        }
        let (parts, end) = BrokenDownTime::parse_prefix(&self.words, text).ok()?;
        let rest = text.get(end..)?;
        let (zone, bytes) = zone::read_start(rest)?;
        if bytes < rest.len() {
            return None;
        }
        time(&parts, Some(zone), assumed, now)
    }

    /// The words, as the user wrote them.
    pub(super) fn words(&self) -> String {
        let name = if self.has_zone_name { " %Z" } else { "" };
        format!("{}{name}", self.words)
    }

    /// Whether its times have a time of day.
    pub(super) fn has_clock(&self) -> bool {
        let words = self.words.as_bytes().windows(2);
        words.filter(|word| word[0] == b'%').any(|word| b"HIklTRrXcsMS".contains(&word[1]))
    }

    /// Whether its times name their zone.
    pub(super) fn has_zone(&self) -> bool {
        self.has_zone_name
            || ["%z", "%:z", "%Q", "%s", "%::z"].iter().any(|word| self.words.contains(word))
    }
}

fn time(parts: &BrokenDownTime, zone: Option<Zone>, assumed: &Zone, now: Micros) -> Option<Micros> {
    if let Some(timestamp) = parts.timestamp() {
        return Micros(timestamp.as_microsecond()).in_range();
    }
    let zone = zone
        .or_else(|| parts.offset().map(|offset| Zone::Offset(offset.seconds())))
        .or_else(|| parts.iana_time_zone().and_then(|name| Zone::of_option(name).ok()));
    let year = parts.year().map(i64::from);
    let (year, month, day) = match (parts.month(), parts.day()) {
        (Some(month), Some(day)) => (year, i64::from(month), i64::from(day)),
        // Weeks, and days of the year.
        _ => {
            let date = parts.to_date().ok()?;
            (Some(i64::from(date.year())), i64::from(date.month()), i64::from(date.day()))
        }
    };
    let civil = Civil {
        year,
        month,
        day,
        hour: parts.hour().map_or(0, i64::from),
        minute: parts.minute().map_or(0, i64::from),
        second: parts.second().map_or(0, i64::from),
        micros: parts.subsec_nanosecond().map_or(0, |nanos| i64::from(nanos) / 1_000),
        zone,
    };
    civil.time(assumed, now)
}
