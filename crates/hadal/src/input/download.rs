//! Reads an input from an address.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::http::header::CONTENT_TYPE;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

use crate::error::Error;

/// The time limit for connecting, and for the first byte of the answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The greatest number of redirects.
const REDIRECTS_MAX: u32 = 5;

/// Returns a reader of what is at an address, and its length if the server says it.
///
/// # Errors
/// [`Error::Input`] if there is no answer, an error in its place, or a page for people.
pub(super) fn download(url: &str) -> Result<(impl Read + Send + use<>, Option<u64>), Error> {
    let failed = |reason: String| Error::Input { place: url.to_owned(), reason };
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(CONNECT_TIMEOUT))
        .max_redirects(REDIRECTS_MAX)
        .user_agent(concat!("hadal/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    let response = config.new_agent().get(url).call();
    let response = response.map_err(|error| failed(format!("cannot be read: {error}")))?;
    if !response.status().is_success() {
        return Err(failed(format!("the server answers {}", response.status())));
    }
    let media_type = response.headers().get(CONTENT_TYPE).map(|value| value.to_str());
    if media_type.is_some_and(|text| text.is_ok_and(|text| text.starts_with("text/html"))) {
        let reason = "is a page for people (text/html), not data; name the address of the file";
        return Err(failed(reason.to_owned()));
    }
    let body = response.into_body();
    let length = body.content_length();
    Ok((body.into_with_config().limit(u64::MAX).reader(), length))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    /// Answers requests in turn, and returns the address.
    fn serve(answers: &[&str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().expect("a connection");
                let read = stream.read(&mut [0; 4_096]).expect("a request");
                assert!(read > 0);
                write!(stream, "HTTP/1.1 {answer}").expect("sent");
            }
        });
        format!("http://{address}/data.csv")
    }

    fn answer(answers: &[&str]) -> Result<String, String> {
        let (mut reader, _) = download(&serve(answers)).map_err(|error| error.to_string())?;
        let mut text = String::new();
        reader.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn data_is_read_and_redirects_are_followed() {
        let data = "200 OK\r\nContent-Type: text/csv\r\nContent-Length: 6\r\nConnection: close\r\n\r\na,b\n1,";
        assert_eq!(answer(&[data]).as_deref(), Ok("a,b\n1,"));
        let moved =
            "302 Found\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        assert_eq!(answer(&[moved, data]).as_deref(), Ok("a,b\n1,"));
        assert!(answer(&[moved; 7]).is_err());
    }

    #[test]
    fn what_is_no_data_is_an_error() {
        let none = "404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let error = answer(&[none]).expect_err("no data");
        assert!(error.ends_with("data.csv: the server answers 404 Not Found"), "{error}");
        let page = "200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 1\r\n\r\nx";
        let error = answer(&[page]).expect_err("no data");
        assert!(error.contains("is a page for people"), "{error}");
        let short = "200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nx";
        assert!(answer(&[short]).is_err());
        assert!(download("http://127.0.0.1:1/x").is_err());
    }
}
