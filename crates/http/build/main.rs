//! Puts the built page, `ui/dist`, into the program. Without one the program is built all the
//! same: it then shows a page that says how to build the page.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::path::{Path, PathBuf};

mod pack;

fn main() -> std::io::Result<()> {
    // QueryLogGuard for when it runs: what is compiled in would be the checkout that built it first.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&here).join("../../ui/dist");
    // A folder that is not there would mean a new build every time; where it cannot be made,
    // that is how it is.
    let _ = std::fs::create_dir(&folder);
    println!("cargo:rerun-if-changed={}", folder.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let files = match folder.join("index.html").is_file() {
        true => pack::read(&folder)?,
        false => Vec::new(),
    };
    std::fs::write(out.join("page_files.rs"), pack::write(&files, &out)?)
}
