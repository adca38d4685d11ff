//! Embeds the built page, `ui/dist`, in the program. Without a built page the program still builds,
//! and shows a page with build instructions.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::path::{Path, PathBuf};

mod pack;

fn main() -> std::io::Result<()> {
    // Read when the script runs: a path read at compile time would be that of the checkout that
    // built the script first.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&here).join("../../ui/dist");
    // A missing folder would cause a rebuild every time, so create it. If that fails, accept the
    // rebuilds.
    let _ = std::fs::create_dir(&folder);
    println!("cargo:rerun-if-changed={}", folder.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let files = match folder.join("index.html").is_file() {
        true => pack::read(&folder)?,
        false => Vec::new(),
    };
    std::fs::write(out.join("page_files.rs"), pack::write(&files, &out)?)
}
