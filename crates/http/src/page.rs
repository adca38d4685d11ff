//! The files of the page, and the description of the API.
//!
//! The page is built from `ui/` and is part of the program; see `build/main.rs`. If it was not
//! built, a plain page says how to build it, and how to continue without it.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::{Problem, ProblemKind};

/// One file of the page.
struct File {
    /// Its address.
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    /// The compressed bytes, if compression saves space.
    gzip: Option<&'static [u8]>,
}

/// The files of the page; empty if it was not built.
static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The address in the plain page's lines; the address of the request replaces it.
const SAMPLE_HOST: &str = "localhost:4280";
/// Names of files under this path contain a hash of their bytes, so these files never change.
const HASHED: &str = "/assets/";

/// `GET /`.
pub(crate) async fn home(headers: HeaderMap) -> Response {
    file(FILES, "/index.html", &headers).unwrap_or_else(|| plain(&headers))
}

/// Answers every address that no route handles: a file of the page, or 404.
pub(crate) async fn other(request: Request) -> Response {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let response = is_read.then(|| file(FILES, request.uri().path(), request.headers())).flatten();
    response.unwrap_or_else(|| {
        Problem::new(ProblemKind::UnknownRoute, "see /openapi.json").into_response()
    })
}

/// Returns one of `files` in the form that the browser accepts.
fn file(files: &[File], path: &str, headers: &HeaderMap) -> Option<Response> {
    let file = files.iter().find(|file| file.path == path)?;
    let tag = HeaderValue::from_str(&tag(file.bytes)).ok()?;
    let cache = match path.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        // The browser revalidates the file each time, and gets it again only if it has changed.
        false => "no-cache",
    };
    let about = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        return Some((StatusCode::NOT_MODIFIED, about).into_response());
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type))];
    Some(match file.gzip.filter(|_| takes_gzip(headers)) {
        Some(gzip) => {
            let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            (about, kind, encoding, gzip).into_response()
        }
        None => (about, kind, file.bytes).into_response(),
    })
}

/// Returns the ETag of the bytes; weak, because they may be sent compressed.
fn tag(bytes: &[u8]) -> String {
    let mut hash = flate2::Crc::new();
    hash.update(bytes);
    format!("W/\"{:x}-{:x}\"", bytes.len(), hash.sum())
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT_ENCODING).iter();
    let accepts =
        accepts.filter_map(|accepts| accepts.to_str().ok()).flat_map(|accepts| accepts.split(','));
    let refused = |weight: &str| weight.trim().trim_start_matches("q=").parse() == Ok(0.0);
    accepts
        .map(|one| one.split_once(';').unwrap_or((one, "")))
        .any(|(name, weight)| name.trim().eq_ignore_ascii_case("gzip") && !refused(weight))
}

/// Returns the plain page, shown if the page was not built.
fn plain(headers: &HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let page = include_str!("page.html");
    let page = match host.filter(|host| host.bytes().all(is_plain)) {
        Some(host) => page.replace(SAMPLE_HOST, host),
        None => page.to_owned(),
    };
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, html)], page).into_response()
}

/// Characters that mean nothing in HTML or to a shell.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte)
}

/// `GET /openapi.json`.
pub(crate) async fn openapi() -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], include_str!("../../../spec/openapi.json")).into_response()
}

#[cfg(test)]
mod tests;
