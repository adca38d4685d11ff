//! Words that are banned in the repository, or in a part of it.
//!
//! The words are spelled in two halves below, so that this file does not break its own rules.

use crate::rust;
use crate::source::{Source, assert_clean, repository};

/// Marks of unfinished work; whole words.
const LEFTOVERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// Unfinished code and tests that do not run; anywhere in Rust code.
const LEFTOVER_CODE: [&str; 3] =
    [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];
/// Folders of particular machines.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/")];
/// Hosts of package registries: each machine's settings choose the registry.
const REGISTRY_HOSTS: [&str; 10] = [
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("maven.apache", ".org"),
    concat!("maven", ".org"),
    concat!("deb.debian", ".org"),
    concat!("yarnpkg", ".com"),
];
/// Waiting for an amount of time instead of for an event.
const SLEEPS: [&str; 4] = [
    concat!("thread::", "sleep"),
    concat!("time::", "sleep"),
    concat!("thread::{", "sleep"),
    concat!("waitFor", "Timeout"),
];
/// Crates that may contain `unsafe`: kernels; memory maps and the allocator's one call.
const UNSAFE_HOMES: [&str; 2] = ["crates/encoding/", "crates/store/"];

/// Unfinished work, in source and documents.
fn leftovers(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| !source.is_lock_file()) {
        for word in LEFTOVERS {
            let offsets = rust::words(&source.text, word);
            findings.extend(offsets.map(|at| format!("{}: `{word}`: finish it", source.place(at))));
        }
        let code = if source.is_rust() { rust::mask(&source.text) } else { continue };
        for word in LEFTOVER_CODE {
            let matches = code.match_indices(word);
            findings.extend(
                matches.map(|(at, _)| format!("{}: `{word}`: finish it", source.place(at))),
            );
        }
    }
    findings
}

/// Paths of one machine.
fn machine_paths(sources: &[Source]) -> Vec<String> {
    anywhere(sources, &MACHINE_PATHS, "take the path from an argument or a variable")
}

/// Names of package registries. `Cargo.lock` files contain one on every machine, so they are left
/// out.
fn registry_hosts(sources: &[Source]) -> Vec<String> {
    let findings = anywhere(sources, &REGISTRY_HOSTS, "leave the registry to the machine");
    let is_lock =
        |finding: &String| finding.starts_with("Cargo.lock:") || finding.contains("/Cargo.lock:");
    findings.into_iter().filter(|finding| !is_lock(finding)).collect()
}

fn anywhere(sources: &[Source], words: &[&str], advice: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for word in words {
            let matches = source.text.match_indices(word);
            findings
                .extend(matches.map(|(at, _)| format!("{}: `{word}`: {advice}", source.place(at))));
        }
    }
    findings
}

/// Tests that sleep.
fn sleeping_tests(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() || source.is_typescript()) {
        let code = if source.is_rust() { rust::mask(&source.text) } else { source.text.clone() };
        let start = match source.is_test() {
            true => 0,
            false if source.is_rust() => rust::test_tail_start(&code),
            false => continue,
        };
        for sleep in SLEEPS {
            let matches = code[start..].match_indices(sleep);
            findings.extend(matches.map(|(at, _)| {
                let place = source.place(start + at);
                format!("{place}: `{sleep}` in a test: wait for the event, or own the clock")
            }));
        }
    }
    findings
}

/// `unsafe` outside of the crates that may contain it.
fn stray_unsafe(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let away = |path: &str| !UNSAFE_HOMES.iter().any(|home| path.starts_with(home));
    for source in sources.iter().filter(|source| source.is_rust() && away(&source.path)) {
        let code = rust::mask(&source.text);
        let offsets = rust::words(&code, "unsafe");
        findings.extend(offsets.map(|at| {
            format!("{}: `unsafe`: only in {}", source.place(at), UNSAFE_HOMES.join(" and "))
        }));
    }
    findings
}

#[test]
fn nothing_is_left_unfinished() {
    assert_clean(&leftovers(&repository()));
}

#[test]
fn unfinished_work_is_found() {
    let [mark, macro_call, attribute] = [LEFTOVERS[0], LEFTOVER_CODE[0], LEFTOVER_CODE[2]];
    let code = format!("// {mark}: later\n{attribute}]\nfn f() {{ {macro_call}) }}\n");
    let quoted = format!("fn f() {{ g(\"{attribute}]\") }} // {mark}S\n");
    let sources = [
        Source::made_up("a.rs", &code),
        Source::made_up("b.md", &format!("- {mark}\n")),
        Source::made_up("c.rs", &quoted),
        Source::made_up("ui/package-lock.json", mark),
    ];
    let findings = leftovers(&sources);
    assert_eq!(findings.len(), 4, "{findings:?}");
    assert!(findings[0].starts_with("a.rs:1: "));
    assert!(findings[1].starts_with("a.rs:3: "));
    assert!(findings[2].starts_with("a.rs:2: "));
    assert!(findings[3].starts_with("b.md:1: "));
}

#[test]
fn no_path_is_of_one_machine() {
    assert_clean(&machine_paths(&repository()));
}

#[test]
fn a_machine_path_is_found() {
    let sources = [
        Source::made_up("a.toml", &format!("ok = 1\npath = \"{}x\"\n", MACHINE_PATHS[0])),
        Source::made_up("b.md", "a/workshop/root"),
    ];
    let findings = machine_paths(&sources);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("a.toml:2: "));
}

#[test]
fn no_registry_is_named() {
    assert_clean(&registry_hosts(&repository()));
}

#[test]
fn a_registry_is_found() {
    let [rust_host, npm_host, ..] = REGISTRY_HOSTS;
    let sources = [
        Source::made_up("ui/package-lock.json", &format!("https://registry.{npm_host}/x")),
        Source::made_up("Cargo.lock", rust_host),
        Source::made_up("fuzz/Cargo.lock", rust_host),
        Source::made_up(".ci/run", &format!("export HOST={rust_host}")),
    ];
    assert_eq!(registry_hosts(&sources).len(), 2);
}

#[test]
fn no_test_sleeps() {
    assert_clean(&sleeping_tests(&repository()));
}

#[test]
fn a_sleeping_test_is_found() {
    let [thread, task, _, page] = SLEEPS;
    let tail = format!("#[cfg(test)]\nmod tests {{\n    fn t() {{ std::{thread}(x) }}\n}}\n");
    let sources = [
        Source::made_up("crates/x/src/a.rs", &format!("fn f() {{ std::{thread}(x) }}\n{tail}")),
        Source::made_up("tests/src/b.rs", &format!("fn f() {{ tokio::{task}(x) }} // {thread}")),
        Source::made_up("tests/e2e/c.ts", &format!("await page.{page}(1000)")),
        Source::made_up("ui/src/d.ts", &format!("await page.{page}(1000)")),
    ];
    let findings = sleeping_tests(&sources);
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert!(findings[0].starts_with("crates/x/src/a.rs:4: "));
    assert!(findings[1].starts_with("tests/src/b.rs:1: "));
    assert!(findings[2].starts_with("tests/e2e/c.ts:1: "));
}

#[test]
fn code_is_safe_where_it_should_be() {
    assert_clean(&stray_unsafe(&repository()));
}

#[test]
fn a_stray_unsafe_is_found() {
    let code = "// unsafe\n#![deny(unsafe_code)]\nfn f() { unsafe { g() } }\n";
    let sources = ["crates/scan/src/a.rs", "crates/store/src/a.rs"];
    let findings = stray_unsafe(&sources.map(|path| Source::made_up(path, code)));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("crates/scan/src/a.rs:3: "));
}
