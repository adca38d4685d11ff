//! Regular expressions of users, whose named groups are columns.

use regex::{Regex, RegexBuilder};

/// The most bytes of the compiled expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Compiles an expression.
///
/// # Errors
/// A sentence without the option's name: why it cannot be used.
pub(crate) fn compile(text: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build();
    let regex = regex.map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim();
        format!("{text:?}: {}", last.trim_start_matches("error: "))
    })?;
    match regex.capture_names().flatten().next() {
        Some(_) => Ok(regex),
        None => Err(format!("{text:?}; it needs named groups, such as (?<user>[a-z]+)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regex_that_cannot_be_used_says_why() {
        for (text, reason) in [
            ("(", "unclosed group"),
            ("(?<a>x", "unclosed group"),
            ("a+", "it needs named groups"),
            (r"(?<a>\w{1000}{1000})", "exceeds size limit"),
        ] {
            let error = compile(text).expect_err(text);
            assert!(error.contains(reason), "{error}");
        }
    }
}
