//! A folder of files for browsers: read, compressed, and written as Rust.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A file for browsers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Its address: `/assets/index-1f2e3d4c.js`.
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The compressed bytes; `None` if compression saves nothing.
    pub(crate) gzip: Option<Vec<u8>>,
}

/// Returns all files in a folder, by address. Source maps are omitted, because only developers of
/// the page need them.
///
/// # Errors
/// When a file cannot be read, or its name or extension is not one served to browsers.
pub(crate) fn read(folder: &Path) -> io::Result<Vec<Packed>> {
    let mut files = Vec::new();
    read_into(folder, "", &mut files)?;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn read_into(folder: &Path, address: &str, files: &mut Vec<Packed>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        let path = format!("{address}/{name}");
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err(io::Error::other(format!("{path:?} is not a name for a file of the page")));
        }
        if entry.file_type()?.is_dir() {
            read_into(&entry.path(), &path, files)?;
        } else if !name.ends_with(".map") {
            let bytes = std::fs::read(entry.path())?;
            let content_type = content_type(&path)?;
            let gzip = compress(&bytes)?;
            files.push(Packed { path, content_type, bytes, gzip });
        }
    }
    Ok(())
}

/// Bytes that mean nothing in addresses or in Rust.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

fn content_type(path: &str) -> io::Result<&'static str> {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    Ok(match ending {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => return Err(io::Error::other(format!("{path} has an ending without a known type"))),
    })
}

fn compress(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    let gzip = gzip.finish()?;
    Ok((gzip.len() < bytes.len() / 10 * 9).then_some(gzip))
}

/// The files as a constant of Rust; their bytes go to `out`.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn write(files: &[Packed], out: &Path) -> io::Result<String> {
    let mut code = String::from("[\n");
    for (index, file) in files.iter().enumerate() {
        let bytes = out.join(format!("page-{index}"));
        std::fs::write(&bytes, &file.bytes)?;
        let gzip = match &file.gzip {
            None => "None".to_owned(),
            Some(gzip) => {
                let bytes = out.join(format!("page-{index}.gz"));
                std::fs::write(&bytes, gzip)?;
                format!("Some(include_bytes!({bytes:?}))")
            }
        };
        code.push_str(&format!(
            "    File {{ path: {:?}, content_type: {:?}, bytes: include_bytes!({bytes:?}), \
             gzip: {gzip} }},\n",
            file.path, file.content_type
        ));
    }
    code.push(']');
    Ok(code)
}
