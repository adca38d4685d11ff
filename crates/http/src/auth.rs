//! Authorization of requests: one function, called for every route before a byte of the body is
//! read.
//!
//! On loopback everybody on the machine may do anything. The threat is a web page open in a browser
//! on this machine: it can send requests here, and after DNS rebinding even read the answers. Its
//! requests carry a foreign `Origin`, or a foreign name as `Host`.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use hadal_frontend::{ErrorKind, Permission, Principal, Token};

use crate::config::Config;
use crate::problem::{Problem, ProblemKind};

/// Returns the principal of a request with these headers, if it has the permission `scope`.
///
/// # Errors
/// The problem to answer with: 403 for a foreign page, 401 without the token.
pub(crate) fn admit(
    scope: Permission,
    headers: &HeaderMap,
    config: &Config,
) -> Result<Principal, Problem> {
    let host = header(headers, header::HOST)
        .ok_or_else(|| Problem::new(ErrorKind::BadRequest, "there is no Host header"))?;
    if !is_own_host(host, config) {
        let detail = format!("{host:?} is not a name of this server");
        let hint = "call it by its address, or start it with --allowed-host NAME";
        return Err(Problem::new(ErrorKind::Forbidden, detail).hint(hint));
    }
    // Pages of this server are allowed. A browser names every other page in `Origin`.
    if let Some(origin) = header(headers, header::ORIGIN)
        && !is_same_origin(origin, host)
    {
        let detail = format!("pages of {origin:?} may not use this server");
        return Err(Problem::new(ErrorKind::Forbidden, detail));
    }
    // Browsers that send no `Origin` send the page's relation to this server.
    if scope != Permission::Query
        && let Some(site) = header(headers, header::HeaderName::from_static("sec-fetch-site"))
        && !["same-origin", "none"].contains(&site)
    {
        let detail = format!("a page that is {site:?} may not change anything here");
        return Err(Problem::new(ErrorKind::Forbidden, detail));
    }
    if config.is_loopback() || has_scope(scope, headers, config) {
        return Ok(Principal::administrator());
    }
    Err(Problem::new(ProblemKind::Unauthorized, "the request has not the admin token")
        .hint("send it: Authorization: Bearer TOKEN; it is in the file admin-token of --data"))
}

/// Refuses a request with more than one `Host` header: a proxy on the way may read another one than
/// this server.
///
/// # Errors
/// The problem to answer with (RFC 9112, section 3.2).
pub(crate) fn one_host(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get_all(header::HOST).iter().count() {
        0 | 1 => Ok(()),
        count => {
            let detail = format!("there are {count} Host headers; there may be one");
            Err(Problem::new(ErrorKind::BadRequest, detail))
        }
    }
}

/// Returns whether the request's token grants `scope`. There is one token, which grants everything.
fn has_scope(_scope: Permission, headers: &HeaderMap, config: &Config) -> bool {
    let bearer = header(headers, header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| Token::parse(token)).flatten()
    });
    match (bearer, &config.admin_token) {
        (Some(token), Some(admin_token)) => admin_token.matches(&token),
        _ => false,
    }
}

/// Returns whether `host` (a name or an address, with or without a port) means this server.
///
/// A server that other machines can reach accepts any address as `host`: an address cannot be
/// rebound, and a token is required as well.
fn is_own_host(host: &str, config: &Config) -> bool {
    let name = without_port(host);
    if let Some(address) = address(name) {
        let listen_address = config.listen.ip().to_canonical();
        return address.is_loopback() || address == listen_address || !config.is_loopback();
    }
    let same = |host: &str| host.trim_end_matches('.').eq_ignore_ascii_case(name);
    same("localhost") || config.allowed_hosts.iter().any(|host| same(without_port(host)))
}

/// `http://HOST` or `https://HOST`, the port included.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    // "::1" without brackets contains colons that precede no port.
    if name.contains(':') && !name.starts_with('[') { host } else { name }
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn header(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::response::IntoResponse;

    use super::*;

    fn config(listen: &str) -> Config {
        let mut config = Config::new(listen.parse().expect("an address"));
        config.allowed_hosts = vec!["hadal.example".to_owned()];
        config
    }

    fn status(config: &Config, headers: &[(header::HeaderName, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        match admit(Permission::Query, &map, config) {
            Ok(_) => 200,
            Err(problem) => problem.into_response().status().as_u16(),
        }
    }

    #[test]
    fn a_loopback_bind_has_its_own_names_only() {
        let config = config("127.0.0.1:4280");
        for (host, expected) in [
            ("localhost", 200),
            ("LOCALHOST:4280", 200),
            ("127.0.0.1:4280", 200),
            ("[::1]:4280", 200),
            ("::1", 200),
            ("hadal.example:80", 200),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example:4280", 403),
            ("10.0.0.1", 403),
            ("[::ffff:10.0.0.1]", 403),
            ("", 403),
        ] {
            assert_eq!(status(&config, &[(header::HOST, host)]), expected, "{host}");
        }
        assert_eq!(status(&config, &[]), 400);
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let config = config("127.0.0.1:4280");
        for (origin, expected) in [
            ("http://localhost:4280", 200),
            ("https://localhost:4280", 200),
            ("http://localhost", 403),
            ("http://localhost:9", 403),
            ("http://evil.example", 403),
            ("null", 403),
            ("localhost:4280", 403),
        ] {
            let headers = [(header::HOST, "localhost:4280"), (header::ORIGIN, origin)];
            assert_eq!(status(&config, &headers), expected, "{origin}");
        }
    }

    #[test]
    fn a_page_of_another_site_changes_nothing_even_without_an_origin() {
        let config = config("127.0.0.1:4280");
        for (site, may_change) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            let name = header::HeaderName::from_static("sec-fetch-site");
            let site = HeaderValue::from_static(site);
            let host = HeaderValue::from_static("localhost:4280");
            let headers: HeaderMap = [(header::HOST, host), (name, site)].into_iter().collect();
            for scope in [
                Permission::Log,
                Permission::Query,
                Permission::Save,
                Permission::Define,
                Permission::Admin,
            ] {
                // A link on any page may lead here.
                let expected = may_change || scope == Permission::Query;
                assert_eq!(admit(scope, &headers, &config).is_ok(), expected, "{headers:?}");
            }
        }
    }

    #[test]
    fn a_wide_bind_requires_the_token() {
        let mut config = config("0.0.0.0:4280");
        let token = Token::random().expect("randomness");
        config.admin_token = Some(token.clone());
        let host = || (header::HOST, "10.0.0.1:4280");
        let bearer = |text: String| status(&config, &[host(), (header::AUTHORIZATION, &text)]);
        assert_eq!(bearer(format!("Bearer {}", token.reveal())), 200);
        assert_eq!(bearer(format!("bearer {}", token.reveal())), 200);
        assert_eq!(bearer(format!("Bearer {}", "0".repeat(64))), 401);
        assert_eq!(bearer(format!("Basic {}", token.reveal())), 401);
        assert_eq!(bearer(token.reveal()), 401);
        assert_eq!(status(&config, &[host()]), 401);
        // Local clients need the token, too, and the name must still be a name of this server.
        assert_eq!(status(&config, &[(header::HOST, "localhost:4280")]), 401);
        assert_eq!(status(&config, &[(header::HOST, "evil.example")]), 403);
    }
}
