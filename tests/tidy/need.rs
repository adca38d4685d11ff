//! `make/need`, which names missing tools on a fresh machine, and the commands that install them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::source::root;

/// All tools that it knows, each with words of the command that installs it.
const TOOLS: [(&str, &str); 9] = [
    ("cargo", "    curl --proto =https --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"),
    ("rustfmt", "    rustup component add rustfmt"),
    ("clippy", "    rustup component add clippy"),
    ("cc", "    apt-get install build-essential"),
    (
        "node",
        "    curl -fsSL https://deb.nodesource.com/setup_22.x | bash - && apt-get install nodejs",
    ),
    ("npm", "    apt-get install npm"),
    ("chromium", "    apt-get install chromium"),
    ("python3", "    apt-get install python3 python3-venv"),
    ("git", "    apt-get install git"),
];

/// The programs of every Debian, and no others.
fn bare_path() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sh", "dirname", "sed", "sort", "head", "cut"] {
        let paths = std::env::var_os("PATH").unwrap();
        let program =
            std::env::split_paths(&paths).map(|path| path.join(name)).find(|p| p.exists());
        symlink(program.unwrap(), folder.path().join(name)).unwrap();
    }
    folder
}

/// Creates a program that runs one line of shell.
fn put(folder: &Path, name: &str, line: &str) {
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Creates all tools in a sufficient version.
fn put_all(folder: &Path) {
    for name in ["cargo", "cc", "npm", "chromium", "python3", "git"] {
        put(folder, name, "exit 0");
    }
    put(folder, "rustc", "echo 'rustc 99.0.0 (0 2099-01-01)'");
    put(folder, "node", "echo v99.0.0");
}

/// Whether `make/need` succeeds, and its output, with only the programs of one folder.
fn need(folder: &Path, tools: &[&str]) -> (bool, String) {
    let mut command = Command::new(root().join("make/need"));
    let output = command.args(tools).env("PATH", folder).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn each_missing_tool_is_named_with_the_command_that_installs_it() {
    let bare = bare_path();
    for (tool, command) in TOOLS {
        let (is_content, said) = need(bare.path(), &[tool]);
        assert!(!is_content, "{tool}");
        let [first, second] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
        assert!(first.ends_with(" is missing; install it with:"), "{said}");
        assert!(second.starts_with(command), "{said}");
    }
    let all = TOOLS.map(|(tool, _)| tool);
    assert_eq!(need(bare.path(), &all).1.lines().count(), 2 * TOOLS.len());
}

#[test]
fn nothing_is_said_where_everything_is_there() {
    let folder = bare_path();
    put_all(folder.path());
    let all = TOOLS.map(|(tool, _)| tool);
    assert_eq!(need(folder.path(), &all), (true, String::new()));
}

#[test]
fn what_is_too_old_or_half_there_is_missing() {
    let folder = bare_path();
    for (tool, program, line, expected) in [
        ("cargo", "rustc", "echo 'rustc 1.9.0 (0 2016-01-01)'", "rustup update stable"),
        ("node", "node", "echo v9.9.9", "apt-get install nodejs"),
        ("rustfmt", "cargo", "exit 101", "rustup component add rustfmt"),
        ("clippy", "cargo", "exit 101", "rustup component add clippy"),
        ("python3", "python3", "exit 1", "    apt-get install python3-venv\n"),
    ] {
        put_all(folder.path());
        put(folder.path(), program, line);
        let (is_content, said) = need(folder.path(), &[tool]);
        assert!(!is_content && said.contains(expected), "{tool}: {said}");
    }
    assert!(!need(folder.path(), &["a-tool-that-nobody-knows"]).0);
}

#[test]
fn every_target_asks_for_what_it_uses() {
    let folder = bare_path();
    let make = fs::read_to_string(root().join("Makefile")).unwrap();
    let scripts = ["make/test", "make/page", "make/real-data"].map(|path| root().join(path));
    let texts = scripts.map(|path| fs::read_to_string(path).unwrap());
    let lines = texts.iter().chain([&make]).flat_map(|text| text.lines());
    let lines = lines.filter_map(|line| line.split_once("make/need ")).map(|(_, tools)| tools);
    let asked: Vec<&str> = lines.map(|tools| tools.split(" ||").next().unwrap()).collect();
    assert!(asked.len() > 5, "{asked:?}");
    put_all(folder.path());
    for tools in asked {
        let tools: Vec<&str> = tools.split_whitespace().collect();
        assert_eq!(need(folder.path(), &tools), (true, String::new()), "{tools:?}");
    }
}
