//! The inputs that a command's arguments name: files, folders, patterns and addresses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output;

/// The characters of patterns.
const PATTERN: [char; 3] = ['*', '?', '['];
/// The extensions of compressed files.
const COMPRESSED: [&str; 4] = ["gz", "gzip", "zst", "zstd"];

/// An input of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file, or standard input for `-`.
    File(PathBuf),
    /// An address that begins with `http://` or `https://`.
    Url(String),
}

impl Input {
    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Url(url) => url.clone(),
        }
    }

    /// The path whose last name says what is in it.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Url(url) => {
                let end = url.find(['?', '#']).unwrap_or(url.len());
                let address = url[..end].split_once("://").map_or("", |(_, address)| address);
                PathBuf::from(address.trim_end_matches('/'))
            }
        }
    }
}

/// Returns the inputs that arguments name, and sentences about what is left out.
///
/// # Errors
/// [`Error::Input`] for a folder without files, and for a pattern that nothing matches.
pub(crate) fn locate(arguments: &[PathBuf]) -> Result<(Vec<Input>, Vec<String>), Error> {
    let (mut inputs, mut remarks) = (Vec::new(), Vec::new());
    for argument in arguments {
        let text = argument.to_string_lossy();
        if text.starts_with("http://") || text.starts_with("https://") {
            inputs.push(Input::Url(text.into_owned()));
        } else if argument.is_dir() {
            inputs.extend(files_in(argument, &mut remarks)?.into_iter().map(Input::File));
        } else if text.contains(PATTERN) && !argument.exists() {
            inputs.extend(files_like(&text)?.into_iter().map(Input::File));
        } else {
            inputs.push(Input::File(argument.clone()));
        }
    }
    Ok((inputs, remarks))
}

/// The files of a folder in the order of their names, without hidden ones and without folders.
fn files_in(folder: &Path, remarks: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
    let place = folder.display().to_string();
    let (mut files, mut hidden, mut folders) = (Vec::new(), 0, 0);
    for entry in fs::read_dir(folder).map_err(Error::io("read", &place))? {
        let path = entry.map_err(Error::io("read", &place))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            hidden += 1;
        } else if path.is_dir() {
            folders += 1;
        } else {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::Input { place, reason: "is a folder without files".to_owned() });
    }
    if hidden + folders > 0 {
        let left_out = [(hidden, "hidden file"), (folders, "folder")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| output::count(count, noun))
            .collect::<Vec<_>>()
            .join(" and ");
        remarks.push(format!("{place}: {left_out} left out"));
    }
    Ok(files)
}

/// The files that match a pattern, in the order of their names.
fn files_like(pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let failed = |reason: String| Error::Input { place: pattern.to_owned(), reason };
    let paths = glob::glob(pattern).map_err(|error| failed(error.to_string()))?;
    let files: Vec<PathBuf> = paths.flatten().filter(|path| path.is_file()).collect();
    if files.is_empty() {
        return Err(failed("no file has such a name".to_owned()));
    }
    Ok(files)
}

/// Returns a table name for each input. The files of a rotated log share one: `access.log`,
/// `access.log.1` and `access.log.2.gz`. Other inputs of the same name are numbered.
pub(crate) fn table_names(inputs: &[Input]) -> Vec<String> {
    let mut families: BTreeMap<(PathBuf, String), String> = BTreeMap::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let name = |input: &Input| {
        let path = input.path();
        let new = || {
            let stem = stem(&path);
            let count = counts.entry(stem.clone()).or_default();
            *count += 1;
            if *count == 1 { stem } else { format!("{stem}-{count}") }
        };
        families.entry(family(&path)).or_insert_with(new).clone()
    };
    inputs.iter().map(name).collect()
}

/// Returns a table name for a file: its name without folders and extensions, so that
/// `logs/web.csv.gz` is `web`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = if name == "-" { "stdin".into() } else { name };
    let stem = name.trim_start_matches(['.', '_']).split('.').next().unwrap_or_default();
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let table: String = stem.chars().map(allowed).take(100).collect();
    // Names that begin with an underscore are Hadal's self tables.
    let table = table.trim_start_matches('_');
    if table.is_empty() { "data".to_owned() } else { table.to_owned() }
}

/// The folder and the name of a file, without what compression and rotation add to the name.
fn family(path: &Path) -> (PathBuf, String) {
    let folder = path.parent().unwrap_or_else(|| Path::new("")).to_path_buf();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_date = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default();
    let others = parts.filter(|part| !COMPRESSED.contains(part) && !is_date(part)).map(|part| {
        part.split_once('-').filter(|(_, date)| is_date(date)).map_or(part, |(p, _)| p)
    });
    let parts: Vec<&str> = [first].into_iter().chain(others).collect();
    (folder, parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        let input = |file: &&str| match file.starts_with("http") {
            true => Input::Url((*file).to_owned()),
            false => Input::File(PathBuf::from(*file)),
        };
        table_names(&files.iter().map(input).collect::<Vec<_>>())
    }

    #[test]
    fn tables_are_named_after_files() {
        for (path, table) in [
            ("logs/web.csv.gz", "web"),
            ("-", "stdin"),
            ("flights-3m.parquet", "flights-3m"),
            ("_own.json", "own"),
            ("été 1.csv", "t__1"),
            (".hidden", "hidden"),
            ("...", "data"),
        ] {
            assert_eq!(stem(Path::new(path)), table, "{path}");
        }
    }

    #[test]
    fn each_file_has_its_table() {
        assert_eq!(names(&["a.csv", "b/a.json", "x.log"]), ["a", "a-2", "x"]);
        assert_eq!(names(&["a.csv", "a.json", "a.csv"]), ["a", "a-2", "a"]);
        let url = "https://example.com/data/trips.csv.gz?raw=1#top";
        assert_eq!(names(&[url, "-", "https://example.com/"]), ["trips", "stdin", "example"]);
    }

    #[test]
    fn the_files_of_a_rotated_log_share_a_table() {
        let files = [
            "access.log",
            "access.log.1",
            "access.log.2.gz",
            "access.log-20261121",
            "access.2026-11-21.log",
            "access.log.2026-11-21.zst",
        ];
        assert_eq!(names(&files), ["access"; 6]);
        assert_eq!(names(&["a/access.log", "b/access.log.1"]), ["access", "access-2"]);
    }

    #[test]
    fn folders_and_patterns_name_their_files() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b.csv", "a.csv", ".hidden", "c.log"] {
            fs::write(folder.path().join(name), "x").expect("written");
        }
        fs::create_dir(folder.path().join("deeper")).expect("a folder");
        let file = |name: &str| Input::File(folder.path().join(name));
        let (inputs, remarks) = locate(&[folder.path().to_path_buf()]).expect("files");
        assert_eq!(inputs, ["a.csv", "b.csv", "c.log"].map(file));
        assert!(remarks[0].ends_with(": 1 hidden file and 1 folder left out"), "{remarks:?}");
        let (inputs, _) = locate(&[folder.path().join("*.csv")]).expect("files");
        assert_eq!(inputs, ["a.csv", "b.csv"].map(file));
        for nothing in ["*.json", "deeper"] {
            assert!(locate(&[folder.path().join(nothing)]).is_err(), "{nothing}");
        }
        let others = ["-", "no-such-file", "http://h/x"].map(PathBuf::from);
        assert_eq!(locate(&others).expect("inputs").0.len(), 3);
    }
}
