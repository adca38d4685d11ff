//! Sets the commit that the program reports: `HADAL_COMMIT` if it is set, otherwise git's answer,
//! otherwise `unknown` (in an unpacked archive).
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=HADAL_COMMIT");
    for file in ["HEAD", "logs/HEAD"] {
        // A file that is not there would mean a new build every time.
        let path = format!("../../.git/{file}");
        if std::path::Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let commit = std::env::var("HADAL_COMMIT").ok().or_else(git_commit);
    println!("cargo:rustc-env=HADAL_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

fn git_commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| commit.trim().to_owned()).filter(|commit| !commit.is_empty())
}
