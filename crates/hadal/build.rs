//! Sets the commit that the program reports: `HADAL_COMMIT` if it is set, otherwise git's answer,
//! otherwise `unknown` (in an unpacked archive).
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=HADAL_COMMIT");
    for file in ["HEAD", "logs/HEAD"] {
        // A linked worktree has these files elsewhere. A file that is not there would mean a new
        // build every time.
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let commit = std::env::var("HADAL_COMMIT").ok();
    let commit = commit.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo:rustc-env=HADAL_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The line that git prints.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| line.trim().to_owned()).filter(|line| !line.is_empty())
}
