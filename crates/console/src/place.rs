//! Where definitions are.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::ConsoleError;

/// Where definitions are.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// In this process, until it ends.
    Memory,
    /// In a SQLite file, which is made if it is not there.
    File(PathBuf),
    /// In a PostgreSQL database: its URL, which may hold a password.
    Postgres(String),
}

impl FromStr for Place {
    type Err = ConsoleError;

    /// Reads `postgres://…`, `sqlite:FILE`, or the path of a SQLite file.
    fn from_str(text: &str) -> Result<Self, ConsoleError> {
        let wrong = || ConsoleError::Place(hidden(text));
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let file = text.strip_prefix("sqlite:").unwrap_or(text);
        let file = file.strip_prefix("//").unwrap_or(file);
        match file.is_empty() || file.contains("://") || file.contains(":memory:") {
            true => Err(wrong()),
            false => Ok(Self::File(file.into())),
        }
    }
}

impl fmt::Display for Place {
    /// Without a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => formatter.write_str("memory"),
            Self::File(file) => write!(formatter, "{}", file.display()),
            Self::Postgres(url) => formatter.write_str(&hidden(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A URL without its password, and without parameters, where there may be another.
fn hidden(url: &str) -> String {
    let url = url.split_once('?').map_or(url, |(url, _)| url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let Some((user, host)) = rest.rsplit_once('@') else { return url.to_owned() };
    let user = user.split_once(':').map_or(user, |(user, _)| user);
    format!("{scheme}://{user}@{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let file = |path: &str| Place::File(path.into());
        for (text, place) in [
            ("sqlite:/var/lib/hadal/x.sqlite", file("/var/lib/hadal/x.sqlite")),
            ("sqlite:///var/x", file("/var/x")),
            ("definitions.sqlite", file("definitions.sqlite")),
            ("postgres://h/d", Place::Postgres("postgres://h/d".to_owned())),
            ("postgresql://h/d", Place::Postgres("postgresql://h/d".to_owned())),
        ] {
            assert_eq!(text.parse::<Place>().expect(text), place);
        }
        for text in ["", "sqlite:", "mysql://u:secret@h/d", "sqlite::memory:"] {
            let error = text.parse::<Place>().expect_err(text).to_string();
            assert!(error.contains("write postgres://") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for url in [
            "postgres://ada:secret@db:5432/hadal?password=secret",
            "postgres://ada:sec@ret@db:5432/hadal",
            "postgres://ada@db:5432/hadal",
        ] {
            let place: Place = url.parse().expect(url);
            assert_eq!(place.to_string(), "postgres://ada@db:5432/hadal");
            assert_eq!(format!("{place:?}"), place.to_string());
        }
    }
}
