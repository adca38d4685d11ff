//! The location of definitions.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::DefinitionsError;

/// The location of definitions.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process, until it ends.
    Memory,
    /// In a SQLite file, which is made if it is missing.
    File(PathBuf),
    /// In a PostgreSQL database: its URL, which may hold a password.
    Postgres(String),
}

impl FromStr for Location {
    type Err = DefinitionsError;

    /// Reads `postgres://…`, `sqlite:FILE`, or the path of a SQLite file. Refuses an almost correct
    /// URL: as a path it would create new, empty definitions.
    fn from_str(text: &str) -> Result<Self, DefinitionsError> {
        let wrong = || DefinitionsError::Location(without_user(text));
        if text != text.trim() {
            return Err(wrong());
        }
        if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let file = match text.strip_prefix("sqlite:") {
            Some(file) => file.strip_prefix("//").unwrap_or(file),
            None if is_path(text) => text,
            None => return Err(wrong()),
        };
        match file.is_empty() || file.contains("://") || file.contains(":memory:") {
            true => Err(wrong()),
            false => Ok(Self::File(file.into())),
        }
    }
}

/// Whether a text is a path, not almost a URL: a path may have a colon or `//` only after a leading
/// `/` or `.`.
fn is_path(text: &str) -> bool {
    let is_plain = || !text.contains(':') && !text.contains("//") && !text.contains('@');
    text.starts_with(['/', '.']) || is_plain()
}

impl Location {
    /// The text without any word of the location's user part: messages about a URL may quote it.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let Self::Postgres(url) = self else { return text.to_owned() };
        let user = url.rsplit_once('@').map_or("", |(user, _)| user);
        let user = user.split_once("://").map_or(user, |(_, user)| user);
        // Parameters may also contain the user.
        let parameters = url.rsplit_once('?').map_or("", |(_, parameters)| parameters).split('&');
        let parameters = parameters.filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            ["user", "password"].contains(&name).then_some(value)
        });
        let words = user.split(':').chain(parameters).filter(|word| !word.is_empty());
        // As written, and percent-decoded.
        let words = words.flat_map(|word| [word.to_owned(), percent_decoded(word)]);
        words.fold(text.to_owned(), |text, word| match word.len() {
            // Such a short word also occurs in other words.
            ..4 => ['"', '\'']
                .into_iter()
                .fold(text, |text, quote| text.replace(&format!("{quote}{word}{quote}"), HIDDEN)),
            _ => text.replace(&*word, HIDDEN),
        })
    }
}

/// Decodes the percent-encoding of a word of a URL; anything else stays unchanged.
fn percent_decoded(word: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(word.len()), word.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let code = digits.and_then(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = code.and_then(|_| after.get(2..)).unwrap_or(after);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Replaces a word of a URL's user part.
const HIDDEN: &str = "(hidden)";

impl fmt::Display for Location {
    /// Without the user part of a URL.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => formatter.write_str("memory"),
            Self::File(file) => write!(formatter, "{}", file.display()),
            Self::Postgres(url) => formatter.write_str(&without_user(url)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A URL, or almost one, without its user part, and without parameters, which may contain another
/// user.
fn without_user(url: &str) -> String {
    let url = url.trim();
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    // From the last @ on: a password may contain further ones, and a `?`.
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = host.split_once('?').map_or(host, |(host, _)| host);
    format!("{scheme}{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let file = |path: &str| Location::File(path.into());
        for (text, location) in [
            ("sqlite:/var/lib/hadal/x.sqlite", file("/var/lib/hadal/x.sqlite")),
            ("sqlite:///var/x", file("/var/x")),
            ("definitions.sqlite", file("definitions.sqlite")),
            ("postgres://h/d", Location::Postgres("postgres://h/d".to_owned())),
            ("postgresql://h/d", Location::Postgres("postgresql://h/d".to_owned())),
        ] {
            assert_eq!(text.parse::<Location>().expect(text), location);
        }
        assert_eq!("./a:b".parse::<Location>().expect("a path"), file("./a:b"));
        for text in [
            "",
            "sqlite:",
            "mysql://ada:secret@h/d",
            "sqlite::memory:",
            "postgres:ada:secret@h",
            "postgres:ada@h",
            "ada:secret@h/d",
            "postgresql//ada:secret@h/d",
            " postgres://ada:secret@h/d",
            "postgres://h/d ",
            "Sqlite:x",
            "http://h",
        ] {
            let error = text.parse::<Location>().expect_err(text).to_string();
            assert!(error.contains("write postgres://"), "{error}");
            assert!(!error.contains("secret") && !error.contains("ada"), "{error}");
        }
    }

    #[test]
    fn users_and_passwords_are_not_shown() {
        for url in [
            "postgres://ada:secret@db:5432/hadal?password=secret",
            "postgres://ada:sec@ret@db:5432/hadal",
            "postgres://ada@db:5432/hadal",
        ] {
            let location: Location = url.parse().expect(url);
            assert_eq!(location.to_string(), "postgres://db:5432/hadal");
            assert_eq!(format!("{location:?}"), location.to_string());
        }
        let encoded = "postgres://ad%61%6Cina:s%65cret%21@db/hadal?password=hi%64den%zz";
        let location: Location = encoded.parse().expect("a location");
        let said = "no user \"adalina\" (s%65cret%21, secret!), ad%61%6Cina, hidden%zz";
        let redacted = "no user \"(hidden)\" ((hidden), (hidden)), (hidden), (hidden)";
        assert_eq!(location.redacted(said), redacted);
        assert_eq!(location.to_string(), "postgres://db/hadal");
        let location: Location = "postgres://ada:se?cret@db/hadal".parse().expect("a location");
        assert_eq!(location.to_string(), "postgres://db/hadal");
        let said = "password authentication failed for user \"ada\" (se?cret), radar";
        let redacted = "password authentication failed for user (hidden) ((hidden)), radar";
        assert_eq!(location.redacted(said), redacted);
    }
}
