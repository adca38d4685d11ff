//! Plain log lines: the whole line is the message; a time at its start is the row's time.

use hadal_types::Micros;
use serde::de::IgnoredAny;

use crate::time::TimeReader;

/// The column of the line.
pub(crate) const MESSAGE: &str = "message";

/// The time at the start of the line, if there is one.
pub(crate) fn leading_time(line: &str, reader: &TimeReader) -> Option<Micros> {
    reader.read_start(line).map(|start| start.time)
}

/// Whether a line is a complete JSON object, so that it may have been sent in the wrong format.
pub(crate) fn is_json(line: &str) -> bool {
    line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hadal_types::time::parse_timestamp;

    #[test]
    fn a_time_at_the_start_is_found() {
        let reader = TimeReader::new(Micros(0));
        let expected = parse_timestamp("2026-11-21T03:51:42Z");
        for line in [
            "2026-11-21T03:51:42Z all is well",
            "2026-11-21 03:51:42 all is well",
            "[2026-11-21 03:51:42] all is well",
            "2026-11-21 03:51:42,000 INFO all is well",
            "2026-11-21T03:51:42Z",
        ] {
            assert_eq!(leading_time(line, &reader), expected, "{line}");
        }
        for line in ["", "all is well", "at 2026-11-21 03:51:42"] {
            assert_eq!(leading_time(line, &reader), None, "{line}");
        }
    }
}
