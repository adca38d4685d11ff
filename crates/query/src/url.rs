//! The parts of a URL (RFC 3986, appendix B), as written: nothing is normalized.
//!
//! Not the crate `url`: that checks and rewrites whole URLs for a browser, with tables for
//! international names. Logs have parts of URLs, such as `/path?a=1`, and texts that are not quite
//! URLs. These are read as far as they can be.

use std::borrow::Cow;

/// A URL, split.
struct Parts<'t> {
    /// What is between `//` and the path, if anything.
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
}

fn split(text: &str) -> Parts<'_> {
    let (text, _fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = match text.split_once('?') {
        Some((text, query)) => (text, Some(query)),
        None => (text, None),
    };
    let text = without_scheme(text);
    let Some(rest) = text.strip_prefix("//") else {
        return Parts { authority: None, path: text, query };
    };
    let end = rest.find('/').unwrap_or(rest.len());
    Parts { authority: Some(&rest[..end]), path: &rest[end..], query }
}

/// The text after `https:`. A scheme is a letter, then letters, digits and `+-.`.
fn without_scheme(text: &str) -> &str {
    let Some((scheme, rest)) = text.split_once(':') else { return text };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // `example.org:80/path` has a port and no scheme.
    let is_port = rest.starts_with(|first: char| first.is_ascii_digit());
    if is_scheme && !is_port { rest } else { text }
}

/// The host in lower case, an IPv6 address with its brackets; `None` if there is none.
pub(crate) fn host(text: &str) -> Option<String> {
    let authority = split(text).authority?;
    let (_user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let host = match place.find(']') {
        Some(end) => &place[..=end],
        None => place.split_once(':').map_or(place, |(host, _port)| host),
    };
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// The path as written; `/` if it is empty beside a host.
pub(crate) fn path(text: &str) -> &str {
    let parts = split(text);
    match parts.path {
        "" if parts.authority.is_some() => "/",
        path => path,
    }
}

/// The decoded value of the first parameter of this name.
pub(crate) fn parameter(text: &str, name: &str) -> Option<String> {
    let pairs = split(text).query?.split('&').filter(|pair| !pair.is_empty());
    let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|(key, _)| decoded(key) == name).map(|(_, value)| decoded(value).into_owned())
}

/// Decodes `%20` and `+`. What is not UTF-8 becomes U+FFFD; a `%` without two hexadecimal digits
/// stays.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        bytes.push(match (first, tail) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..])
                if let (Some(high), Some(low)) = (digit(*high), digit(*low)) =>
            {
                rest = after;
                high << 4 | low
            }
            (first, _) => *first,
        });
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_paths() {
        for (url, expected_host, expected_path) in [
            ("https://Example.org/a/b?x=1#f", Some("example.org"), "/a/b"),
            ("https://example.org", Some("example.org"), "/"),
            ("https://example.org?x=1", Some("example.org"), "/"),
            ("http://u:p@example.org:8080/", Some("example.org"), "/"),
            ("http://[::1]:80/a", Some("[::1]"), "/a"),
            ("//cdn.example.org/x.js", Some("cdn.example.org"), "/x.js"),
            ("/a/b?redirect=https://example.org/", None, "/a/b"),
            ("example.org:80/a", None, "example.org:80/a"),
            ("mailto:a@example.org", None, "a@example.org"),
            ("file:///etc/hosts", None, "/etc/hosts"),
            ("https://", None, "/"),
            ("", None, ""),
            ("a:b:c", None, "b:c"),
            ("http://é]@[x", Some("[x"), "/"),
        ] {
            assert_eq!(host(url).as_deref(), expected_host, "{url}");
            assert_eq!(path(url), expected_path, "{url}");
        }
    }

    #[test]
    fn parameters_are_decoded() {
        let url = "/s?q=a+b%20c&empty=&flag&%C3%A9=1&q=2&bad=%zz%4&b=%ff#q=3";
        for (name, expected) in [
            ("q", Some("a b c")),
            ("empty", Some("")),
            ("flag", Some("")),
            ("é", Some("1")),
            ("bad", Some("%zz%4")),
            ("b", Some("\u{fffd}")),
            ("none", None),
        ] {
            assert_eq!(parameter(url, name).as_deref(), expected, "{name}");
        }
        assert_eq!(parameter("/s", "q"), None);
    }
}
