//! The files of `tests/corpus`, in the styles of many producers, become the right rows: when they
//! are imported, and when they are posted with their names.
//!
//! Beside each file, `NAME.rows.json` has what must come out:
//!
//! | member | what it is |
//! |---|---|
//! | `options` | the arguments that the file needs; an import without them has to name them |
//! | `time` | the time column, or null for the time of arrival |
//! | `rows` | all rows, in any order, without the time of arrival and without nulls |
//! | `rejects` | the number of rejected rows |
//! | `exit` | the exit code |
//! | `says` | texts that the first import prints |
//! | `year` | `????`, if the file's times name no year: the year in the rows is written so |

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Finished, Server};

/// The least number of files.
const FILES_MIN: usize = 60;

/// A file, and what must come out of it.
struct Case {
    path: PathBuf,
    name: String,
    expected: Value,
}

impl Case {
    /// Reads what must come out of a file.
    fn read(path: PathBuf) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let expected = std::fs::read(path.with_file_name(format!("{name}.rows.json")));
        let expected = expected.unwrap_or_else(|error| panic!("the rows of {name}: {error}"));
        let expected = serde_json::from_slice(&expected);
        let expected = expected.unwrap_or_else(|error| panic!("the rows of {name}: {error}"));
        Self { path, name, expected }
    }

    fn texts(&self, member: &str) -> Vec<&str> {
        let texts = self.expected[member].as_array().unwrap();
        texts.iter().map(|text| text.as_str().unwrap()).collect()
    }

    /// Imports the file, and returns what is wrong.
    fn check(&self, server: &Server, table: &str) -> Result<(), String> {
        let options = self.texts("options");
        let first = self.import(server, table, &[]);
        for text in self.texts("says") {
            if !first.stderr.contains(text) {
                return Err(format!("it does not say {text:?}, but: {}", first.stderr));
            }
        }
        if options.is_empty() {
            return self.compare(server, table, &first);
        }
        let table = format!("{table}_with_options");
        let second = self.import(server, &table, &options);
        self.compare(server, &table, &second)
    }

    fn import(&self, server: &Server, table: &str, options: &[&str]) -> Finished {
        let path = self.path.to_str().unwrap();
        server.run(&[&["import", path, "--table", table], options].concat(), b"")
    }

    fn compare(&self, server: &Server, table: &str, import: &Finished) -> Result<(), String> {
        let exit = self.expected["exit"].as_i64().unwrap();
        if i64::from(import.code) != exit {
            return Err(format!("exit code {}, not {exit}: {}", import.code, import.stderr));
        }
        let time = self.expected["time"].as_str();
        let from = time.map_or_else(|| "time of arrival".to_owned(), |name| format!("from {name}"));
        if !import.stderr.contains(&from) {
            return Err(format!("it does not say {from:?}, but: {}", import.stderr));
        }
        self.compare_rows(server, table, &import.stderr)
    }

    /// Posts the file to the server, and returns what is wrong. Files that need options are left
    /// out.
    fn check_post(&self, server: &Server, table: &str) -> Result<(), String> {
        if !self.texts("options").is_empty() {
            return Ok(());
        }
        let body = std::fs::read(&self.path).unwrap();
        let (status, answer) = server.post_file(table, &self.name, &body);
        if status != "200" {
            return Err(format!("status {status}: {answer}"));
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        if answer["rejected_count"] != self.expected["rejects"] {
            return Err(format!("not {} rejects: {answer}", self.expected["rejects"]));
        }
        self.compare_rows(server, table, &answer.to_string())
    }

    /// Compares the rows of a table with the right ones.
    fn compare_rows(&self, server: &Server, table: &str, said: &str) -> Result<(), String> {
        let (time, year) = (self.expected["time"].as_str(), self.expected["year"].as_str());
        let sql = format!("SELECT * FROM {table} LIMIT 100");
        let answer = server.run(&["query", "--format", "jsonl", &sql], b"");
        let rows = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let rows = sorted(rows.map(|row| normal_row(row, time, year)));
        let expected = self.expected["rows"].as_array().unwrap().iter().cloned();
        let expected = sorted(expected.map(|row| normal_row(row, time, year)));
        let (only_here, only_there) = (without(&expected, &rows), without(&rows, &expected));
        if only_here.is_empty() && only_there.is_empty() {
            return Ok(());
        }
        let (here, there) = (only_here.join("\n  "), only_there.join("\n  "));
        Err(format!("expected\n  {here}\n came out\n  {there}\n said {said}"))
    }
}

fn sorted(rows: impl Iterator<Item = Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows.map(|row| row.to_string()).collect();
    rows.sort_unstable();
    rows
}

/// The rows that the other list has not.
fn without(rows: &[String], others: &[String]) -> Vec<String> {
    let mut others = others.to_vec();
    let mut left = Vec::new();
    for row in rows {
        match others.iter().position(|other| other == row) {
            Some(at) => drop(others.swap_remove(at)),
            None => left.push(row.clone()),
        }
    }
    left
}

/// A row without nulls and without its time of arrival; numbers and times in one spelling.
fn normal_row(row: Value, time: Option<&str>, year: Option<&str>) -> Value {
    let Value::Object(mut cells) = row else { panic!("{row} is no row") };
    if time.is_none() {
        cells.remove("time");
    }
    cells.retain(|_, cell| !cell.is_null());
    for (name, cell) in &mut cells {
        match cell {
            Value::Number(number) => *cell = Value::from(number.as_f64().unwrap()),
            Value::String(text) if is_time(text) => {
                let mut normal = normal_time(text);
                if let Some(year) = year
                    && Some(name.as_str()) == time
                {
                    normal.replace_range(..4, year);
                }
                *text = normal;
            }
            _ => {}
        }
    }
    Value::Object(cells)
}

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z')
}

/// A time without the zeros at the end of its fraction.
fn normal_time(text: &str) -> String {
    let digits = text.trim_end_matches('Z');
    let short = if digits.contains('.') { digits.trim_end_matches('0') } else { digits };
    format!("{}Z", short.trim_end_matches('.'))
}

/// The files, by name.
fn cases() -> Vec<Case> {
    // Read at run time: a build may be reused for another checkout.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let folder = Path::new(&package).join("../../tests/corpus").canonicalize().unwrap();
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| !path.to_str().unwrap().ends_with(".rows.json")).collect();
    paths.sort_unstable();
    paths.into_iter().map(Case::read).collect()
}

/// Checks each file with a table of its own. All must be right.
fn assert_all(check: impl Fn(&Case, &Server, &str) -> Result<(), String>) {
    let server = Server::start_with(&["--memory", "--leaves", "2"]);
    let mut reasons = Vec::new();
    for (index, case) in cases().iter().enumerate() {
        if let Err(reason) = check(case, &server, &format!("corpus_{index}")) {
            reasons.push(format!("{}: {reason}", case.name));
        }
    }
    assert!(reasons.is_empty(), "{} files are wrong:\n{}", reasons.len(), reasons.join("\n"));
}

#[test]
fn all_files_of_the_corpus_become_the_right_rows() {
    assert_all(Case::check);
}

#[test]
fn all_files_of_the_corpus_become_the_same_rows_over_http() {
    assert_all(Case::check_post);
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(cases().len() >= FILES_MIN, "{} files; at least {FILES_MIN}", cases().len());
}

#[test]
fn differences_of_rows_are_found() {
    let row = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let normal = |text: &str| normal_row(row(text), Some("t"), None).to_string();
    let first = normal(r#"{"t": "2026-11-21T03:51:42.120Z", "n": 1, "x": null}"#);
    assert_eq!(first, normal(r#"{"n": 1.0, "t": "2026-11-21T03:51:42.12Z"}"#));
    assert_ne!(first, normal(r#"{"n": "1", "t": "2026-11-21T03:51:42.12Z"}"#));
    let (a, b) = (["1".to_owned(), "1".to_owned()], ["1".to_owned()]);
    assert_eq!((without(&a, &b).len(), without(&b, &a).len()), (1, 0));
}
