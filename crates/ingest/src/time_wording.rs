//! How the rows' times are written, in words for people.

use crate::time::Wording;

/// How the rows' times are written, and what was assumed about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeWording {
    /// The words of strptime; `None` for ISO 8601.
    pub format: Option<String>,
    /// The zone that was assumed because the times name none.
    pub zone_assumed: Option<String>,
    /// Whether the year was assumed.
    pub is_year_assumed: bool,
}

impl TimeWording {
    /// The wording of times, with the option `zone` of the user.
    pub(crate) fn new(wording: Wording, zone: Option<&str>) -> Self {
        // A day of ISO 8601 is the same day in the zone that most expect.
        let is_plain_day = wording.is_iso && !wording.has_clock && zone.is_none();
        Self {
            format: (!wording.is_iso).then_some(wording.strptime),
            zone_assumed: (!wording.has_zone && !is_plain_day)
                .then(|| zone.unwrap_or("UTC").to_owned()),
            is_year_assumed: !wording.has_year,
        }
    }

    /// The end of a sentence about the times: ` as %d.%m.%Y %H:%M, zone UTC assumed`.
    #[must_use]
    pub fn words(&self) -> String {
        let format = self.format.as_ref().map(|format| format!(" as {format}"));
        let year = if self.is_year_assumed { ", latest possible year assumed" } else { "" };
        let zone = self.zone_assumed.as_ref().map(|zone| format!(", zone {zone} assumed"));
        format!("{}{year}{}", format.unwrap_or_default(), zone.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::time::TimeReader;

    #[test]
    fn the_words_name_what_is_assumed() {
        let words = |text: &str, zone| {
            let reader = TimeReader::new(Micros(0)).with_options(None, zone);
            TimeWording::new(reader.wording(text).expect(text), zone).words()
        };
        for (text, zone, expected) in [
            ("27.03.2003 14:55", None, " as %d.%m.%Y %H:%M, zone UTC assumed"),
            ("27.03.2003", Some("Europe/Berlin"), " as %d.%m.%Y, zone Europe/Berlin assumed"),
            ("2003-03-27 14:55", None, ", zone UTC assumed"),
            ("2003-03-27T14:55:00Z", None, ""),
            ("2003-03-27", None, ""),
            (
                "Jan 10 06:07:06",
                None,
                " as %b %d %H:%M:%S, latest possible year assumed, zone UTC assumed",
            ),
        ] {
            assert_eq!(words(text, zone), expected, "{text}");
        }
    }
}
