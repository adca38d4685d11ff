//! The `sh` blocks of the user documentation work. Each is run as written, by bash, in the order of
//! the text, with the binary on the path and in a new folder. `console` blocks name targets of the
//! Makefile, which take too long to run here, and `text` blocks are pictures. Other blocks are not
//! allowed.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::harness::{Running, finish, hadal};

/// The address in the texts, replaced by a free one.
const ADDRESS: &str = "127.0.0.1:4280";
/// The lines that start a server in the texts, and the server's flags.
const SERVE: [(&str, &[&str]); 2] =
    [("hadal serve &", &[]), ("hadal serve --allow-functions &", &["--allow-functions"])];

/// A block of a text.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    /// Its language: `sh`.
    language: String,
    /// The number of its first line.
    line: usize,
    text: String,
}

/// The blocks of a text, in its order.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                let language = language.to_owned();
                open = Some(Block { language, line: at + 2, text: String::new() });
            }
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The error for a block that is neither run nor names a target of the Makefile.
fn unproven(block: &Block, makefile: &str) -> Option<String> {
    let is_target = |name: &str| makefile.lines().any(|line| line.starts_with(&format!("{name}:")));
    let is_made = |line: &str| line.strip_prefix("make ").is_some_and(is_target);
    match block.language.as_str() {
        "sh" | "text" => None,
        "console" if block.text.lines().all(is_made) => None,
        language => Some(format!("nothing shows that this ```{language} is true: {block:?}")),
    }
}

fn run_blocks_of(path: &str) {
    // Read at run time: a build may be reused for another checkout.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let root = Path::new(&package).join("../..");
    let text = std::fs::read_to_string(root.join(path)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = free_address();
    let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
    let blocks = blocks(&text);
    let unproven: Vec<_> = blocks.iter().filter_map(|block| unproven(block, &makefile)).collect();
    assert!(unproven.is_empty(), "{path}: {unproven:#?}");
    let blocks: Vec<Block> = blocks.into_iter().filter(|block| block.language == "sh").collect();
    let starts = |text: &str| SERVE.into_iter().find(|(line, _)| text.contains(line));
    assert!(blocks.iter().any(|block| starts(&block.text).is_some()), "{path} starts no server");
    let mut server = None;
    for Block { line, text: block, .. } in blocks {
        let mut rest = block.replace(ADDRESS, &address);
        if let Some((line, flags)) = starts(&block) {
            rest = rest.replace(line, "");
            server = Some(serve(&address, folder.path(), flags));
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

/// A port that no process uses at this moment.
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

/// Runs a server that the text starts in the background, until it answers.
fn serve(address: &str, folder: &Path, flags: &[&str]) -> Running {
    let mut command = hadal(&[&["serve"], flags].concat());
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
fn the_blocks_of_the_settings_run() {
    run_blocks_of("docs/settings.md");
}

#[test]
fn the_everyday_files_are_imported() {
    run_blocks_of("docs/data-in.md");
}

#[test]
fn own_tables_are_as_the_docs_say() {
    run_blocks_of("docs/self-tables.md");
}

#[test]
fn functions_are_as_the_docs_say() {
    run_blocks_of("docs/functions.md");
}

#[test]
fn blocks_are_found_with_their_lines() {
    let text = "a\n```sh\nls\npwd\n```\n```text\nno\n```\n  ```\ntrue\n  ```\n";
    let block = |language: &str, line, text: &str| {
        let (language, text) = (language.to_owned(), text.to_owned());
        Block { language, line, text }
    };
    let expected = [block("sh", 3, "ls\npwd\n"), block("text", 7, "no\n"), block("", 10, "true\n")];
    assert_eq!(blocks(text), expected);
}

#[test]
fn a_block_that_nothing_runs_is_found() {
    let makefile = "demo:\n\ttrue\ntest:\n";
    let unproven_count = |text: &str| {
        let blocks = blocks(text);
        blocks.iter().filter(|block| unproven(block, makefile).is_some()).count()
    };
    let good = "```sh\nls\n```\n```console\nmake demo\nmake test\n```\n```text\na -> b\n```\n";
    assert_eq!(unproven_count(good), 0);
    for bad in ["```bash\nls\n```\n", "```\nls\n```\n", "```console\nmake love\n```\n"] {
        assert_eq!(unproven_count(bad), 1, "{bad}");
    }
}
