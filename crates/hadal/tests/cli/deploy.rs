//! The program has the options and variables that the files of `deploy/` use.

use std::fs;
use std::path::Path;

use crate::harness::{finish, hadal};

/// Each command of the environment file of the units, with its variable there.
const COMMANDS: [(&str, &str); 3] = [
    ("serve", "HADAL_OPTIONS="),
    ("aggregator", "HADAL_AGGREGATOR_OPTIONS="),
    ("leaf", "HADAL_LEAF_OPTIONS="),
];
/// Variables of the units themselves, which the program does not know.
const OF_UNITS: [&str; 4] =
    ["HADAL_OPTIONS", "HADAL_AGGREGATOR_OPTIONS", "HADAL_LEAF_OPTIONS", "HADAL_MEMBER_ADDRESS"];

fn read(path: &str) -> String {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    fs::read_to_string(Path::new(&package).join("../../deploy").join(path)).unwrap()
}

/// The help of a command, after it has parsed these arguments.
fn help(arguments: &[&str]) -> String {
    let mut command = hadal(arguments);
    command.arg("--help");
    let finished = finish(command, b"");
    assert_eq!(finished.code, 0, "{arguments:?}: {finished:?}");
    finished.stdout
}

/// All variables of Hadal that a text names.
fn variables(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| word.starts_with("HADAL_"));
    words.filter(|word| !OF_UNITS.contains(word)).collect()
}

#[test]
fn units_use_options_of_the_program() {
    let environment = read("systemd/hadal.env");
    for (command, variable) in COMMANDS {
        let (_, rest) = environment.split_once(variable).unwrap();
        let options = rest.lines().next().unwrap().split_whitespace();
        let arguments: Vec<&str> =
            [command, "--cluster", "prod"].into_iter().chain(options).collect();
        help(&arguments);
    }
    help(&[
        "leaf",
        "--cluster",
        "c",
        "--join",
        "a:1",
        "--index",
        "0",
        "--member-listen",
        "10.0.0.1:4282",
    ]);
    let help = help(&["serve"]);
    for variable in variables(&environment) {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}

#[test]
fn the_manifest_uses_options_of_the_program() {
    let manifest = read("kubernetes/statefulset.yaml");
    let (_, rest) = manifest.split_once("\n          args:\n").unwrap();
    let (arguments, environment) = rest.split_once("\n          env:\n").unwrap();
    let arguments = arguments.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let arguments: Vec<&str> = arguments.chain(["--cluster=prod"]).collect();
    let help = help(&arguments);
    let (environment, _) = environment.split_once("\n          ports:\n").unwrap();
    for variable in variables(environment) {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}
