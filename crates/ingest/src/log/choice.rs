//! Chooses the layouts of a text by its first lines.

use super::continuation;
use super::json_suffix;
use super::logfmt;
use super::matcher::{self, Matcher, TIMED};
use super::syslog5424;
use super::w3c;

/// How one line may be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    Pattern(&'static Matcher),
    Syslog5424,
    Logfmt,
    /// Nothing but JSON at the end of a text, or after a prefix.
    Json,
}

/// The names of layouts without a pattern.
const LOGFMT: &str = "logfmt";
const CONTAINERS: &str = "the output of containers";
const JSON: &str = "text with JSON";

impl Reading {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pattern(matcher) => matcher.layout.name,
            Self::Syslog5424 => syslog5424::NAME,
            Self::Logfmt => LOGFMT,
            Self::Json => JSON,
        }
    }

    /// Whether single lines of other texts fit by chance.
    fn is_weak(self) -> bool {
        match self {
            Self::Pattern(matcher) => matcher.layout.is_weak,
            Self::Syslog5424 => false,
            Self::Logfmt | Self::Json => true,
        }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Self::Pattern(matcher) => matcher.fits(text),
            Self::Syslog5424 => syslog5424::fits(text),
            Self::Logfmt => logfmt::is_logfmt(text),
            Self::Json => json_suffix::is_there(text),
        }
    }
}

/// All ways to read a line, in the order of evidence.
fn all() -> impl Iterator<Item = Reading> {
    let patterns = matcher::all().iter().map(Reading::Pattern);
    let (strong, weak): (Vec<_>, Vec<_>) = patterns.partition(|reading| !reading.is_weak());
    let (timed, strong): (Vec<_>, Vec<_>) =
        strong.into_iter().partition(|reading| reading.name() == TIMED);
    let first = std::iter::once(Reading::Syslog5424).chain(strong);
    first.chain([Reading::Logfmt]).chain(timed).chain(weak).chain([Reading::Json])
}

/// The layouts of a text.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// The layouts that lines have, in the order of evidence; empty for text without a layout.
    pub(super) readings: Vec<Reading>,
    /// The name of the most frequent one, for people.
    pub(super) name: Option<&'static str>,
    /// Whether enough lines have layouts with more than a time, which other texts do not have.
    pub(super) is_specific: bool,
}

/// Chooses by lines without their prefixes; the second member says whether there was a prefix. A
/// line of JSON alone is text, as it was requested, unless it has a prefix.
///
/// A layout that other texts fit by chance needs half of the lines. All layouts together need a
/// fifth, or those with more than a time at the beginning a twentieth. Lines that look like parts
/// of the lines before them do not count.
pub(super) fn choose(lines: &[(&str, bool)]) -> Choice {
    let mut counts: Vec<(Reading, usize)> = all().map(|reading| (reading, 0)).collect();
    let (mut total, mut headers, mut prefixes) = (0_usize, 0_usize, 0_usize);
    for (text, has_prefix) in lines {
        prefixes += usize::from(*has_prefix);
        if w3c::is_directive(text) {
            headers += usize::from(w3c::head(text).is_some());
            continue;
        }
        let is_object = text.starts_with('{') && !has_prefix;
        let fit = counts.iter_mut().find(|(reading, _)| !is_object && reading.fits(text));
        match fit {
            Some((_, count)) => (*count, total) = (*count + 1, total + 1),
            None => total += usize::from(!continuation::is_likely(text)),
        }
    }
    counts.retain(|(reading, count)| *count * if reading.is_weak() { 2 } else { 1_000 } > total);
    let fit: usize = counts.iter().map(|(_, count)| count).sum();
    if headers > 0 {
        let readings = counts.into_iter().filter(|(reading, _)| !reading.is_weak());
        let readings = readings.map(|(reading, _)| reading).collect();
        return Choice { readings, name: Some(w3c::NAME), is_specific: true };
    }
    let has_more = |reading: &Reading| !reading.is_weak() && reading.name() != TIMED;
    let specific = counts.iter().filter(|(reading, _)| has_more(reading));
    let specific: usize = specific.map(|(_, count)| count).sum();
    let is_specific = specific > 0 && specific * 20 >= total;
    let are_prefixed = prefixes * 2 > lines.len();
    if !are_prefixed && (fit == 0 || (fit * 5 < total && !is_specific)) {
        return Choice::default();
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let name = counts.iter().find(|(_, count)| Some(*count) == most);
    let name = name.map_or(CONTAINERS, |(reading, _)| reading.name());
    let name = Some(name);
    Choice { readings: counts.into_iter().map(|(reading, _)| reading).collect(), name, is_specific }
}
