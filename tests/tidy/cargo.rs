//! The packages of the workspace and their dependencies, as cargo reports them.

use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::source::root;

/// A package of the workspace, or a dependency.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) license: Option<String>,
    /// None for a package of the workspace.
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The package's own name, even if the manifest renames it.
    pub(crate) name: String,
    /// `dev` or `build`; none for an ordinary dependency.
    pub(crate) kind: Option<String>,
}

/// All packages that a build for this machine uses.
pub(crate) fn packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(read_packages)
}

fn read_packages() -> Vec<Package> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(std::env::var_os("CARGO").expect("cargo runs the tests"))
        .args(["metadata", "--format-version", "1", "--filter-platform", &platform])
        .current_dir(root())
        .output()
        .expect("cargo describes the workspace");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Metadata>(&output.stdout).unwrap().packages
}

#[test]
fn the_workspace_and_its_dependencies_are_distinguished() {
    let is_workspace_package =
        |name: &str| packages().iter().find(|p| p.name == name).map(|p| p.source.is_none());
    assert_eq!(is_workspace_package("hadal-tests"), Some(true));
    assert_eq!(is_workspace_package("serde_json"), Some(false));
}
