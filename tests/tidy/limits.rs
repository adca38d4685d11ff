//! Every limit is used by code, and named by a test: an unused limit is not enforced, and an
//! untested one may be enforced wrongly.

use crate::rust;
use crate::source::{Source, assert_clean, repository, root};

/// The file of the limits, and the folder of its parts.
const LIMITS: &str = "crates/types/src/limits.rs";
const PARTS: &str = "crates/types/src/limits/";

fn has_limits(source: &Source) -> bool {
    source.path == LIMITS || source.path.starts_with(PARTS)
}

/// The definitions of all limits, without comments.
fn definitions(sources: &[Source]) -> String {
    sources
        .iter()
        .filter(|source| has_limits(source))
        .map(|source| rust::mask(&source.text))
        .collect()
}

/// Limits that no code outside of tests and `limits.rs` uses.
fn idle_limits(sources: &[Source]) -> Vec<String> {
    if !sources.iter().any(has_limits) {
        return vec![format!("{LIMITS} is not there")];
    }
    let users = sources.iter().filter(|s| s.is_rust() && !s.is_test() && !has_limits(s));
    let code: Vec<String> = users.map(|source| code_without_tests(&source.text)).collect();
    let defined = definitions(sources);
    let names = defined.lines().filter_map(|line| line.strip_prefix("pub const "));
    let names = names.filter_map(|line| line.split(':').next());
    let idle = names.filter(|name| !code.iter().any(|c| rust::words(c, name).next().is_some()));
    idle.map(|name| format!("{LIMITS}: nothing uses `{name}`: enforce it or take it out")).collect()
}

fn code_without_tests(text: &str) -> String {
    let mut code = rust::mask(text);
    code.truncate(rust::test_tail_start(&code));
    code
}

/// Limits that no test names, and unnecessary lines of `allowed`.
fn untested_limits(sources: &[Source], allowed: &str) -> Vec<String> {
    let defined = definitions(sources);
    let others = sources.iter().filter(|source| source.is_rust() && !has_limits(source));
    let tests: Vec<String> = others
        .map(|source| {
            let code = rust::mask(&source.text);
            let tail = if source.is_test() { 0 } else { rust::test_tail_start(&code) };
            code[tail..].to_owned()
        })
        .collect();
    let is_named = |name: &str| tests.iter().any(|code| rust::words(code, name).next().is_some());
    let names = defined.lines().filter_map(|line| line.strip_prefix("pub const "));
    let names: Vec<&str> = names.filter_map(|line| line.split(':').next()).collect();
    let lines = allowed.lines().filter(|line| !line.starts_with('#'));
    let allowed: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(' ')).collect();
    let is_allowed =
        |name: &str| allowed.iter().any(|(listed, reason)| *listed == name && !reason.is_empty());
    let untested = names.iter().filter(|name| !is_named(name) && !is_allowed(name));
    let untested = untested.map(|name| format!("{LIMITS}: no test names `{name}`"));
    let idle = allowed.iter().filter(|(name, _)| is_named(name) || !names.contains(name));
    let idle = idle.map(|(name, _)| format!("{UNTESTED}: `{name}` need not stand there"));
    untested.chain(idle).collect()
}

/// Limits that need no test: `NAME reason`, one per line.
const UNTESTED: &str = "tests/tidy/untested-limits";

#[test]
fn every_limit_is_named_by_a_test() {
    let allowed = std::fs::read_to_string(root().join(UNTESTED)).expect("a list");
    assert_clean(&untested_limits(&repository(), &allowed));
}

#[test]
fn an_untested_limit_is_found() {
    let limits =
        "/// A.\npub const A: usize = 1;\n/// B.\npub const B: usize = 2;\npub const C: u8 = 3;\n";
    let user = "fn f() { g(A, B) }\n#[cfg(test)]\nmod tests {\n    fn t() { g(C) } // A\n}\n";
    let sources = [Source::made_up(LIMITS, limits), Source::made_up("crates/x/src/lib.rs", user)];
    let finding_count = |allowed: &str| untested_limits(&sources, allowed).len();
    assert_eq!(finding_count(""), 2, "A and B");
    assert_eq!(finding_count("# A list\nA it only paces work\n"), 1, "B");
    assert_eq!(finding_count("A it only paces work\nB it too\nC so does it\n"), 1, "C has a test");
    assert_eq!(finding_count("A it only paces work\nB it too\nD gone\n"), 1, "there is no D");
}

#[test]
fn every_limit_is_used() {
    assert_clean(&idle_limits(&repository()));
}

#[test]
fn an_idle_limit_is_found() {
    let limits = "/// A.\npub const A_MAX: usize = 1;\n/// B.\npub const B_MAX: usize = 2;\n";
    let tests = "#[cfg(test)]\nmod tests {\n    use hadal_types::limits::B_MAX;\n}\n";
    let user = format!("// Not B_MAX.\nfn f() {{ g(A_MAX, B_MAX_TOO) }}\n{tests}");
    let sources = [
        Source::made_up(LIMITS, limits),
        Source::made_up("crates/x/src/lib.rs", &user),
        Source::made_up("tests/src/x.rs", "use B_MAX;"),
    ];
    let findings = idle_limits(&sources);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("`B_MAX`"));
    assert_eq!(idle_limits(&[]).len(), 1);
}
