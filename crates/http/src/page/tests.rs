use axum::body::to_bytes;
use std::path::Path;

use super::*;

#[path = "../../build/pack.rs"]
mod pack;

static FAKE: &[File] = &[
    File {
        path: "/assets/index-1f2e.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: b"plain",
        gzip: Some(b"zip"),
    },
    File { path: "/index.html", content_type: "text/html", bytes: b"<p>", gzip: None },
];

fn get(path: &str, headers: &[(header::HeaderName, &'static str)]) -> Option<Response> {
    let headers =
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
    file(FAKE, path, &headers.collect())
}

fn header_of(response: &Response, name: header::HeaderName) -> Option<&str> {
    response.headers().get(name).map(|value| value.to_str().expect("text"))
}

async fn body(response: Response) -> Vec<u8> {
    to_bytes(response.into_body(), 1_000).await.expect("a body").to_vec()
}

#[tokio::test]
async fn hashed_files_are_cached_for_a_year() {
    let response = get("/assets/index-1f2e.js", &[]).expect("a file");
    assert_eq!(
        header_of(&response, header::CACHE_CONTROL),
        Some("public, max-age=31536000, immutable")
    );
    assert_eq!(header_of(&response, header::CONTENT_TYPE), Some("text/javascript; charset=utf-8"));
    assert_eq!(header_of(&response, header::CONTENT_ENCODING), None);
    assert_eq!(body(response).await, b"plain");
}

#[tokio::test]
async fn files_are_compressed_for_clients_that_accept_it() {
    for (accepted, sent) in [
        ("gzip", b"zip".as_slice()),
        ("br, GZIP;q=0.5", b"zip"),
        ("gzip;q=0", b"plain"),
        ("gzip; q=0.0", b"plain"),
        ("br", b"plain"),
        ("", b"plain"),
    ] {
        let response = get("/assets/index-1f2e.js", &[(header::ACCEPT_ENCODING, accepted)]);
        let response = response.expect("a file");
        let is_compressed = header_of(&response, header::CONTENT_ENCODING) == Some("gzip");
        assert_eq!(is_compressed, sent == b"zip", "{accepted}");
        assert_eq!(header_of(&response, header::VARY), Some("accept-encoding"));
        assert_eq!(body(response).await, sent, "{accepted}");
    }
}

#[tokio::test]
async fn the_index_is_revalidated_each_time() {
    let response = get("/index.html", &[(header::ACCEPT_ENCODING, "gzip")]).expect("a file");
    assert_eq!(header_of(&response, header::CACHE_CONTROL), Some("no-cache"));
    let tag: &'static str = header_of(&response, header::ETAG).expect("a tag").to_owned().leak();
    assert_eq!(body(response).await, b"<p>");
    let again = get("/index.html", &[(header::IF_NONE_MATCH, tag)]).expect("a file");
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(header_of(&again, header::ETAG), Some(tag));
    assert!(body(again).await.is_empty());
    let other = get("/index.html", &[(header::IF_NONE_MATCH, "W/\"0-0\"")]).expect("a file");
    assert_eq!(other.status(), StatusCode::OK);
}

#[test]
fn only_the_files_are_served() {
    for path in ["/index.htm", "/assets/", "/assets/../index.html", "//index.html", "/page-0"] {
        assert!(get(path, &[]).is_none(), "{path}");
    }
}

#[tokio::test]
async fn without_a_page_a_plain_one_says_how_to_build_it() {
    let host = |host| [(header::HOST, HeaderValue::from_static(host))].into_iter().collect();
    let page = |headers: &HeaderMap| {
        let response = plain(headers);
        async { String::from_utf8(body_of(response).await).expect("text") }
    };
    let text = page(&host("127.0.0.1:9")).await;
    assert!(text.contains("make demo") && text.contains("npm run build"), "{text}");
    assert!(text.contains("curl http://127.0.0.1:9/v1/log/events") && !text.contains("<script"));
    let hostile = page(&host("<script>")).await;
    assert!(!hostile.contains("<script") && hostile.contains(SAMPLE_HOST));
}

async fn body_of(response: Response) -> Vec<u8> {
    to_bytes(response.into_body(), 10_000).await.expect("a body").to_vec()
}

fn fill(folder: &Path, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder made");
        std::fs::write(path, bytes).expect("a file written");
    }
}

#[test]
fn a_folder_is_packed() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "let x = 1;\n".repeat(100);
    fill(
        folder.path(),
        &[
            ("index.html", b"<p>"),
            ("assets/b.js", script.as_bytes()),
            ("assets/b.js.map", b"{}"),
            ("icon.svg", b"<svg/>"),
        ],
    );
    let files = pack::read(folder.path()).expect("files");
    let listed: Vec<(&str, &str, bool)> = files
        .iter()
        .map(|file| (file.path.as_str(), file.content_type, file.gzip.is_some()))
        .collect();
    assert_eq!(
        listed,
        [
            ("/assets/b.js", "text/javascript; charset=utf-8", true),
            ("/icon.svg", "image/svg+xml", false),
            ("/index.html", "text/html; charset=utf-8", false),
        ]
    );
    let mut inflated = String::new();
    let gzip = files[0].gzip.as_deref().expect("compressed");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(gzip), &mut inflated)
        .expect("gzip");
    assert_eq!(inflated, script);
    let out = tempfile::tempdir().expect("a folder");
    let code = pack::write(&files, out.path()).expect("code");
    assert_eq!(code.matches("File {").count(), 3);
    assert_eq!(std::fs::read(out.path().join("page-2")).expect("a file"), b"<p>");
    assert_eq!(pack::write(&[], out.path()).expect("code"), "[\n]");
}

#[test]
fn unknown_types_of_files_are_refused() {
    for name in ["a b.js", "x.exe", "none"] {
        let folder = tempfile::tempdir().expect("a folder");
        fill(folder.path(), &[(name, b"x")]);
        let error = pack::read(folder.path()).expect_err("refused").to_string();
        assert!(error.contains(name), "{error}");
    }
}
