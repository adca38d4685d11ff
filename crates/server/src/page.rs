//! What a browser is shown, and what a client generator reads.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The address that the page's lines are written with, replaced by the one it was called by.
const SAMPLE_HOST: &str = "localhost:4280";

/// `GET /`.
pub(crate) async fn home(headers: axum::http::HeaderMap) -> Response {
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
