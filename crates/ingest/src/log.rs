//! Converts lines of text to JSON lines: columns by the layout that most of the first lines have,
//! and one row for an event of several lines. `spec/import.md` has the table of layouts.
//!
//! The crate `grok` was judged and not taken: its engine is a C library, and its patterns are not
//! in an order of evidence. The crate `regex` bounds the time of a match by the length of the line.

mod choice;
mod continuation;
mod event;
mod fields;
mod json_suffix;
mod layout;
mod layouts;
mod level;
mod line_splitter;
mod logfmt;
mod matcher;
mod patterns;
mod prefix;
mod regex_lines;
mod request;
mod syslog5424;
mod times;
mod w3c;

use std::collections::VecDeque;

use hadal_types::Micros;
use hadal_types::limits::LINE_BYTES_MAX;

use self::choice::{Choice, Reading};
use self::event::{Event, STACK_LINES_MAX};
use self::fields::Fields;
use self::line_splitter::LineSplitter;
use self::prefix::Unwrapped;
use self::regex_lines::RegexLines;
use self::times::Times;
use self::w3c::W3cHead;
use crate::input_format::InputFormat;
use crate::read_options::ReadOptions;
use crate::row_reject;
use crate::warning::Warning;

/// The bytes of the first lines, which decide the layout.
const HEAD_BYTES: usize = 64 << 10;
/// A stream without a layout gets its layout chosen after each line, up to this number of lines.
const LIVE_LINES: usize = 64;
/// The number of events of different sources that may wait for further lines.
const OPEN_EVENTS_MAX: usize = 16;

/// The layout of the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextLayout {
    /// Its name for people.
    pub(crate) name: &'static str,
    /// Whether lines of other texts, such as CSV, do not have it by chance.
    pub(crate) is_specific: bool,
}

/// The layout of a text that begins so; `None` for text without one.
pub(crate) fn layout_of(head: &[u8], options: &ReadOptions) -> Option<TextLayout> {
    let mut log = LogToJson::new(options, Micros(0));
    let mut rest = head;
    while !rest.is_empty() {
        let taken = log.push(rest);
        rest = rest.get(taken..).unwrap_or_default();
        log.ready.clear();
    }
    log.finish();
    let is_specific = log.choice.as_ref().is_some_and(|choice| choice.is_specific);
    log.layout().map(|name| TextLayout { name, is_specific })
}

/// Converts lines of text to JSON lines.
///
/// The caller passes bytes to [`push`](Self::push), then takes all rows from
/// [`next_row`](Self::next_row) before it passes more.
#[derive(Debug)]
pub struct LogToJson {
    splitter: LineSplitter,
    times: Times,
    regex: Option<RegexLines>,
    /// Whether each line is a row as it is.
    is_plain: bool,
    skip: usize,
    /// The first lines, until they are no longer needed for the choice of layouts.
    head: Vec<(u64, String)>,
    head_bytes: usize,
    choice: Option<Choice>,
    w3c: Option<W3cHead>,
    /// Events that further lines may belong to, the oldest first.
    open: Vec<Event>,
    /// The time of the last event whose end was not waited for.
    flushed: Option<Micros>,
    ready: VecDeque<(u64, Vec<u8>)>,
    counts: Counts,
    first_doubt: Option<(u64, String)>,
}

#[derive(Debug, Default)]
struct Counts {
    joined: u64,
    cut: u64,
    not_utf8: u64,
    doubts: u64,
    timed: u64,
    objects: u64,
}

impl LogToJson {
    /// Starts a text that is read by these options at `now`.
    #[must_use]
    pub fn new(options: &ReadOptions, now: Micros) -> Self {
        let regex = options.regex.as_deref().and_then(RegexLines::new);
        Self {
            splitter: LineSplitter::default(),
            times: Times::new(options, now),
            is_plain: options.format == Some(InputFormat::Lines) && regex.is_none(),
            regex,
            skip: options.skip.unwrap_or(0),
            head: Vec::new(),
            head_bytes: 0,
            choice: None,
            w3c: None,
            open: Vec::new(),
            flushed: None,
            ready: VecDeque::new(),
            counts: Counts::default(),
            first_doubt: None,
        }
    }

    /// Takes bytes until a row is ready, and returns their number.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && self.ready.is_empty() {
            let (count, is_whole) = self.splitter.push(&bytes[taken..]);
            taken += count;
            if is_whole {
                self.end_line();
            }
        }
        taken
    }

    /// Ends the text. The last rows are then ready.
    pub fn finish(&mut self) {
        if self.splitter.finish() {
            self.end_line();
        }
        self.flush();
        self.head = Vec::new();
    }

    /// Makes rows of all whole lines so far, without waiting for further lines of an event.
    pub fn flush(&mut self) {
        if self.choice.is_none() {
            self.choose();
        }
        self.flushed = self.open.last().map(|event| event.fields.time).unwrap_or(self.flushed);
        let open = std::mem::take(&mut self.open);
        open.into_iter().for_each(|event| self.emit(event));
    }

    /// Makes rows of all whole lines so far if they have no layout: these rows get their time of
    /// arrival, which is before that of the next bytes.
    pub fn flush_untimed(&mut self) {
        if self.choice.is_none() && self.chosen().name.is_none() {
            self.flush();
        }
    }

    /// Appends the next row to `out`, as a JSON object without a line feed. Returns the number of
    /// its first line, counted from 1; `None` if more bytes are needed.
    ///
    /// A line of more than [`LINE_BYTES_MAX`] bytes becomes a line above that limit, and no object.
    pub fn next_row(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        let (line, row) = self.ready.pop_front()?;
        out.extend_from_slice(&row);
        Some(line)
    }

    /// The name of the layout that most of the first lines have.
    #[must_use]
    pub fn layout(&self) -> Option<&'static str> {
        match &self.regex {
            Some(_) => Some("lines by --regex"),
            None => self.choice.as_ref()?.name,
        }
    }

    /// Whether any row so far has a time.
    #[must_use]
    pub const fn has_times(&self) -> bool {
        self.counts.timed > 0
    }

    /// The number of lines that were not UTF-8; they have U+FFFD in place of invalid bytes.
    #[must_use]
    pub const fn not_utf8(&self) -> u64 {
        self.counts.not_utf8
    }

    /// Whether the first line is a JSON object that was taken as text.
    pub(crate) const fn is_json(&self) -> bool {
        self.counts.objects > 0
    }

    /// What was assumed and what was cut.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let Counts { joined, cut, doubts, .. } = self.counts;
        let s = |count: u64| if count == 1 { "" } else { "s" };
        let warning = |code, count, message| Warning { code, count, message };
        let mut warnings = Vec::new();
        if joined > 0 {
            let message = format!(
                "{joined} line{} without a time went to the event before, column stack; \
                 --format lines makes each line a row",
                s(joined)
            );
            warnings.push(warning("joined_lines", joined, message));
        }
        if cut > 0 {
            let message = format!(
                "{cut} event{} had more than {STACK_LINES_MAX} further lines, or too many bytes; \
                 the rest was cut",
                s(cut)
            );
            warnings.push(warning("cut_events", cut, message));
        }
        if let Some((line, text)) = &self.first_doubt {
            let message = format!(
                "{doubts} time{} not understood, such as {text:?} in line {line}; --time-format \
                 says how times are spelled, --zone their zone",
                if doubts == 1 { " was" } else { "s were" }
            );
            warnings.push(warning("time_not_understood", doubts, message));
        }
        warnings
    }

    /// Takes the line that has ended.
    fn end_line(&mut self) {
        let (number, bytes) = self.splitter.line();
        let is_skipped = number <= self.skip as u64 || bytes.trim_ascii().is_empty();
        let is_too_long = bytes.len() > LINE_BYTES_MAX;
        let text = String::from_utf8_lossy(bytes);
        self.counts.not_utf8 +=
            u64::from(matches!(text, std::borrow::Cow::Owned(_)) && !is_skipped);
        let text = text.trim_start_matches('\u{feff}').to_owned();
        self.splitter.clear();
        if is_skipped {
            return;
        }
        if is_too_long {
            self.flush();
            return self.ready.push_back((number, text.into_bytes()));
        }
        if self.head.is_empty() && self.choice.is_none() && json_suffix::is_object(&text) {
            self.counts.objects = 1;
        }
        if self.is_head_full() {
            return self.line(number, &text);
        }
        self.head_bytes += text.len() + 1;
        let is_live = self.choice.is_some();
        let is_text = self.choice.as_ref().is_some_and(|choice| choice.name.is_none());
        self.head.push((number, text));
        // The layout of a stream is chosen again when it has twice as many lines; as long as it has
        // none, for each of the first lines.
        let count = self.head.len();
        if count.is_power_of_two() || (is_text && count <= LIVE_LINES) || self.is_head_full() {
            self.choose_again();
        }
        if is_live && let Some((number, text)) = self.head.last().cloned() {
            self.line(number, &text);
        }
        if self.is_head_full() {
            self.choose();
            self.head = Vec::new();
        }
    }

    const fn is_head_full(&self) -> bool {
        self.head_bytes >= HEAD_BYTES
    }

    /// Chooses the layouts of a stream again, by more lines.
    fn choose_again(&mut self) {
        if self.choice.is_some() {
            self.choice = Some(self.chosen());
        }
    }

    /// Chooses the layouts by the first lines. These lines become events, if that was not done.
    fn choose(&mut self) {
        if self.choice.is_none() {
            self.choice = Some(self.chosen());
            let head = std::mem::take(&mut self.head);
            for (number, line) in &head {
                self.line(*number, line);
            }
            self.head = head;
        }
    }

    /// The layouts of the first lines.
    fn chosen(&self) -> Choice {
        if self.is_plain || self.regex.is_some() {
            return Choice::default();
        }
        let lines = self.head.iter().map(|(_, line)| self.bare(line));
        let lines: Vec<(String, bool)> = lines.collect();
        let lines: Vec<(&str, bool)> =
            lines.iter().map(|(line, has)| (line.as_str(), *has)).collect();
        choice::choose(&lines)
    }

    /// A line without colours and prefix, and whether it had a prefix.
    fn bare(&self, line: &str) -> (String, bool) {
        let line = prefix::without_escapes(line);
        let unwrapped = prefix::unwrap(line.trim_end(), &self.times, &mut Fields::default());
        let has_prefix = unwrapped.is_timed || !unwrapped.source.is_empty();
        (unwrapped.text.to_owned(), has_prefix)
    }

    /// Makes a line an event, or a part of the event before.
    fn line(&mut self, number: u64, line: &str) {
        let whole = prefix::without_escapes(line);
        let line = whole.trim_end();
        if let Some(regex) = &self.regex {
            let mut fields = Fields::default();
            return match regex.read(line, &self.times, &mut fields) {
                true => self.begin(Event::new(number, "", line, fields)),
                false => self.join_or_reject(number, line),
            };
        }
        if self.is_plain {
            let mut fields = Fields::default();
            fields.time = self.times.leading(line);
            return self.emit(Event::new(number, "", line, fields));
        }
        if self.choice.as_ref().is_none_or(|choice| choice.name.is_none()) {
            return self.emit(Event::new(number, "", line, Fields::default()));
        }
        if w3c::is_directive(line) {
            self.w3c = w3c::head(line).or(self.w3c.take());
            return;
        }
        let mut fields = Fields::default();
        let unwrapped = prefix::unwrap(&whole, &self.times, &mut fields);
        let Unwrapped { source, text, is_timed, is_partial } = unwrapped;
        let (line, text) = if is_partial { (&*whole, text) } else { (line, text.trim_end()) };
        let open = self.open.iter_mut().find(|event| event.source == source);
        if let Some(event) = open.filter(|event| event.is_partial) {
            event.is_partial = is_partial;
            return event.extend(text);
        }
        let layout = self.read(text, !source.is_empty() || is_timed, &mut fields);
        let is_part = match layout {
            Some(_) => false,
            None => !is_timed || continuation::is_likely(text),
        };
        let mut event = Event::new(number, source, line, fields);
        event.layout = layout.unwrap_or_default();
        event.is_partial = is_partial;
        self.take(event, text, is_part);
    }

    /// Adds the columns of a line's layout, and returns its name; `None` if it has none.
    fn read(&self, text: &str, has_prefix: bool, fields: &mut Fields) -> Option<&'static str> {
        if let Some(head) = &self.w3c
            && head.read(text, &self.times, fields)
        {
            return Some(w3c::NAME);
        }
        let readings = self.choice.as_ref().map_or(&[][..], |choice| &choice.readings[..]);
        let fits = readings.iter().find(|reading| match reading {
            Reading::Pattern(matcher) => matcher.read(text, &self.times, fields),
            Reading::Syslog5424 => syslog5424::read(text, &self.times, fields),
            Reading::Logfmt => {
                let fits = logfmt::is_logfmt(text);
                if fits {
                    logfmt::read(text, &self.times, fields);
                }
                fits
            }
            Reading::Json => json_suffix::is_there(text),
        });
        // JSON after a prefix is a line of its own, also among lines of other layouts.
        let is_object = has_prefix && text.starts_with('{') && json_suffix::is_there(text);
        if matches!(fits, Some(Reading::Json)) || (fits.is_none() && is_object) {
            json_suffix::read(text, &self.times, fields);
            return Some(Reading::Json.name());
        }
        fits.map(|reading| reading.name())
    }

    /// Takes a line that is an event, or joins it to the last event of its source.
    fn take(&mut self, event: Event, text: &str, is_part: bool) {
        let source = self.open.iter_mut().find(|open| open.source == event.source);
        if let Some(open) = source.filter(|open| open.is_event()) {
            let ends_traceback = event.layout.is_empty()
                && open.is_in_traceback()
                && continuation::is_exception(text);
            if is_part || ends_traceback {
                self.counts.joined += 1;
                return open.join(text, &self.times);
            }
        } else if is_part && self.flushed.is_some() {
            // The event is on its way already; the line is at its time.
            self.counts.joined += 1;
            let mut event = event;
            event.fields.time = self.flushed;
            return self.begin(event);
        }
        if is_part && event.line <= 64 && is_preamble(text, self.layout()) {
            return;
        }
        self.begin(event);
    }

    fn join_or_reject(&mut self, line: u64, text: &str) {
        match self.open.last_mut() {
            Some(event) if continuation::is_likely(text) => {
                self.counts.joined += 1;
                event.join(text, &self.times);
            }
            _ => {
                let mut row = Vec::new();
                row_reject::write("the line does not match --regex", text, &mut row);
                self.flush();
                self.ready.push_back((line, row));
            }
        }
    }

    /// Opens an event; the one before of the same source is complete.
    fn begin(&mut self, mut event: Event) {
        if let Some(text) = event.fields.doubt.take() {
            self.counts.doubts += 1;
            self.first_doubt.get_or_insert((event.line, text));
        }
        let place = self.open.iter().position(|open| open.source == event.source);
        if let Some(place) = place {
            let before = self.open.remove(place);
            if event.layout == "PostgreSQL" {
                event.fields.explain(&before.fields);
            }
            self.emit(before);
        }
        if self.open.len() >= OPEN_EVENTS_MAX {
            let oldest = self.open.remove(0);
            self.emit(oldest);
        }
        self.open.push(event);
    }

    fn emit(&mut self, event: Event) {
        self.counts.cut += u64::from(event.is_cut);
        self.counts.timed += u64::from(event.fields.time.is_some());
        self.ready.push_back((event.line, event.to_row()));
    }
}

/// Whether a line at the beginning of a file says something of the file, and is no event.
fn is_preamble(text: &str, layout: Option<&str>) -> bool {
    let beginnings = ["Tcp port:", "Time   "];
    let is_start = text.contains(", Version: ") && text.ends_with("started with:");
    let is_head = beginnings.iter().any(|beginning| text.starts_with(beginning));
    layout == Some("MySQL slow log") && (is_start || is_head)
}

#[cfg(test)]
mod tests;
