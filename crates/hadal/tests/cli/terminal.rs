//! The progress that a person sees on a terminal. `script` provides the terminal.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::harness::{Finished, Running, Server, finish, url_in};

/// The binary on its own terminal; its output to the terminal appears on standard output.
fn on_a_terminal(args: &[&str]) -> Command {
    let mut command = Command::new("script");
    let quoted = |word: &&str| format!("'{word}'");
    let words: Vec<String> = [env!("CARGO_BIN_EXE_hadal")].iter().chain(args).map(quoted).collect();
    let line = format!("stty cols 120; exec {}", words.join(" "));
    command.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
    command.env("TERM", "xterm").stdin(Stdio::null());
    command
}

/// The states of a terminal: each state of a line that is drawn repeatedly.
fn shown(text: &str) -> Vec<String> {
    text.split(['\r', '\n']).map(without_colours).filter(|line| !line.is_empty()).collect()
}

/// A text without the sequences that control a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_end = |c: char| c.is_ascii_alphabetic();
    parts.fold(first, |plain, part| plain + part.split_once(is_end).map_or("", |(_, rest)| rest))
}

/// Whether a line is a progress bar that is not empty and shows the rate, the rows and the time
/// left.
fn is_bar(line: &str, per_second: &str) -> bool {
    let (bar, rest) = line.split_at(line.find(' ').unwrap_or(0));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let has_rate = words.iter().any(|word| word.trim_end_matches(',').ends_with(per_second));
    let has_rest =
        words.len() > 2 && words.ends_with(&["left"]) && starts_with_digit(words[words.len() - 2]);
    let has_rows = words.windows(2).any(|pair| starts_with_digit(pair[0]) && pair[1] == "rows,");
    bar.chars().count() == 30 && bar.starts_with('█') && has_rows && has_rate && has_rest
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

#[test]
fn an_import_shows_how_far_it_is_how_fast_and_how_long_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    let rows: String = (0..300_000)
        .map(|row| format!("{{\"row\": {row}, \"name\": \"name {}\"}}\n", row % 977))
        .collect();
    std::fs::write(&file, rows).unwrap();
    let file = file.to_str().unwrap();
    let server = Server::start_with(&["--memory"]);
    let args = ["import", file, "--table", "t", "--server", &server.url];
    let Finished { code, stdout, .. } = finish(on_a_terminal(&args), b"");
    let lines = shown(&stdout);
    assert_eq!(code, 0, "{lines:#?}");
    assert!(lines.iter().any(|line| is_bar(line, "iB/s") && line.contains('%')), "{lines:#?}");
    // At the end the bar was removed.
    assert!(lines.last().unwrap().starts_with(&format!("{file}: 300,000 rows")), "{lines:#?}");
    // Without a terminal there is no bar.
    let args = ["import", file, "--table", "u"];
    let Finished { stderr, .. } = server.run(&args, b"");
    assert!(!stderr.contains(['█', '\r', '\u{1b}']), "{stderr}");
}

#[test]
fn a_demo_shows_how_far_its_history_is() {
    let rows = ["--rows", "600000", "--no-browser", "--listen", "127.0.0.1:0"];
    let demo = Running::start(on_a_terminal(&[&["demo"], &rows[..]].concat()));
    assert!(url_in(&demo.wait_for_output("http://")).starts_with("http://127.0.0.1:"));
    // The bar is one line of the terminal, drawn repeatedly.
    let lines = shown(&demo.wait_for_output("600,000 rows in "));
    assert!(lines.iter().any(|line| is_bar(line, "/s")), "{lines:#?}");
    assert!(demo.stop(Signal::TERM).code().is_some());
}
