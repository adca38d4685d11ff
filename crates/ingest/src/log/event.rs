//! An event that further lines may belong to.

use hadal_types::Micros;
use hadal_types::limits::LINE_BYTES_MAX;

use super::fields::{self, Fields};
use super::level;
use super::times::Times;

/// The most lines after the first one that an event has; the rest is cut.
pub(super) const STACK_LINES_MAX: usize = 1_000;
/// The most bytes of these lines; the rest is cut.
const STACK_BYTES_MAX: usize = LINE_BYTES_MAX / 4;

/// An event: its first line, and the lines that belong to it.
#[derive(Debug, Default)]
pub(super) struct Event {
    /// The number of its first line, counted from 1.
    pub(super) line: u64,
    /// The source that wrote it, such as a container.
    pub(super) source: String,
    /// The layout of its first line; empty for a line without one.
    pub(super) layout: &'static str,
    pub(super) fields: Fields,
    message: String,
    stack: Vec<String>,
    stack_bytes: usize,
    /// Whether lines were cut for want of room.
    pub(super) is_cut: bool,
    /// Whether its message ends in the next line.
    pub(super) is_partial: bool,
}

impl Event {
    pub(super) fn new(line: u64, source: &str, message: &str, fields: Fields) -> Self {
        let (source, message) = (source.to_owned(), message.to_owned());
        Self { line, source, message, fields, ..Self::default() }
    }

    /// Whether further lines may belong to it: it has a layout or a time.
    pub(super) fn is_event(&self) -> bool {
        !self.layout.is_empty() || self.fields.time.is_some()
    }

    /// Adds a line that belongs to the event.
    pub(super) fn join(&mut self, line: &str, times: &Times) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        self.read(line, times);
        if self.layout == "java.util.logging"
            && self.stack.is_empty()
            && !self.message.contains('\n')
        {
            self.message.push('\n');
            return self.message.push_str(line);
        }
        self.stack_bytes += line.len();
        if self.stack.len() >= STACK_LINES_MAX || self.stack_bytes > STACK_BYTES_MAX {
            self.is_cut = true;
            return;
        }
        self.stack.push(line.to_owned());
    }

    /// Adds the rest of a line that a container runtime has cut.
    pub(super) fn extend(&mut self, text: &str) {
        match self.message.len() + text.len() <= LINE_BYTES_MAX {
            true => self.message.push_str(text),
            false => self.is_cut = true,
        }
    }

    /// Whether the last lines are a traceback of Python, which ends with a line of its own.
    pub(super) fn is_in_traceback(&self) -> bool {
        self.stack.iter().any(|line| line.starts_with("Traceback (most recent"))
    }

    /// Takes columns from a line after the first one, for layouts of several lines.
    fn read(&mut self, line: &str, times: &Times) {
        let fields = &mut self.fields;
        match self.layout {
            "java.util.logging" if !fields.has("level") => {
                if let Some((word, _)) = line.split_once(": ")
                    && let Some(level) = level::of_word(word)
                {
                    fields.text("level", level);
                }
            }
            "MySQL slow log" => read_slow_query(line, fields, times),
            "Rails" => read_request(line, fields),
            _ => {}
        }
    }

    /// The event as a JSON object. Without room for its columns, it has its time and message only.
    pub(super) fn to_row(&self) -> Vec<u8> {
        let mut row = Vec::new();
        self.write(&mut row);
        if row.len() > LINE_BYTES_MAX {
            let mut fields = Fields::default();
            fields.time = self.fields.time;
            let message = self.message.clone();
            row.clear();
            Self { message, fields, ..Self::default() }.write(&mut row);
        }
        row
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        if let Some(time) = self.fields.time.and_then(Micros::in_range) {
            out.extend_from_slice(format!("\"time\":\"{time}\",").as_bytes());
        }
        out.extend_from_slice(self.fields.members());
        out.extend_from_slice(b"\"message\":");
        fields::string(&self.message, out);
        if !self.stack.is_empty() {
            out.extend_from_slice(b",\"stack\":[");
            for (index, line) in self.stack.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                fields::string(line, out);
            }
            out.push(b']');
        }
        out.push(b'}');
    }
}

/// `# User@Host: shop[shop] @ app1 [192.0.2.1]  Id: 4`, `# Query_time: 3.0  Lock_time: 0.0 …`.
fn read_slow_query(line: &str, fields: &mut Fields, times: &Times) {
    if let Some(rest) = line.strip_prefix("# User@Host: ") {
        let (user, rest) = rest.split_once('[').unwrap_or((rest, ""));
        let host = rest.split_once('@').map_or("", |(_, host)| host);
        let (name, address) = host.split_once('[').unwrap_or((host, ""));
        let address = address.split(']').next().unwrap_or_default();
        fields.text("user", user.trim());
        fields.text("host", if name.trim().is_empty() { address } else { name.trim() });
    } else if line.starts_with("# Query_time: ") {
        let mut words = line.trim_start_matches("# ").split_ascii_whitespace();
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            fields.number(&name.trim_end_matches(':').to_ascii_lowercase(), value);
        }
    } else if let Some(second) = line.strip_prefix("SET timestamp=")
        && fields.time.is_none()
    {
        times.try_set(second.trim_end_matches(';'), fields);
    }
}

/// `Processing by OrdersController#index as HTML`, `Completed 200 OK in 12ms (…)`.
fn read_request(line: &str, fields: &mut Fields) {
    if let Some(rest) = line.strip_prefix("Processing by ") {
        fields.text("controller", rest.split(' ').next().unwrap_or_default());
    } else if let Some(rest) = line.strip_prefix("Completed ") {
        fields.number("status", rest.split(' ').next().unwrap_or_default());
        let ms = rest.split_once(" in ").and_then(|(_, rest)| rest.split_once("ms"));
        if let Some((ms, _)) = ms {
            super::request::add_milliseconds(fields, ms);
        }
    }
}
