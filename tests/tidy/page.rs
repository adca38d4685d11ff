//! The floors of the page, and the licences of its dependencies.

use serde::Deserialize;

use crate::source::{Source, assert_clean, repository, root};

/// Folders of `ui/src`, each of which may import from itself and from those before it.
const FLOORS: [&str; 9] =
    ["base", "api", "query", "widgets", "charts", "explore", "views", "boards", "app"];

/// Each allows anybody to use, change and distribute the whole under Apache-2.0.
const ALLOWED: [&str; 8] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0"];

/// Imports that point up, and sources outside of all floors.
fn upward_imports(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_typescript()) {
        let Some(below) = source.path.strip_prefix("ui/src/") else { continue };
        let folder = below.split('/').next().unwrap_or_default();
        let Some(floor) = FLOORS.iter().position(|floor_name| *floor_name == folder) else {
            findings.push(format!("{}: {folder} is no floor of the page", source.path));
            continue;
        };
        for import in imports(&source.text) {
            let named = import.split('/').find(|part| ![".", ".."].contains(part));
            let is_up =
                named.and_then(|name| FLOORS.iter().position(|floor_name| *floor_name == name));
            if import.starts_with("..") && is_up.is_some_and(|other| other > floor) {
                findings.push(format!("{}: imports {import}, which is above it", source.path));
            }
        }
    }
    findings
}

/// Import paths of a source: the quoted text after `from` or `import`.
pub(crate) fn imports(text: &str) -> impl Iterator<Item = &str> {
    let after = ["from \"", "import \"", "import(\""];
    let starts = after.into_iter().flat_map(move |word| {
        text.match_indices(word).map(move |(at, matched)| at + matched.len())
    });
    starts.filter_map(move |start| text.get(start..)?.split('"').next())
}

#[derive(Deserialize)]
struct Lock {
    packages: std::collections::BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    license: Option<String>,
}

fn licence_findings(lock: &str) -> Vec<String> {
    let lock: Lock = serde_json::from_str(lock).expect("npm writes JSON");
    let packages = lock.packages.iter().filter(|(path, _)| path.starts_with("node_modules/"));
    let bad = packages.filter(|(_, package)| !is_allowed(package.license.as_deref()));
    bad.map(|(path, package)| {
        let licence = package.license.as_deref().unwrap_or("no licence");
        format!("ui/{path} is under `{licence}`, which is not allowed")
    })
    .collect()
}

/// Whether one side of an `OR` is allowed.
fn is_allowed(expression: Option<&str>) -> bool {
    let sides = expression.unwrap_or_default().trim_matches(['(', ')']).split(" OR ");
    sides.into_iter().any(|licence| ALLOWED.contains(&licence))
}

#[test]
fn imports_of_the_page_point_down() {
    assert_clean(&upward_imports(&repository()));
}

#[test]
fn an_import_that_points_up_is_found() {
    let up = "import { x } from \"../explore/context\";\nimport y from \"../base/zone\";\n";
    let findings = upward_imports(&[
        Source::made_up("ui/src/widgets/a.tsx", up),
        Source::made_up("ui/src/charts/line/b.tsx", "import(\"../../app/App\")"),
        Source::made_up("ui/src/other/c.ts", ""),
    ]);
    assert_eq!(
        findings,
        [
            "ui/src/widgets/a.tsx: imports ../explore/context, which is above it",
            "ui/src/charts/line/b.tsx: imports ../../app/App, which is above it",
            "ui/src/other/c.ts: other is no floor of the page",
        ]
    );
}

#[test]
fn what_the_page_is_built_from_is_open() {
    let lock = std::fs::read_to_string(root().join("ui/package-lock.json"));
    assert_clean(&licence_findings(&lock.expect("the page's lock file")));
}

#[test]
fn a_package_that_is_not_open_is_found() {
    let lock = r#"{"packages": {"": {}, "node_modules/a": {"license": "MIT OR GPL-3.0"},
        "node_modules/b": {"license": "GPL-3.0"}, "node_modules/c": {}}}"#;
    assert_eq!(
        licence_findings(lock),
        [
            "ui/node_modules/b is under `GPL-3.0`, which is not allowed",
            "ui/node_modules/c is under `no licence`, which is not allowed",
        ]
    );
}
