//! The `sh` blocks of the texts for users do what they say: each is run as it stands, by bash, in
//! the order of the text, with the binary on the path and a folder of its own.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::harness::{Running, finish, hadal};

/// The address that the texts use, replaced by a free one.
const ADDRESS: &str = "127.0.0.1:4280";
/// How the texts start a server.
const SERVE: &str = "hadal serve &";

/// The `sh` blocks of a text, each with the number of its first line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line) {
            (None, "```sh") => open = Some((at + 2, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, block)), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

fn run_blocks_of(path: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(path)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = free_address();
    let blocks = blocks(&text);
    assert!(blocks.iter().any(|(_, block)| block.contains(SERVE)), "{path} starts no server");
    let mut server = None;
    for (line, block) in blocks {
        let rest = block.replace(SERVE, "").replace(ADDRESS, &address);
        if rest.len() < block.len() && block.contains(SERVE) {
            server = Some(serve(&address, folder.path()));
        }
        let script = format!("set -euo pipefail\n{rest}");
        let mut bash = Command::new("bash");
        bash.args(["-c", &script]).current_dir(folder.path());
        for (name, value) in surroundings(&address, folder.path()) {
            bash.env(name, value);
        }
        let finished = finish(bash, b"");
        assert!(finished.code == 0, "{path}:{line}:\n{rest}\n{finished:?}");
        assert!(!finished.stdout.contains("urn:hadal:problem"), "{path}:{line}: {finished:?}");
    }
    drop(server);
}

/// A port that nobody has at this moment.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn surroundings(address: &str, folder: &Path) -> [(&'static str, String); 4] {
    let programs = Path::new(env!("CARGO_BIN_EXE_hadal")).parent().unwrap();
    [
        ("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").unwrap())),
        ("HADAL_LISTEN", address.to_owned()),
        ("HADAL_SERVER", format!("http://{address}")),
        ("HADAL_DATA", folder.join("data").display().to_string()),
    ]
}

/// Runs what the text starts in the background, until it answers.
fn serve(address: &str, folder: &Path) -> Running {
    let mut command = hadal(&["serve"]);
    for (name, value) in surroundings(address, folder) {
        command.env(name, value);
    }
    let running = Running::start(command);
    running.wait_for_output(address);
    running
}

#[test]
fn the_blocks_of_the_readme_run() {
    run_blocks_of("README.md");
}

#[test]
fn the_blocks_of_the_quickstart_run() {
    run_blocks_of("docs/quickstart.md");
}

#[test]
fn blocks_are_found_with_their_lines() {
    let text = "a\n```sh\nls\npwd\n```\n```text\nno\n```\n```sh\ntrue\n```\n";
    assert_eq!(blocks(text), [(3, "ls\npwd\n".to_owned()), (10, "true\n".to_owned())]);
}
