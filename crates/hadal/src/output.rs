//! The terminal: the only module that writes to standard output and standard error.
//!
//! Standard output has only the result of the command, so that it can be piped. Standard error has
//! all messages. Output to a terminal is escaped first, so that no value and no server can control
//! the terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use rustix::termios::tcgetwinsize;

use crate::error::Error;
use crate::terminal_escape::visible_lines;

/// Columns of a terminal that does not report its width.
const LINE_WIDTH_DEFAULT: usize = 80;

/// Writes the result of a command: escaped on a terminal, otherwise byte for byte. A reader that
/// has gone (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let text = if is_terminal() { visible_lines(text) } else { text.into() };
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("write to", "standard output")(error))
        }
        _ => Ok(()),
    }
}

/// Writes a text in place of the one before, if standard output is a terminal; otherwise beneath
/// it, after an empty line.
pub(crate) fn redraw(text: &str) -> Result<(), Error> {
    if !is_terminal() {
        return print(&format!("{text}\n"));
    }
    let mut out = io::stdout().lock();
    let rows = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
    let text = first_lines(text, rows.saturating_sub(1));
    // The cursor goes home; each line clears its rest, the last one all below.
    let lines = visible_lines(&text).replace('\n', "\x1b[K\n");
    let written = write!(out, "\x1b[H{lines}\x1b[J").and_then(|()| out.flush());
    written.map_err(Error::io("write to", "standard output"))
}

/// The first lines of a text, and how many lines are left out; the whole text if there is no limit.
fn first_lines(text: &str, lines_max: usize) -> Cow<'_, str> {
    let lines = text.lines().count();
    if lines_max == 0 || lines <= lines_max {
        return text.into();
    }
    let shown: String = text.split_inclusive('\n').take(lines_max - 1).collect();
    let left_out = (lines + 1 - lines_max) as u64;
    format!("{shown}... and {}\n", count(left_out, "more line")).into()
}

/// Writes a message to standard error. A failed write is no error.
pub(crate) fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", visible_lines(text));
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The width of the terminal at standard output in columns, or `None` if standard output is no
/// terminal.
pub(crate) fn line_width() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    Some(if columns == 0 { LINE_WIDTH_DEFAULT } else { columns })
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question with the answers yes and no. Every answer but `y` and `yes` counts as no.
pub(crate) fn ask(question: &str) -> Result<bool, Error> {
    let mut err = io::stderr().lock();
    let _ = write!(err, "{} [y/N] ", visible_lines(question));
    let _ = err.flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(Error::io("read", "standard input"))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Formats a number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number of things: `1 row`, `2,000 rows`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Formats a number of bytes in the largest unit that keeps a digit before the point.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1_024 {
        return format!("{number} B");
    }
    let mut size = number as f64 / 1_024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if size < 1_024.0 {
            break;
        }
        size /= 1_024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_the_screen_is_counted() {
        assert_eq!(first_lines("a\nb\nc\n", 3), "a\nb\nc\n");
        assert_eq!(first_lines("a\nb\nc\n", 2), "a\n... and 2 more lines\n");
        assert_eq!(first_lines("a\nb\n", 1), "... and 2 more lines\n");
        assert_eq!(first_lines("a\nb\n", 0), "a\nb\n");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(1_000, "row"), "1,000 rows");
        assert_eq!(bytes(1_023), "1023 B");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(bytes(1 << 30), "1.0 GiB");
    }
}
