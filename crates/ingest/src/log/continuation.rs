//! Lines that belong to the line before them, such as the frames of a stack trace.

/// How frames and the lines around them begin.
const BEGINNINGS: [&str; 15] = [
    " ",
    "\t",
    "at ",
    "Caused by: ",
    "Suppressed: ",
    "Traceback (most recent call last)",
    "During handling of the above exception",
    "The above exception was the direct cause",
    "stack backtrace:",
    "note: run with `RUST_BACKTRACE",
    "goroutine ",
    "--- End of ",
    "# User@Host: ",
    "# Query_time: ",
    "SET timestamp=",
];

/// Whether a line looks like a part of what is before it: a frame, an indented line, a closing
/// bracket.
pub(super) fn is_likely(line: &str) -> bool {
    let has_beginning = BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
    has_beginning
        || line.starts_with("... ") && line.ends_with(" more")
        || matches!(line, "}" | ")" | "]" | "};" | "})")
}

/// Whether a line names an exception, as it stands at the end of a traceback of Python.
pub(super) fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    is_name
        && ["Error", "Exception", "Warning", "Exit", "Interrupt"].iter().any(|e| last.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_indented_lines_are_likely() {
        for line in
            ["\tat a.B.c(B.java:1)", "at x", "Caused by: y", "... 23 more", "  File \"a\"", "}"]
        {
            assert!(is_likely(line), "{line}");
        }
        for line in ["", "attention", "x at y", "ValueError: x", "... and more to come"] {
            assert!(!is_likely(line), "{line}");
        }
    }

    #[test]
    fn exceptions_have_names() {
        for line in ["ValueError: x", "a.b.TimeoutError", "java.lang.IllegalStateException: no"] {
            assert!(is_exception(line), "{line}");
        }
        for line in ["", "error: x", "An Error", "no: ValueError"] {
            assert!(!is_exception(line), "{line}");
        }
    }
}
