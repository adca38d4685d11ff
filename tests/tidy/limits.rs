//! A limit that nothing enforces is a promise that nobody keeps.

use crate::rust;
use crate::source::{Source, assert_clean, repository};

/// Where the limits stand.
const LIMITS: &str = "crates/types/src/limits.rs";

/// Limits whose name no code outside of tests and of `limits.rs` says.
fn idle_limits(sources: &[Source]) -> Vec<String> {
    let Some(limits) = sources.iter().find(|source| source.path == LIMITS) else {
        return vec![format!("{LIMITS} is not there")];
    };
    let users = sources.iter().filter(|s| s.is_rust() && !s.is_test() && s.path != LIMITS);
    let code: Vec<String> = users.map(|source| code_without_tests(&source.text)).collect();
    let defined = rust::mask(&limits.text);
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
