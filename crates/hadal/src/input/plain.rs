//! Plain lines: each becomes the column `message`; where it begins with a time, also `time`.

use hadal_types::Micros;
use hadal_types::limits::LINE_BYTES_MAX;
use hadal_types::time::parse_timestamp;
use jiff::fmt::strtime;

use super::lines::read_line;
use super::{Reader, Rows};
use crate::error::Error;

/// The time in the logs of web servers: `[10/Oct/2000:13:55:36 -0700]`.
const COMMON_LOG_TIME: &str = "%d/%b/%Y:%H:%M:%S %z";
/// A time stands within so many bytes of a line's beginning.
const TIME_BYTES_MAX: usize = 200;

/// The lines of a text.
pub(super) struct PlainLines {
    reader: Reader,
    place: String,
    with_times: bool,
    line: Vec<u8>,
    /// Lines without a time of their own (a stack trace's) belong to the line before them.
    last_time: Option<Micros>,
}

impl PlainLines {
    /// With `with_times`, times are read from the lines.
    pub(super) fn new(reader: Reader, place: &str, with_times: bool) -> Self {
        let place = place.to_owned();
        Self { reader, place, with_times, line: Vec::new(), last_time: None }
    }
}

impl Rows for PlainLines {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        loop {
            self.line.clear();
            if !read_line(&mut self.reader, &mut self.line).map_err(Error::io("read", &self.place))? {
                return Ok(false);
            }
            // As JSON, with quotes and a name, a line must not be longer than a line may be.
            self.line.truncate(LINE_BYTES_MAX / 8);
            let text = String::from_utf8_lossy(&self.line);
            let text = text.trim_end();
            if text.is_empty() {
                continue;
            }
            if self.with_times {
                self.last_time = leading_time(text).or(self.last_time);
            }
            let message = serde_json::Value::from(text);
            let row = match self.last_time {
                Some(time) => format!("{{\"time\":\"{time}\",\"message\":{message}}}\n"),
                None => format!("{{\"message\":{message}}}\n"),
            };
            out.extend_from_slice(row.as_bytes());
            return Ok(true);
        }
    }
}

/// The time that a line of a log begins with: ISO 8601, in brackets or not, or a web server's.
fn leading_time(line: &str) -> Option<Micros> {
    let start = line.get(..TIME_BYTES_MAX).unwrap_or(line);
    iso_time(start.trim_start_matches(['[', '(', ' '])).or_else(|| common_log_time(start))
}

fn iso_time(text: &str) -> Option<Micros> {
    // Python writes the second's digits after a comma.
    let is_part = |c: char| c.is_ascii_digit() || "-:.,TZ+".contains(c);
    let token = |text: &str| text.len() - text.trim_start_matches(is_part).len();
    let date = token(text);
    let with_clock = match text.get(date..)?.strip_prefix(' ') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => date + 1 + token(rest),
        _ => date,
    };
    [with_clock, date].into_iter().find_map(|end| {
        let time = text.get(..end)?.trim_end_matches(['.', ',', ':', '-']);
        parse_timestamp(&time.replace(',', "."))
    })
}

fn common_log_time(text: &str) -> Option<Micros> {
    let (_, rest) = text.split_once('[')?;
    let (time, _) = rest.split_once(']')?;
    let timestamp = strtime::parse(COMMON_LOG_TIME, time).ok()?.to_timestamp().ok()?;
    Micros(timestamp.as_microsecond()).in_range()
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, all_rows};
    use super::*;

    #[test]
    fn times_at_the_beginning_are_read() {
        let noon = "2023-11-15T12:00:00Z";
        for line in [
            "2023-11-15T12:00:00Z started",
            "2023-11-15 12:00:00 started",
            "[2023-11-15 12:00:00] started",
            "2023-11-15 12:00:00,000 INFO x",
            "2023-11-15T13:00:00+01:00 x",
            "2023-11-15 12:00:00: x",
            r#"10.0.0.1 - ada [15/Nov/2023:13:00:00 +0100] "GET / HTTP/1.1" 200 5"#,
        ] {
            assert_eq!(leading_time(line).map(|time| time.to_string()).as_deref(), Some(noon), "{line}");
        }
        let midnight = leading_time("2023-11-15 5 things").map(|time| time.to_string());
        assert_eq!(midnight.as_deref(), Some("2023-11-15T00:00:00Z"));
        for line in ["started", "", "[error] x", "5 things", "12:00:00 x", "é", "[", "[]"] {
            assert_eq!(leading_time(line), None, "{line}");
        }
    }

    #[test]
    fn lines_without_a_time_belong_to_the_one_before() {
        let text = "head\n2023-11-15 12:00:00 it \"broke\"\n\n  at x\r\n";
        let rows = all_rows(text, InputFormat::Text).expect("rows");
        assert_eq!(
            rows,
            [
                r#"{"message":"head"}"#,
                r#"{"time":"2023-11-15T12:00:00Z","message":"2023-11-15 12:00:00 it \"broke\""}"#,
                r#"{"time":"2023-11-15T12:00:00Z","message":"  at x"}"#,
            ]
        );
    }
}
