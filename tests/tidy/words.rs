//! Private words and names, and the field's terms for them: `tests/tidy/banned-words`.

use std::collections::BTreeSet;

use crate::links;
use crate::ratchet::{self, Entry};
use crate::rust;
use crate::source::{Source, assert_clean, repository};

/// A line for each word: `kind | word | instead | allowed in | figure`.
const LIST: &str = "tests/tidy/banned-words";
/// Trees whose files and folders are named by their role.
const NAMED: [&str; 2] = ["crates/", "ui/src/"];
/// Key words that declare a type.
const DECLARATIONS: [&str; 6] = ["struct", "enum", "trait", "type", "interface", "class"];

/// A source, with the texts that the kinds of words search.
struct Text<'a> {
    source: &'a Source,
    /// Without comments and literals; empty if it is no code.
    code: String,
    /// Comments on lines of their own, or the document; without code, in lower case.
    prose: String,
    /// The string literals of code that is no test, in lower case.
    literals: String,
}

impl<'a> Text<'a> {
    fn new(source: &'a Source) -> Self {
        let code = match (source.is_rust(), source.is_typescript()) {
            (true, _) => rust::mask(&source.text),
            (_, true) => source.text.clone(),
            _ => String::new(),
        };
        let prose = match source.is_markdown() {
            true => links::prose(&source.text),
            false if code.is_empty() => String::new(),
            false => comments(&source.text),
        };
        let literals = match source.is_rust() && !source.is_test() {
            true => rust::literals(&source.text[..rust::test_tail_start(&code)]),
            false => String::new(),
        };
        let (prose, literals) = (prose.to_lowercase(), literals.to_lowercase());
        Self { source, code, prose, literals }
    }
}

/// The places of a banned word.
fn places(entry: &Entry<'_>, texts: &[Text<'_>]) -> Result<Vec<String>, String> {
    let [kind, word, _instead, allowed] = entry.fields[..] else { return Ok(Vec::new()) };
    let is_allowed = |path: &str| allowed.split(", ").any(|prefix| path.starts_with(prefix));
    let held = texts.iter().filter(|text| !is_allowed(&text.source.path));
    let places: BTreeSet<String> = match kind {
        "file" => held.filter_map(|text| named(text, word)).collect(),
        "type" => held.flat_map(|text| declared(text, word)).collect(),
        "binding" => held.flat_map(|text| bound(text, word)).collect(),
        "prose" => held.flat_map(|text| said(text.source, &text.prose, word)).collect(),
        "message" => held.flat_map(|text| said(text.source, &text.literals, word)).collect(),
        _ => return Err(format!("{LIST}: `{kind}` is not a kind")),
    };
    Ok(places.into_iter().collect())
}

/// The file or folder of this name in the path of a source of code.
fn named(text: &Text<'_>, name: &str) -> Option<String> {
    let path = &text.source.path;
    let is_code = text.source.is_rust() || text.source.is_typescript();
    if !is_code || !NAMED.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    let mut end = 0;
    for part in path.split_inclusive('/') {
        end += part.len();
        let stem = part.trim_end_matches('/').split('.').next().unwrap_or_default();
        if stem == name {
            return Some(path[..end].to_owned());
        }
    }
    None
}

/// Declarations of a type of this name.
fn declared(text: &Text<'_>, name: &str) -> Vec<String> {
    let is_declared = |at: &usize| DECLARATIONS.contains(&word_before(&text.code[..*at]));
    let declarations = rust::words(&text.code, name).filter(is_declared);
    declarations.map(|at| text.source.place(at)).collect()
}

/// Bindings of this name: after `let`, `mut` or `const`, and before the type of a parameter or
/// field.
fn bound(text: &Text<'_>, name: &str) -> Vec<String> {
    let is_bound = |at: &usize| {
        let (before, after) = (&text.code[..*at], &text.code[at + name.len()..]);
        let is_typed = after.starts_with(": ") && !before.ends_with('.');
        is_typed || ["let", "mut", "const"].contains(&word_before(before))
    };
    let bindings = rust::words(&text.code, name).filter(is_bound);
    bindings.map(|at| text.source.place(at)).collect()
}

/// The word that ends just before the spaces at the end of some code.
fn word_before(code: &str) -> &str {
    let trimmed = code.trim_end();
    let word = trimmed.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    if trimmed.len() < code.len() { word } else { "" }
}

/// Lines of this text of a source that contain a word or phrase.
fn said(source: &Source, text: &str, phrase: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let hits = lines.filter(|(_, line)| rust::words(line, phrase).next().is_some());
    hits.map(|(number, _)| format!("{}:{}", source.path, number + 1)).collect()
}

/// The comments on lines of their own, everything else blank.
fn comments(code: &str) -> String {
    let lines = code.lines().map(|line| match line.trim_start().starts_with("//") {
        true => links::without_inline_code(line),
        false => String::new(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Findings, and the count of each word of the list.
fn check(sources: &[Source], list: &str) -> (Vec<String>, Vec<usize>) {
    let entries = match ratchet::entries(LIST, list, 4) {
        Ok(entries) => entries,
        Err(finding) => return (vec![finding], Vec::new()),
    };
    let texts: Vec<Text<'_>> = sources.iter().map(Text::new).collect();
    let (mut findings, mut counts) = (Vec::new(), Vec::new());
    for entry in &entries {
        match places(entry, &texts) {
            Ok(hits) => {
                counts.push(hits.len());
                findings.extend(entry.excess(&hits));
            }
            Err(finding) => findings.push(finding),
        }
    }
    (findings, counts)
}

#[test]
fn the_words_of_the_field_are_used() {
    let sources = repository();
    let list = sources.iter().find(|source| source.path == LIST).unwrap();
    let (findings, counts) = check(&sources, &list.text);
    ratchet::lower(LIST, &list.text, &counts);
    assert_clean(&findings);
}

#[test]
fn a_private_word_is_found() {
    let code = "//! A house `house` of old.\nstruct House;\n// Whoever\nfn f(own: u8) { let own = \"house\"; }\n";
    let sources = [
        Source::made_up("crates/leaf/src/house.rs", code),
        Source::made_up("crates/leaf/src/house/roof.rs", ""),
        Source::made_up("crates/tree/src/house.rs", ""),
        Source::made_up("docs/a.md", "House, and `house`\nhousehold\n"),
        Source::made_up("bench/house.py", "# house\n"),
    ];
    let count = |line: &str| check(&sources, line).1[0];
    assert_eq!(count("file | house | leaf_group | - | 0"), 3);
    assert_eq!(count("file | house | leaf_group | crates/leaf | 0"), 1);
    assert_eq!(count("file | house | leaf_group | crates/leaf, crates/tree | 0"), 0);
    assert_eq!(count("type | House | LeafGroup | - | 0"), 1);
    assert_eq!(count("type | Hous | LeafGroup | - | 0"), 0);
    assert_eq!(count("binding | own | the thing | - | 0"), 1);
    assert_eq!(count("prose | house | leaf group | - | 0"), 2);
    assert_eq!(count("prose | whoever | the client | - | 0"), 1);
    assert_eq!(count("message | house | leaf group | - | 0"), 1);

    let (findings, _) = check(&sources, "type | House | LeafGroup | - | 0");
    assert_eq!(
        findings,
        ["type | House | LeafGroup | -: 1 instead of at most 0", "    crates/leaf/src/house.rs:2"]
    );
    assert!(check(&sources, "type | House | LeafGroup | - | 1").0.is_empty());
    assert_eq!(check(&sources, "name | House | LeafGroup | - | 1").0.len(), 1);
    assert_eq!(check(&sources, "type | House | LeafGroup | 1").0.len(), 1);
}
