//! `deploy/`: systemd and Kubernetes accept its files, and these agree with the program's limits.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use hadal_types::limits::{FILES_RESERVED, SERVER_STOP_SECONDS_MAX};
use tempfile::TempDir;

use crate::source::root;

const UNITS: [&str; 3] = ["hadal.service", "hadal-aggregator.service", "hadal-leaf@.service"];
const SLICE: &str = "hadal.slice";
/// The program of the units, which is not installed where tests run.
const PROGRAM: &str = "/usr/bin/hadal";
/// The highest exposure that `systemd-analyze security` may report, in tenths: 0 is the safest.
const EXPOSURE_MAX: &str = "20";
/// The oldest and the newest version of Kubernetes for which the manifests are checked.
const KUBERNETES: [&str; 2] = ["1.31", "1.37"];

fn deploy(path: &str) -> PathBuf {
    root().join("deploy").join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(deploy(path)).unwrap()
}

fn unit(name: &str) -> String {
    read(&format!("systemd/{name}"))
}

/// The value of a setting that a unit has once.
fn setting<'a>(unit: &'a str, name: &str) -> &'a str {
    let values = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let values: Vec<_> = values.collect();
    assert_eq!(values.len(), 1, "{name}: {values:?}");
    values[0]
}

/// The number at the end of a line that begins so.
fn number_after(text: &str, words: &str) -> u64 {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("no {words:?}"));
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// A folder with the units, as systemd reads them, for a program that is there.
fn installed_units() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in UNITS.into_iter().chain([SLICE]) {
        let text = unit(name).replace(PROGRAM, "/bin/true");
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The result of `systemd-analyze`; `None` where there is no such program.
fn systemd_analyze(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("systemd-analyze");
    let output = command.args(arguments).current_dir(folder).output().ok();
    if output.is_none() {
        println!("skipped: needs systemd-analyze");
    }
    output
}

#[test]
fn systemd_accepts_the_units() {
    let folder = installed_units();
    let mut arguments = vec!["verify", "--man=no"];
    arguments.extend(UNITS.into_iter().chain([SLICE]));
    let Some(output) = systemd_analyze(folder.path(), &arguments) else { return };
    assert!(output.status.success() && text(&output).is_empty(), "{}", text(&output));

    // A mistake would be found.
    let misspelt = unit(UNITS[0]).replace("RemoveIPC=", "RemoveIpc=");
    fs::write(folder.path().join(UNITS[0]), misspelt.replace(PROGRAM, "/bin/true")).unwrap();
    let output = systemd_analyze(folder.path(), &arguments).unwrap();
    assert!(text(&output).contains("RemoveIpc"), "{}", text(&output));
}

#[test]
fn units_may_do_little_else() {
    let folder = installed_units();
    for name in UNITS {
        let arguments =
            ["security", "--offline=yes", "--no-pager", "--threshold", EXPOSURE_MAX, name];
        let Some(output) = systemd_analyze(folder.path(), &arguments) else { return };
        assert!(output.status.success(), "{name}: {}", text(&output));
    }
}

#[test]
fn units_are_alike_and_keep_rows_in_memory() {
    let hardening = |name: &str| {
        let text = unit(name);
        let (_, hardening) = text.split_once("\nUMask=").unwrap();
        hardening.to_owned()
    };
    for name in UNITS {
        let text = unit(name);
        assert_eq!(hardening(name), hardening(UNITS[0]), "{name}");
        assert_eq!(setting(&text, "RemoveIPC"), "no");
        assert!(!text.contains("\nDynamicUser="), "{name}: it implies RemoveIPC=yes");
        assert!(!text.contains("\nProcSubset="), "{name}: the memory limit needs /proc/meminfo");
        assert_eq!(setting(&text, "Slice"), SLICE);
        let files: usize = setting(&text, "LimitNOFILE").parse().unwrap();
        assert!(files > FILES_RESERVED * 100, "{name}: {files}");
        let seconds: u64 = setting(&text, "TimeoutStopSec").parse().unwrap();
        assert!(seconds > SERVER_STOP_SECONDS_MAX, "{name}: {seconds}");
    }
    // Rows in memory outlive a user's last session only if it is a system user.
    assert!(unit("hadal.sysusers").lines().any(|line| line.starts_with("u hadal - ")));
}

/// The result of `kubernetes-validate`; `None` where there is no such package.
fn kubernetes_validate(version: &str, files: &[PathBuf]) -> Option<Output> {
    let python = env::var_os("HADAL_TEST_PYTHON").filter(|python| !python.is_empty());
    let Some(python) = python else {
        println!("skipped: needs kubernetes-validate");
        return None;
    };
    let mut command = Command::new(python);
    command.args(["-m", "kubernetes_validate", "--strict", "-k", version]).args(files);
    Some(command.output().unwrap())
}

#[test]
fn kubernetes_accepts_the_manifests() {
    let folder = fs::read_dir(deploy("kubernetes")).unwrap();
    let manifests: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    assert!(manifests.len() >= 4, "{manifests:?}");
    for version in KUBERNETES {
        let Some(output) = kubernetes_validate(version, &manifests) else { return };
        assert!(output.status.success(), "{version}: {}", text(&output));
        assert_eq!(text(&output).matches(" passed for resource ").count(), 5, "{}", text(&output));
    }

    // A mistake would be found.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("statefulset.yaml");
    let misspelt = read("kubernetes/statefulset.yaml").replace("sizeLimit", "sizelimit");
    fs::write(&file, misspelt).unwrap();
    let output = kubernetes_validate(KUBERNETES[1], &[file]).unwrap();
    assert!(!output.status.success() && text(&output).contains("sizelimit"), "{}", text(&output));
}

#[test]
fn a_pod_is_stopped_in_order() {
    let manifest = read("kubernetes/statefulset.yaml");
    let pause = number_after(&manifest, "preStop: {sleep: {seconds:");
    let seconds = number_after(&manifest, "terminationGracePeriodSeconds:");
    assert!(seconds > pause + SERVER_STOP_SECONDS_MAX, "{seconds}");
    assert!(manifest.contains("updateStrategy: {type: OnDelete}"));
    assert!(manifest.contains("emptyDir: {medium: Memory"));
}

#[test]
fn the_image_is_built_by_the_versions_that_the_sources_need() {
    let containerfile = read("container/Containerfile");
    let source = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let version = |text: &str, before: &str| {
        let (_, rest) = text.split_once(before).unwrap();
        let is_part = |c: &char| c.is_ascii_digit() || *c == '.';
        rest.chars().take_while(is_part).collect::<String>()
    };
    let rust = version(&source("Cargo.toml"), "rust-version = \"");
    assert_eq!(version(&containerfile, "library/rust:"), rust);
    let node = version(&source("ui/package.json"), "\"node\": \">=");
    let major = |version: &str| version.split('.').next().unwrap().parse::<u32>().unwrap();
    assert!(major(&version(&containerfile, "library/node:")) > major(&node), "{node}");
    // The user is a number, as Kubernetes' runAsNonRoot wants it, and is the one of the pods.
    let user = number_after(&containerfile, "\nUSER ");
    assert!(user > 0);
    assert_eq!(number_after(&read("kubernetes/statefulset.yaml"), "runAsUser:"), user);
}
