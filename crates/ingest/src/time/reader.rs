//! Reads texts as times.

use hadal_types::{Micros, Number};

use super::civil::Civil;
use super::iso;
use super::spelling::{DayOrder, SPELLINGS, Spelled, Spelling};
use super::user_format::{Strptime, TimeFormat};
use super::zone::{self, Zone};

/// The longest text that may be a time.
const TEXT_BYTES_MAX: usize = 128;

/// What texts are read as times, and in which zone.
#[derive(Clone, Debug)]
pub(crate) struct TimeReader {
    format: Option<TimeFormat>,
    /// The order of month and day, as the texts of a column show it.
    order: Option<DayOrder>,
    zone: Zone,
    is_utc: bool,
    now: Micros,
}

/// How a text spells its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    /// In the words of strptime.
    pub(crate) strptime: String,
    pub(crate) has_zone: bool,
    pub(crate) has_year: bool,
    pub(crate) has_clock: bool,
    /// Whether it is ISO 8601, year first, with dashes.
    pub(crate) is_iso: bool,
}

/// A time at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTime {
    pub(crate) time: Micros,
    /// The number of bytes of its text.
    pub(crate) end: usize,
}

impl TimeReader {
    /// A reader of the usual spellings, with UTC for times without a zone.
    pub(crate) const fn new(now: Micros) -> Self {
        Self { format: None, order: None, zone: Zone::UTC, is_utc: true, now }
    }

    /// Takes over the options `time-format` and `zone`; those that are wrong do not count, because
    /// they were refused when they were set.
    pub(crate) fn with_options(self, time_format: Option<&str>, zone: Option<&str>) -> Self {
        let format = time_format.and_then(|format| TimeFormat::of_option(format).ok());
        let zone = zone.and_then(|zone| Zone::of_option(zone).ok()).unwrap_or(Zone::UTC);
        Self { format, is_utc: zone == Zone::UTC, zone, ..self }
    }

    /// Sets the order of day and month that the texts of a column show, unless the user says one.
    pub(crate) fn with_order(self, order: Option<DayOrder>) -> Self {
        Self { order, ..self }
    }

    /// Sets the time by which a year that is not written is chosen.
    pub(crate) const fn arrive(&mut self, now: Micros) {
        self.now = now;
    }

    /// The present, by which a year that is not written is chosen.
    pub(crate) const fn now(&self) -> Micros {
        self.now
    }

    /// Whether a zone other than UTC is assumed.
    pub(crate) const fn has_other_zone(&self) -> bool {
        !self.is_utc
    }

    /// Reads a time as ISO 8601 with seconds, which most are. `None` if a format was named.
    #[inline]
    pub(crate) fn read_usual(&self, text: &str) -> Option<Micros> {
        if self.format.is_some() {
            return None;
        }
        let (time, has_zone) = iso::read(text)?;
        (has_zone || self.is_utc).then_some(time)
    }

    /// Reads a time; `None` for any other text, and for a time whose zone cannot be understood.
    pub(crate) fn read(&self, text: &str) -> Option<Micros> {
        if let Some(time) = self.read_usual(text) {
            return Some(time);
        }
        if let Some(TimeFormat::Strptime(format)) = &self.format
            && let Some(time) = format.read(text.trim(), &self.zone, self.now)
        {
            return Some(time);
        }
        self.spelled(text, false).map(|(_, _, time)| time)
    }

    /// The time of a date and a time of day, in the assumed zone if they name none.
    pub(super) fn time(&self, civil: &Civil) -> Option<Micros> {
        civil.time(&self.zone, self.now)
    }

    /// Reads the digits of a number as the user's format says, if there is one.
    pub(super) fn read_number(&self, number: Number) -> Option<Micros> {
        match &self.format {
            Some(TimeFormat::Strptime(format)) => {
                format.read(&number.to_string(), &self.zone, self.now)
            }
            _ => None,
        }
    }

    /// How a text spells its time; `None` if it is none.
    pub(crate) fn wording(&self, text: &str) -> Option<Wording> {
        if let Some(TimeFormat::Strptime(format)) = &self.format
            && format.read(text.trim(), &self.zone, self.now).is_some()
        {
            return Some(Wording {
                strptime: format.words(),
                has_zone: format.has_zone(),
                has_year: true,
                has_clock: format.has_clock(),
                is_iso: false,
            });
        }
        let (spelling, spelled, _) = self.spelled(text, true)?;
        let strptime = spelled.strptime.unwrap_or_default();
        Some(Wording {
            has_zone: spelled.civil.zone.is_some(),
            has_year: spelled.civil.year.is_some(),
            has_clock: spelled.has_clock,
            is_iso: spelling.words.starts_with("%Y-%m-%d") && strptime.starts_with("%Y-%m-%d"),
            strptime,
        })
    }

    /// A time as ISO 8601: a day as it is written, a time of day in UTC. `None` if it is no time.
    pub(crate) fn iso_text(&self, text: &str) -> Option<String> {
        if let Some(TimeFormat::Strptime(format)) = &self.format
            && let Some(time) = format.read(text.trim(), &self.zone, self.now)
        {
            let has_clock = format.has_clock();
            // A day without a time of day begins at midnight of its zone.
            let day = || format.read(text.trim(), &Zone::UTC, self.now);
            let time = if has_clock { time } else { day()? };
            return Some(iso_words(time, has_clock));
        }
        let (_, spelled, time) = self.spelled(text, false)?;
        if spelled.has_clock {
            return Some(iso_words(time, true));
        }
        let day = Civil { zone: Some(Zone::UTC), ..spelled.civil };
        self.time(&day).map(|day| iso_words(day, false))
    }

    /// The orders of day and month in which a text is a time, if it depends on one: day first, and
    /// month first. `None` if the user says the order.
    pub(crate) fn orders(&self, text: &str) -> Option<(bool, bool)> {
        let text = trimmed(text).filter(|_| self.format.is_none())?;
        let is_time = |order| {
            let is_of = |spelling: &&Spelling| spelling.order == Some(order);
            SPELLINGS
                .iter()
                .filter(is_of)
                .any(|spelling| self.whole(spelling, text, false).is_some())
        };
        let orders = (is_time(DayOrder::DayFirst), is_time(DayOrder::MonthFirst));
        (orders != (false, false)).then_some(orders)
    }

    /// The longest time at the beginning of a line, after an opening bracket if there is one. It
    /// has a time of day, or is a day of ISO 8601. `None` if there is no time, or one whose zone
    /// cannot be understood.
    pub(crate) fn read_start(&self, line: &str) -> Option<LineTime> {
        let opened = line.trim_start_matches(['[', ' ']);
        let opening = line.len() - opened.len();
        if let Some(TimeFormat::Strptime(format)) = &self.format {
            return self.format_start(format, opened, opening);
        }
        let mut head = opened.len().min(TEXT_BYTES_MAX);
        while !opened.is_char_boundary(head) {
            head -= 1;
        }
        let (text, mut best) = (&opened[..head], None);
        for spelling in SPELLINGS.iter().filter(|spelling| self.is_possible(spelling)) {
            let Some(spelled) = spelling.read(text, false) else { continue };
            let rest = &text[spelled.end..];
            let is_day = spelled.has_clock || spelling.words.starts_with("%Y-");
            let is_longer = best.is_none_or(|best: LineTime| spelled.end > best.end);
            if is_day
                && is_longer
                && is_boundary(rest)
                && let Some(time) = self.time(&spelled.civil)
            {
                best = Some(LineTime { time, end: spelled.end });
                // A zone that several zones are called makes the time no time.
                if spelled.civil.zone.is_none() && zone::starts_ambiguous(rest) {
                    return None;
                }
            }
        }
        best.map(|best| LineTime { end: opening + best.end, ..best })
    }

    /// The longest text at the beginning that is a time in a format of strptime and ends where a
    /// word ends.
    fn format_start(&self, format: &Strptime, text: &str, opening: usize) -> Option<LineTime> {
        let ends = text.char_indices().take(TEXT_BYTES_MAX).skip(1).map(|(at, _)| at);
        let ends = ends.chain([text.len()].into_iter().filter(|end| *end <= TEXT_BYTES_MAX));
        let mut best = None;
        for end in ends.filter(|end| is_boundary(&text[*end..])) {
            if let Some(time) = format.read(&text[..end], &self.zone, self.now) {
                best = Some(LineTime { time, end: opening + end });
            }
        }
        best
    }

    fn spelled(&self, text: &str, with_strptime: bool) -> Option<(&Spelling, Spelled, Micros)> {
        let text = trimmed(text)?;
        SPELLINGS.iter().filter(|spelling| self.is_possible(spelling)).find_map(|spelling| {
            let (spelled, time) = self.whole(spelling, text, with_strptime)?;
            Some((spelling, spelled, time))
        })
    }

    /// Reads a text that is a time in this spelling and nothing else.
    fn whole(
        &self,
        spelling: &Spelling,
        text: &str,
        with_strptime: bool,
    ) -> Option<(Spelled, Micros)> {
        let spelled = spelling.read(text, with_strptime)?;
        if spelled.end < text.len() {
            return None;
        }
        let time = self.time(&spelled.civil)?;
        Some((spelled, time))
    }

    /// Whether a spelling is read. Of two that differ in the order of day and month, one is: that
    /// which the user or the other texts of the column say, otherwise the day comes first before
    /// points, and the month before slashes and dashes.
    fn is_possible(&self, spelling: &Spelling) -> bool {
        let order = match (&self.format, self.order) {
            (Some(TimeFormat::Usual(order)), _) => Some(*order),
            // The user's format has another spelling than day and month as numbers.
            (Some(TimeFormat::Strptime(_)), _) => return spelling.order.is_none(),
            (None, order) => order,
        };
        let usual = match spelling.words.contains('.') {
            true => DayOrder::DayFirst,
            false => DayOrder::MonthFirst,
        };
        spelling.order.is_none_or(|own_order| own_order == order.unwrap_or(usual))
    }
}

/// A time in UTC, or its day only.
fn iso_words(time: Micros, has_clock: bool) -> String {
    let mut text = time.to_string();
    if !has_clock && let Some(end) = text.find('T') {
        text.truncate(end);
    }
    text
}

/// Whether a text is a time in one of the usual spellings.
pub(crate) fn is_time_text(text: &str) -> bool {
    let reader = TimeReader::new(Micros::MAX);
    reader.read(text).is_some() || reader.orders(text).is_some()
}

/// The text of a time without blanks and brackets around it; `None` if it is too long or has no
/// digit.
fn trimmed(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) if !inner.contains('[') => inner,
        _ => text,
    };
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    (text.len() <= TEXT_BYTES_MAX && has_digit).then_some(text)
}

/// Whether a time may end before this text.
fn is_boundary(rest: &str) -> bool {
    let mut next = rest.chars();
    match (next.next(), next.next()) {
        (Some('.' | ':' | '/' | '-'), Some(after)) => !after.is_ascii_digit(),
        (Some(first), _) => !first.is_alphanumeric() && first != '_',
        (None, _) => true,
    }
}

#[cfg(test)]
mod tests;
