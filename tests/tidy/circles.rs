//! Circles of modules: files of a crate that need each other, and folders that do.
//!
//! A file depends on the files that its paths with `crate` and `super` lead to. A re-export of a
//! submodule's item (`pub use`) counts as the submodule. A *circle* of files is a strongly
//! connected component of at least two files. For folders, each folder is examined by itself: its
//! direct files and folders form a graph, and a component with at least two folders is a circle.
//! `x.rs` belongs to the folder `x` beside it. In the page, imports count.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, assert_clean, repository};
use crate::{links, page, rust};

const PAGE: &str = "ui/src/";

/// Dependencies of each node.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The modules of one crate by their paths: `` for the root, `a::b` for `a/b.rs`.
struct Modules<'a> {
    files: BTreeMap<String, &'a str>,
    code: BTreeMap<String, String>,
    /// Re-exports: a module's path and a name, to the path of the submodule.
    passed_on: BTreeMap<(String, String), String>,
}

impl<'a> Modules<'a> {
    fn new(folder: &str, sources: &'a [Source]) -> Self {
        let mut modules =
            Self { files: BTreeMap::new(), code: BTreeMap::new(), passed_on: BTreeMap::new() };
        for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
            let Some(file) = source.path.strip_prefix(folder) else { continue };
            let module = module_of(file);
            let code = rust::mask(&source.text);
            let code = code[..rust::test_tail_start(&code)].to_owned();
            modules.files.insert(module.clone(), &source.path);
            modules.code.insert(module, code);
        }
        let mut passed_on = BTreeMap::new();
        for (module, code) in &modules.code {
            for path in paths(code).into_iter().filter(|path| path.is_use) {
                let parts = path.parts.strip_prefix(&["self"][..]).unwrap_or(&path.parts);
                let Some((name, submodule)) = parts.split_last() else { continue };
                let target = join(module, submodule);
                if !submodule.is_empty() && modules.files.contains_key(&target) {
                    passed_on.insert((module.clone(), (*name).to_owned()), target);
                }
            }
        }
        modules.passed_on = passed_on;
        modules
    }

    /// The file that a path in a module leads to; none for other crates.
    fn target(&self, module: &str, parts: &[&str]) -> Option<&'a str> {
        let mut at: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let mut rest = parts;
        match rest {
            ["crate", after @ ..] => (at, rest) = (Vec::new(), after),
            ["super", ..] => {}
            _ => return None,
        }
        while let ["super", after @ ..] = rest {
            at.pop();
            rest = after;
        }
        while let [next, after @ ..] = rest {
            let here = at.join("::");
            let deeper = join(&here, &[next]);
            if self.files.contains_key(&deeper) {
                at.push(next);
                rest = after;
            } else if let Some(submodule) = self.passed_on.get(&(here, (*next).to_owned())) {
                return self.files.get(submodule).copied();
            } else {
                break;
            }
        }
        self.files.get(&at.join("::")).copied()
    }

    fn graph(&self) -> Graph<'a> {
        let mut graph = Graph::new();
        for (module, code) in &self.code {
            let file = self.files[module];
            let code_paths = paths(code);
            let targets = code_paths.iter().filter_map(|path| self.target(module, &path.parts));
            graph.entry(file).or_default().extend(targets.filter(|target| *target != file));
        }
        graph
    }
}

/// `a::b` for `a/b.rs` and `a/b/mod.rs`; nothing for `lib.rs` and `main.rs`.
fn module_of(file: &str) -> String {
    let stem = file.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if ["lib", "main"].contains(&stem) { String::new() } else { stem.replace('/', "::") }
}

fn join(module: &str, parts: &[&str]) -> String {
    let before = Some(module).filter(|module| !module.is_empty());
    before.into_iter().chain(parts.iter().copied()).collect::<Vec<_>>().join("::")
}

/// A path of masked code.
struct CodePath<'a> {
    parts: Vec<&'a str>,
    /// Whether it is part of a `use`.
    is_use: bool,
}

/// All paths of `use` items, their braces resolved; and those with `crate` or `super` elsewhere.
fn paths(code: &str) -> Vec<CodePath<'_>> {
    let mut paths = Vec::new();
    let mut uses = Vec::new();
    for at in rust::words(code, "use") {
        let Some(length) = code[at..].find(';') else { continue };
        let mut tree_paths = Vec::new();
        use_tree(&code[at + 3..at + length], &[], &mut tree_paths);
        paths.extend(tree_paths.into_iter().map(|parts| CodePath { parts, is_use: true }));
        uses.push(at..at + length);
    }
    for word in ["crate", "super"] {
        for at in rust::words(code, word) {
            let before = code[..at].trim_end();
            if uses.iter().any(|range| range.contains(&at)) || before.ends_with("::") {
                continue;
            }
            let end = code[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let path = &code[at..end.map_or(code.len(), |end| at + end)];
            if path.contains("::") {
                let parts = path.split("::").filter(|part| !part.is_empty()).collect();
                paths.push(CodePath { parts, is_use: false });
            }
        }
    }
    paths
}

/// Adds the paths of a `use` tree, each after the path `before`.
fn use_tree<'a>(tree: &'a str, before: &[&'a str], tree_paths: &mut Vec<Vec<&'a str>>) {
    let tree = tree.trim();
    let (head, group) = match tree.split_once('{') {
        Some((head, group)) => (head, Some(group.trim_end().trim_end_matches('}'))),
        None => (tree.split(" as ").next().unwrap_or(tree), None),
    };
    let mut path = before.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|part| !part.is_empty()));
    let Some(group) = group else {
        tree_paths.push(path);
        return;
    };
    let mut depth = 0;
    let mut start = 0;
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                use_tree(&group[start..at], &path, tree_paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !group[start..].trim().is_empty() {
        use_tree(&group[start..], &path, tree_paths);
    }
}

/// Strongly connected components of at least two nodes.
fn circles<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (*node, reached_from(graph, node))).collect();
    let mut circles = BTreeSet::new();
    for (node, others) in &reached {
        let mutual =
            others.iter().filter(|other| reached.get(*other).is_some_and(|o| o.contains(node)));
        let circle: Vec<&str> = mutual.copied().collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// The nodes that at least one step from a node reaches.
fn reached_from<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(node) = next.pop() {
        if reached.insert(node) {
            next.extend(graph.get(node).into_iter().flatten());
        }
    }
    reached
}

/// Circles with at least two folders among the direct contents of each folder.
fn folder_circles(src: &str, graph: &Graph<'_>) -> Vec<String> {
    let folders: BTreeSet<&str> = graph.keys().flat_map(|file| folders_of(src, file)).collect();
    let mut joined = Vec::new();
    for folder in std::iter::once(src.trim_end_matches('/')).chain(folders.iter().copied()) {
        let mut inside = Graph::new();
        for (file, targets) in graph {
            let Some(from) = child(folder, file, &folders) else { continue };
            let targets = targets.iter().filter_map(|target| child(folder, target, &folders));
            inside.entry(from).or_default().extend(targets.filter(|target| *target != from));
        }
        for circle in circles(&inside) {
            let circle: Vec<&str> =
                circle.into_iter().filter(|node| folders.contains(node)).collect();
            if circle.len() > 1 {
                joined.push(circle.join(" <-> "));
            }
        }
    }
    joined
}

/// The folders below `src` that contain a file.
fn folders_of<'a>(src: &str, file: &'a str) -> Vec<&'a str> {
    let slashes = file.match_indices('/').map(|(at, _)| at).filter(|at| *at >= src.len());
    slashes.map(|at| &file[..at]).collect()
}

/// The direct child of `folder` that is, contains or is headed by a file; none for the head of
/// `folder` itself, and for files outside.
fn child<'a>(folder: &str, file: &'a str, folders: &BTreeSet<&str>) -> Option<&'a str> {
    let below = file.strip_prefix(folder)?.strip_prefix('/')?;
    if below == "mod.rs" {
        return None;
    }
    let stem = below.split('/').next()?.trim_end_matches(".rs");
    let child = &file[..folder.len() + 1 + stem.len()];
    Some(if folders.contains(child) || below.contains('/') { child } else { file })
}

/// Imports of each file of the page.
fn page_graph(sources: &[Source]) -> Graph<'_> {
    let pages = sources.iter().filter(|s| s.is_typescript() && !s.is_test());
    let files: BTreeMap<&str, &Source> =
        pages.filter(|s| s.path.starts_with(PAGE)).map(|s| (&*s.path, s)).collect();
    let mut graph = Graph::new();
    for (path, source) in &files {
        let imports = page::imports(&source.text).filter(|import| import.starts_with('.'));
        let stems = imports.filter_map(|import| links::join(path, import).ok());
        let targets = stems.filter_map(|stem| {
            let named = [stem.clone(), format!("{stem}.ts"), format!("{stem}.tsx")];
            named.iter().find_map(|name| files.get_key_value(&**name)).map(|(path, _)| *path)
        });
        graph.entry(path).or_default().extend(targets.filter(|target| target != path));
    }
    graph
}

/// The circles of files and those of folders, of all crates and of the page.
fn all_circles(sources: &[Source]) -> (Vec<String>, Vec<String>) {
    let src =
        |source: &Source| source.path.find("/src/").map(|at| source.path[..at + 5].to_owned());
    let crates: BTreeSet<String> = sources.iter().filter(|s| s.is_rust()).filter_map(src).collect();
    let (mut of_files, mut of_folders) = (Vec::new(), Vec::new());
    for src in crates {
        let graph = Modules::new(&src, sources).graph();
        of_files.extend(circles(&graph).into_iter().map(|circle| circle.join(" <-> ")));
        of_folders.extend(folder_circles(&src, &graph));
    }
    let graph = page_graph(sources);
    of_files.extend(circles(&graph).into_iter().map(|circle| circle.join(" <-> ")));
    of_folders.extend(folder_circles(PAGE, &graph));
    (of_files, of_folders)
}

#[test]
fn there_are_no_circles() {
    let (files, folders) = all_circles(&repository());
    let circle =
        |kind: &str, circle: &String| format!("{circle}: a circle of {kind}; cut an arrow");
    let files = files.iter().map(|files| circle("files", files));
    let folders = folders.iter().map(|folders| circle("folders", folders));
    assert_clean(&files.chain(folders).collect::<Vec<_>>());
}

/// A crate of made-up files.
fn made_up(files: &[(&str, &str)]) -> Vec<Source> {
    let path = |file: &str| format!("crates/x/src/{file}");
    files.iter().map(|(file, text)| Source::made_up(&path(file), text)).collect()
}

#[test]
fn a_circle_of_files_is_found() {
    let sources = made_up(&[
        ("lib.rs", "mod a; mod b; mod c; pub use b::B;"),
        ("a.rs", "use crate::{B, c::{C, D}};"),
        (
            "b.rs",
            "// crate::a::A\nfn f() { crate::c::g() }\n#[cfg(test)]\nmod tests { use crate::a::A; }",
        ),
        ("c.rs", "mod deep;"),
        ("c/deep.rs", "use super::C;"),
        ("c/tests.rs", "use crate::a::A;"),
    ]);
    assert_eq!(all_circles(&sources), (vec![], vec![]));
    let sources = made_up(&[
        ("lib.rs", "mod a; mod b; mod c; pub use b::B;"),
        ("a.rs", "use crate::B;"),
        ("b.rs", "fn f() { super::c::deep::g() }"),
        ("c.rs", "mod deep;"),
        ("c/deep.rs", "use super::super::a::A as B;"),
    ]);
    let (files, _) = all_circles(&sources);
    let expected = "crates/x/src/a.rs <-> crates/x/src/b.rs <-> crates/x/src/c/deep.rs".to_owned();
    assert_eq!(files, [expected]);
}

#[test]
fn a_circle_of_folders_is_found() {
    let files = |last: &'static str| {
        made_up(&[
            ("lib.rs", "mod a; mod b; mod top;"),
            ("top.rs", "use crate::a::A; use crate::b::B;"),
            ("a.rs", "mod one;"),
            ("a/one.rs", "use crate::b::two::T; use crate::top::X;"),
            ("b/mod.rs", "mod two; mod three;"),
            ("b/two.rs", "fn f() {}"),
            ("b/three.rs", last),
        ])
    };
    assert_eq!(all_circles(&files("use super::two::f;")).1.len(), 0);
    let (circles, folders) = all_circles(&files("use crate::a::one::O;"));
    assert_eq!(folders, ["crates/x/src/a <-> crates/x/src/b"]);
    assert!(circles.is_empty(), "{circles:?}");
}

#[test]
fn a_circle_of_the_page_is_found() {
    let sources = [
        Source::made_up("ui/src/a/x.ts", "import { y } from \"../b/y\";"),
        Source::made_up("ui/src/b/y.tsx", "import { z } from \"./z\";"),
        Source::made_up("ui/src/b/z.ts", "export * from \"../a/x\";"),
    ];
    let (files, folders) = all_circles(&sources);
    assert_eq!(files, ["ui/src/a/x.ts <-> ui/src/b/y.tsx <-> ui/src/b/z.ts"]);
    assert_eq!(folders, ["ui/src/a <-> ui/src/b"]);
}
