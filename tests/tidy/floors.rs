//! Permitted dependencies between crates: `floors.toml` compared with the manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::cargo::{Dependency, Package, packages};
use crate::source::{assert_clean, root};

/// The contents of `floors.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Floors {
    crates: BTreeMap<String, Floor>,
    #[serde(default)]
    never: Vec<Never>,
    #[serde(default)]
    meet: Vec<Meet>,
    #[serde(default)]
    lowest: BTreeMap<String, u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Floor {
    floor: u8,
    may: BTreeSet<String>,
}

/// `name` depends on `on` neither directly nor through others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Never {
    #[serde(rename = "crate")]
    name: String,
    on: String,
    because: String,
}

/// Neither of two crates reaches the other, and they share one crate above floor 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meet {
    crates: [String; 2],
    #[serde(rename = "in")]
    place: String,
    because: String,
}

/// The name of a workspace package without its prefix.
fn short(package: &str) -> &str {
    package.strip_prefix("hadal-").unwrap_or(package)
}

/// The packages of the workspace and their dependencies on each other.
struct Workspace<'a> {
    packages: BTreeMap<&'a str, &'a Package>,
}

impl<'a> Workspace<'a> {
    fn new(packages: &'a [Package]) -> Workspace<'a> {
        let members = packages.iter().filter(|package| package.source.is_none());
        Workspace { packages: members.map(|package| (short(&package.name), package)).collect() }
    }

    fn dependencies(&self, name: &str) -> impl Iterator<Item = (&'a str, &'a Dependency)> {
        let dependencies =
            self.packages.get(name).into_iter().flat_map(|package| &package.dependencies);
        let names: BTreeSet<&str> = self.packages.keys().copied().collect();
        dependencies
            .map(|dependency| (short(&dependency.name), dependency))
            .filter(move |(name, _)| names.contains(name))
    }

    /// All dependencies of `name` and of its tests, direct and indirect.
    fn reached(&self, name: &str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut waiting: Vec<&str> = self.dependencies(name).map(|(name, _)| name).collect();
        while let Some(next) = waiting.pop() {
            if reached.insert(next) {
                let built =
                    self.dependencies(next).filter(|(_, d)| d.kind.as_deref() != Some("dev"));
                waiting.extend(built.map(|(name, _)| name));
            }
        }
        reached
    }
}

fn check(floors: &Floors, packages: &[Package]) -> Vec<String> {
    let workspace = Workspace::new(packages);
    let mut findings = unlisted(floors, &workspace);
    for name in workspace.packages.keys() {
        findings.extend(arrows(floors, &workspace, name));
        findings.extend(heavy(floors, &workspace, name));
    }
    findings.extend(floors.never.iter().filter_map(|rule| never(rule, &workspace)));
    findings.extend(floors.meet.iter().flat_map(|rule| meet(rule, floors, &workspace)));
    findings
}

/// Crates that are only in the file or only in the workspace.
fn unlisted(floors: &Floors, workspace: &Workspace<'_>) -> Vec<String> {
    let manifests = workspace.packages.keys().copied();
    let new = manifests.filter(|name| !floors.crates.contains_key(*name));
    let gone = floors.crates.keys().filter(|name| !workspace.packages.contains_key(name.as_str()));
    new.map(|name| format!("crate `{name}` has no floor: add it to floors.toml"))
        .chain(gone.map(|name| format!("floors.toml names `{name}`, which is no crate")))
        .collect()
}

/// Dependencies of one crate that do not point down, or are missing in its line.
fn arrows(floors: &Floors, workspace: &Workspace<'_>, name: &str) -> Vec<String> {
    let Some(crate_floor) = floors.crates.get(name) else { return Vec::new() };
    let mut findings = Vec::new();
    for (other, dependency) in workspace.dependencies(name) {
        let kind = dependency.kind.as_deref().map(|kind| format!("{kind}-")).unwrap_or_default();
        let below = floors.crates.get(other).is_none_or(|floor| floor.floor < crate_floor.floor);
        if !below {
            findings.push(format!(
                "`{name}` has the {kind}dependency `{other}`, which is not on a lower floor"
            ));
        } else if !crate_floor.may.contains(other) {
            findings.push(format!(
                "`{name}` has the {kind}dependency `{other}`, which floors.toml does not allow it"
            ));
        }
    }
    findings
}

/// Heavy dependencies of one crate that belong to higher floors.
fn heavy(floors: &Floors, workspace: &Workspace<'_>, name: &str) -> Vec<String> {
    let Some(crate_floor) = floors.crates.get(name) else { return Vec::new() };
    let dependencies = workspace.packages[name].dependencies.iter();
    let low = dependencies.filter_map(|dependency| {
        let lowest = *floors.lowest.get(&dependency.name)?;
        (crate_floor.floor < lowest).then(|| {
            format!(
                "`{name}` on floor {} depends on `{}`, which is for floor {lowest} and up",
                crate_floor.floor, dependency.name
            )
        })
    });
    low.collect()
}

fn never(rule: &Never, workspace: &Workspace<'_>) -> Option<String> {
    let Never { name, on, because } = rule;
    let reached = workspace.reached(name).contains(on.as_str());
    reached.then(|| format!("`{name}` must not reach `{on}`: {because}"))
}

fn meet(rule: &Meet, floors: &Floors, workspace: &Workspace<'_>) -> Vec<String> {
    let Meet { crates: [one, other], place, because } = rule;
    let mut findings = Vec::new();
    for (from, to) in [(one, other), (other, one)] {
        if workspace.reached(from).contains(to.as_str()) {
            findings.push(format!("`{from}` must not reach `{to}`: {because}"));
        }
    }
    let lower_crates = |name: &str| -> BTreeSet<&str> {
        workspace.dependencies(name).map(|(name, _)| name).collect()
    };
    for shared in lower_crates(one).intersection(&lower_crates(other)) {
        let low = floors.crates.get(*shared).is_some_and(|floor| floor.floor < 2);
        if !low && shared != place {
            findings.push(format!("`{one}` and `{other}` both know `{shared}`: {because}"));
        }
    }
    findings
}

#[test]
fn dependencies_follow_the_floors() {
    let text = std::fs::read_to_string(root().join("floors.toml")).unwrap();
    assert_clean(&check(&toml::from_str(&text).unwrap(), packages()));
}

/// Findings in a workspace of three floors in which `leaf` has the given dependencies.
#[cfg(test)]
fn findings_with(arrows: &[(&str, &str, Option<&str>)]) -> Vec<String> {
    let floors = r#"
        [crates]
        types = { floor = 0, may = [] }
        block = { floor = 2, may = ["types"] }
        aggregate = { floor = 2, may = ["types"] }
        scan = { floor = 3, may = ["types", "block", "aggregate"] }
        tree = { floor = 3, may = ["types", "block", "aggregate"] }
        top = { floor = 4, may = ["scan"] }
        [[never]]
        crate = "top"
        on = "block"
        because = "reasons"
        [[meet]]
        crates = ["scan", "tree"]
        in = "aggregate"
        because = "reasons"
        [lowest]
        tokio = 3
    "#;
    let package = |name: &str| Package {
        name: format!("hadal-{name}"),
        license: None,
        source: None,
        dependencies: arrows
            .iter()
            .filter(|(from, ..)| *from == name)
            .map(|(_, to, kind)| Dependency {
                name: if *to == "tokio" { "tokio".into() } else { format!("hadal-{to}") },
                kind: kind.map(str::to_owned),
            })
            .collect(),
    };
    let packages = ["types", "block", "aggregate", "scan", "tree", "top"].map(package);
    check(&toml::from_str(floors).unwrap(), &packages)
}

#[test]
fn correct_floors_have_no_findings() {
    let arrows = [
        ("scan", "types", None),
        ("scan", "aggregate", None),
        ("scan", "tokio", None),
        ("tree", "types", Some("dev")),
        ("tree", "aggregate", None),
        ("tree", "block", None),
        ("top", "scan", None),
    ];
    assert_clean(&findings_with(&arrows));
}

#[test]
fn an_arrow_that_points_up_or_sideways_is_found() {
    let up = findings_with(&[("types", "block", Some("dev"))]);
    assert_eq!(up, ["`types` has the dev-dependency `block`, which is not on a lower floor"]);
    let sideways = findings_with(&[("block", "aggregate", None)]);
    assert_eq!(sideways, ["`block` has the dependency `aggregate`, which is not on a lower floor"]);
}

#[test]
fn an_arrow_that_is_not_named_is_found() {
    let findings = findings_with(&[("top", "types", Some("build"))]);
    assert_eq!(
        findings,
        ["`top` has the build-dependency `types`, which floors.toml does not allow it"]
    );
}

#[test]
fn a_crate_without_a_floor_and_a_floor_without_a_crate_are_found() {
    let floors = toml::from_str("[crates]\ngone = { floor = 0, may = [] }").unwrap();
    let new =
        Package { name: "hadal-new".into(), license: None, source: None, dependencies: Vec::new() };
    let findings = check(&floors, &[new]);
    assert_eq!(
        findings,
        [
            "crate `new` has no floor: add it to floors.toml",
            "floors.toml names `gone`, which is no crate"
        ]
    );
}

#[test]
fn a_forbidden_crate_is_found_through_others() {
    let findings = findings_with(&[("top", "scan", None), ("scan", "block", None)]);
    assert_eq!(findings, ["`top` must not reach `block`: reasons"]);
    let through_tests = findings_with(&[("top", "scan", None), ("scan", "block", Some("dev"))]);
    assert_clean(&through_tests);
}

#[test]
fn a_second_meeting_place_is_found() {
    let findings = findings_with(&[("scan", "block", None), ("tree", "block", None)]);
    assert_eq!(findings, ["`scan` and `tree` both know `block`: reasons"]);
}

#[test]
fn a_heavy_dependency_too_far_down_is_found() {
    let findings = findings_with(&[("block", "tokio", Some("dev"))]);
    assert_eq!(findings, ["`block` on floor 2 depends on `tokio`, which is for floor 3 and up"]);
}
