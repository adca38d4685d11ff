//! Maximum lengths of files and functions.

use crate::rust::{self, Function};
use crate::source::{Source, assert_clean, repository};

/// Lines of one source file without its tests.
const FILE_LINES_MAX: usize = 500;
/// Lines of one function, from `fn` to the closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Functions that may be longer, one per line: `path name lines reason`.
const LONG_FUNCTIONS: &str = "tests/tidy/long-functions";

/// Files with too many lines, not counting their tests.
fn long_files(sources: &[Source]) -> Vec<String> {
    let counted = sources.iter().filter(|s| (s.is_rust() || s.is_typescript()) && !s.is_test());
    let lengths = counted.map(|source| (source, lines_without_tests(source)));
    let long = lengths.filter(|(_, lines)| *lines > FILE_LINES_MAX);
    long.map(|(source, lines)| {
        format!(
            "{}: {lines} lines without tests, more than {FILE_LINES_MAX}: split it by subject",
            source.path
        )
    })
    .collect()
}

fn lines_without_tests(source: &Source) -> usize {
    let end = match source.is_rust() {
        true => rust::test_tail_start(&rust::mask(&source.text)),
        false => source.text.len(),
    };
    source.text[..end].lines().count()
}

/// A function that may be longer, and its limit.
struct Allowed<'a> {
    path: &'a str,
    name: &'a str,
    lines: usize,
}

/// Reads the ratchet list.
fn allowed(list: &str) -> Result<Vec<Allowed<'_>>, String> {
    let entries = list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    entries
        .map(|line| {
            let mut words = line.split_whitespace();
            let entry = (words.next(), words.next(), words.next().map(str::parse), words.next());
            match entry {
                (Some(path), Some(name), Some(Ok(lines)), Some(_reason)) => {
                    Ok(Allowed { path, name, lines })
                }
                _ => Err(format!("{LONG_FUNCTIONS}: `{line}` is not `path name lines reason`")),
            }
        })
        .collect()
}

/// Functions that are too long, and entries of the ratchet list that are no longer needed.
fn long_functions(sources: &[Source], list: &str) -> Vec<String> {
    let allowed = match allowed(list) {
        Ok(allowed) => allowed,
        Err(finding) => return vec![finding],
    };
    let mut used = vec![false; allowed.len()];
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let code = rust::mask(&source.text);
        for Function { name, range } in rust::functions(&code) {
            let lines = code[range.clone()].lines().count();
            let entry = allowed.iter().position(|a| a.path == source.path && a.name == name);
            let lines_max = entry.map_or(FUNCTION_LINES_MAX, |entry| allowed[entry].lines);
            if lines > lines_max {
                let place = source.place(range.start);
                findings.push(format!(
                    "{place}: function `{name}` has {lines} lines, more than {lines_max}: \
                     keep its branches and move straight work into helpers"
                ));
            }
            if let Some(entry) = entry.filter(|_| lines > FUNCTION_LINES_MAX) {
                used[entry] = true;
            }
        }
    }
    let idle = allowed.iter().zip(&used).filter(|(_, used)| !**used);
    findings.extend(idle.map(|(Allowed { path, name, .. }, _)| {
        format!("{LONG_FUNCTIONS}: no long function `{name}` in {path} any more: take the line out")
    }));
    findings
}

#[test]
fn files_are_short() {
    assert_clean(&long_files(&repository()));
}

#[test]
fn a_long_file_is_found() {
    let code = "fn f() {}\n".repeat(FILE_LINES_MAX);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
    let sources = [
        Source::made_up("crates/x/src/just.rs", &code),
        Source::made_up("crates/x/src/tested.rs", &format!("{code}{tests}")),
        Source::made_up("crates/x/src/x/tests.rs", &code.repeat(2)),
        Source::made_up("ui/src/x.test.ts", &code.repeat(2)),
        Source::made_up("crates/x/src/long.rs", &format!("{code}fn g() {{}}\n")),
        Source::made_up("ui/src/long.tsx", &format!("{code}function g() {{}}\n")),
    ];
    let findings = long_files(&sources);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].starts_with("crates/x/src/long.rs: 501 lines"));
    assert!(findings[0].ends_with("split it by subject"));
    assert!(findings[1].starts_with("ui/src/long.tsx"));
}

#[test]
fn functions_are_short() {
    let sources = repository();
    let list = sources.iter().find(|source| source.path == LONG_FUNCTIONS).unwrap();
    assert_clean(&long_functions(&sources, &list.text));
}

#[test]
fn a_long_function_is_found() {
    let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
    let just = Source::made_up("a.rs", &function(FUNCTION_LINES_MAX));
    let long = Source::made_up("b.rs", &format!("\n{}", function(FUNCTION_LINES_MAX + 1)));
    let sources = [just, long];

    let findings = long_functions(&sources, "# a list\n");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("b.rs:2: function `f` has 71 lines"));

    assert!(long_functions(&sources, "b.rs f 71 a table of cases\n").is_empty());
    assert_eq!(long_functions(&sources, "b.rs f 70 a table of cases\n").len(), 1);
    assert_eq!(long_functions(&sources, "b.rs f 71\n").len(), 1, "an entry needs a reason");
    let idle = long_functions(&sources, "a.rs f 90 a table\nb.rs f 71 a table\n");
    assert_eq!(idle.len(), 1, "{idle:?}");
    assert!(idle[0].contains("no long function `f` in a.rs"));
}
