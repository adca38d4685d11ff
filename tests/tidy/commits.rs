//! Subjects of the newest commits: imperative, short, one change.

use std::process::Command;

use crate::source::{assert_clean, root};

/// Number of commits that are checked, merges not counted.
const NEWEST: &str = "-20";
const SUBJECT_CHARACTERS_MAX: usize = 72;
/// Imperatives that end in `ed`, `ing` or `s`.
const IMPERATIVES: [&str; 14] = [
    "Bias", "Bring", "Canvas", "Embed", "Exceed", "Feed", "Focus", "Need", "Proceed", "Ring",
    "Seed", "Shed", "Speed", "Spring",
];

/// The reason why a subject is refused.
fn fault(subject: &str) -> Option<String> {
    let first = subject.split([' ', ':']).next().unwrap_or_default();
    let is_other_form = first.ends_with("ed") || first.ends_with("ing");
    let is_third_person = first.ends_with('s') && !first.ends_with("ss");
    let length = subject.chars().count();
    if length > SUBJECT_CHARACTERS_MAX {
        Some(format!("{length} characters, more than {SUBJECT_CHARACTERS_MAX}"))
    } else if !first.starts_with(char::is_uppercase) {
        Some("begin with a capital letter".to_owned())
    } else if subject.ends_with('.') {
        Some("leave out the full stop".to_owned())
    } else if (is_other_form || is_third_person) && !IMPERATIVES.contains(&first) {
        Some(format!("begin with an imperative, not `{first}`"))
    } else if subject.contains("; ") {
        Some("say one change".to_owned())
    } else {
        None
    }
}

fn check(subjects: &str) -> Vec<String> {
    let faults = subjects.lines().filter_map(|line| fault(line).map(|fault| (line, fault)));
    faults.map(|(line, fault)| format!("commit `{line}`: {fault}")).collect()
}

#[test]
fn subjects_of_new_commits_are_imperative_and_short() {
    let mut git = Command::new("git");
    git.args(["log", NEWEST, "--no-merges", "--format=%s"]).current_dir(root());
    match git.output() {
        Ok(output) if output.status.success() => {
            assert_clean(&check(&String::from_utf8(output.stdout).unwrap()));
        }
        _ => println!("{} needs the commits of a git repository", concat!("skip", "ped:")),
    }
}

#[test]
fn a_bad_subject_is_found() {
    let long = format!("Add {}", "x".repeat(69));
    let bad = [
        "add a list",
        "Adds a list",
        "Added a list",
        "Adding a list",
        "Add a list.",
        "Add a list; drop another",
        &long,
    ];
    for subject in bad {
        assert!(fault(subject).is_some(), "{subject}");
    }
    for subject in ["Add a list", "Pass the clock in", "Bring rows back", &long[..72]] {
        assert_eq!(fault(subject), None, "{subject}");
    }
}
