//! Access: addresses, tokens, names, origins, and headers for browsers.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use hadal_frontend::{Frontend, FrontendConfig, Token};
use hadal_http::{Config, ConfigError, ServeError, serve};
use tokio::net::TcpListener;

use crate::client::read_reply;
use crate::fakes::{FakeLeaf, FakeSink};
use crate::server::{Server, backend_of, memory_backend, runtime};

/// All routes but those that are open to everybody.
fn guarded() -> Vec<(&'static str, String)> {
    let is_open = |path: &str| ["/", "/healthz", "/readyz", "/openapi.json"].contains(&path);
    let routes = hadal_http::route_list().into_iter().filter(|(_, path)| !is_open(path));
    let guarded = routes.map(|(method, path)| {
        let methods = ["GET", "POST", "PUT", "DELETE"];
        let method = methods.into_iter().find(|known| *known == method).expect("a known method");
        let path = path.replace("{table}", "t").replace("{column}", "a");
        (method, path.replace("{member}", "m").replace("{function}", "f"))
    });
    guarded.collect()
}

#[test]
fn forged_hosts_and_origins_are_refused_at_every_door() {
    let server = Server::start();
    for (method, path) in guarded() {
        let host = server.request(method, &path).host("evil.example").send();
        host.problem(403, "forbidden");
        for origin in ["http://evil.example", "null", "http://localhost:1"] {
            let origin = server.request(method, &path).header("Origin", origin).send();
            origin.problem(403, "forbidden");
        }
    }
    server.sql("SELECT 1").ok();
}

#[test]
fn own_hosts_and_pages_are_let_in() {
    let server = Server::with(|config| config.allowed_hosts = vec!["hadal.test".to_owned()]);
    let port = server.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]", "hadal.test", "HADAL.test"] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let origin = format!("http://{host}");
            let reply = server.request("GET", "/v1/tables").host(&host).header("Origin", &origin);
            assert_eq!(reply.send().status, 200, "{host}");
        }
    }
}

#[test]
fn a_request_without_a_host_is_refused() {
    let server = Server::start();
    server.request("GET", "/v1/tables").host("").send().problem(403, "forbidden");
}

#[test]
fn a_request_for_two_hosts_is_refused_at_every_door() {
    let server = Server::start();
    let open = ["/healthz", "/readyz", "/openapi.json", "/"].map(|path| ("GET", path.to_owned()));
    for (method, path) in guarded().into_iter().chain(open) {
        for second in ["localhost", "evil.example"] {
            let request = server.request(method, &path).host("localhost").header("Host", second);
            let problem = request.send().problem(400, "bad-request");
            assert_eq!(problem["detail"], "there are 2 Host headers; there may be one", "{path}");
        }
    }
}

#[test]
fn loopback_asks_for_no_token() {
    let server = Server::with(|config| config.admin_token = Token::parse(&"a".repeat(64)));
    assert_eq!(server.get("/v1/tables").status, 200);
}

#[test]
fn a_wide_bind_asks_for_the_token_at_every_door() {
    let token = "0123456789abcdef".repeat(4);
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::new(FakeSink::default()));
    let server = Server::over(backend, "0.0.0.0:0", |config| {
        config.admin_token = Token::parse(&token);
        config.no_tls = true;
    });
    for (method, path) in guarded() {
        let reply = server.request(method, &path).send();
        reply.problem(401, "unauthorized");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        let wrong = format!("Bearer {}", "f".repeat(64));
        let reply = server.request(method, &path).header("Authorization", &wrong).send();
        reply.problem(401, "unauthorized");
    }
    let bearer = format!("Bearer {token}");
    let with_token = |host: &str| {
        let request = server.request("GET", "/v1/tables").header("Authorization", &bearer);
        request.host(host).send().status
    };
    assert_eq!(with_token("192.0.2.7:4280"), 200);
    assert_eq!(with_token("evil.example"), 403);
    for open in ["/healthz", "/readyz", "/openapi.json", "/"] {
        assert_eq!(server.get(open).status, 200, "{open}");
    }
}

#[test]
fn who_may_stop_the_server_stops_it() {
    let token = "0123456789abcdef".repeat(4);
    let mut server = Server::over(memory_backend(None), "0.0.0.0:0", |config| {
        config.admin_token = Token::parse(&token);
        config.no_tls = true;
    });
    server.request("POST", "/v1/stop").send().problem(401, "unauthorized");
    let bearer = format!("Bearer {token}");
    let with_token =
        |method, path| server.request(method, path).header("Authorization", &bearer).send();
    assert_eq!(with_token("GET", "/v1/stop").status, 405);
    // The server still serves.
    assert_eq!(with_token("GET", "/v1/tables").status, 200);
    let stopping = with_token("POST", "/v1/stop");
    assert_eq!((stopping.status, stopping.json()["stopping"].as_bool()), (202, Some(true)));
    server.wait();
    assert!(TcpStream::connect(("127.0.0.1", server.address.port())).is_err());
}

#[test]
fn one_address_of_another_machine_has_so_many_connections() {
    // No packet is sent: the socket only shows this machine's address as others see it.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let local = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    let Some(ip) = local.ok().map(|local| local.ip()).filter(|ip| !ip.is_loopback()) else {
        println!("skipped: needs a network");
        return;
    };
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::new(FakeSink::default()));
    let server = Server::over(backend, "0.0.0.0:0", |config| {
        config.admin_token = Token::parse(&"a".repeat(64));
        config.no_tls = true;
        config.connections_per_address_max = 2;
    });
    let address = SocketAddr::from((ip, server.address.port()));
    let connect = || std::net::TcpStream::connect(address).expect("a connection");
    let _open = [connect(), connect()];
    let problem = crate::client::read_reply(&mut connect()).problem(503, "unavailable");
    assert_eq!(problem["detail"], "too many connections from your address");
    // Other addresses are served.
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_wide_bind_without_token_or_word_on_tls_does_not_start() {
    let runtime = runtime();
    let start = |listen: &str, token: bool, no_tls: bool| -> Result<(), ServeError> {
        let listener = runtime.block_on(TcpListener::bind(listen)).expect("a port");
        // The listener's address counts, not the configuration.
        let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 1)));
        config.admin_token = token.then(|| Token::random().expect("randomness"));
        config.no_tls = no_tls;
        let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::new(FakeSink::default()));
        runtime.block_on(serve(
            config,
            Frontend::new(FrontendConfig::default(), backend),
            listener,
            async {},
        ))
    };
    for listen in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
        for (token, no_tls) in [(false, false), (false, true), (true, false), (true, true)] {
            let started = start(listen, token, no_tls);
            let is_open = listen.starts_with('0');
            match (is_open, token, no_tls) {
                (true, false, _) => assert!(
                    matches!(&started, Err(ServeError::Config(ConfigError::NoToken(_)))),
                    "{started:?}"
                ),
                (true, true, false) => assert!(
                    matches!(&started, Err(ServeError::Config(ConfigError::NoTls(_)))),
                    "{started:?}"
                ),
                _ => assert!(started.is_ok(), "{listen} {token} {no_tls}: {started:?}"),
            }
        }
    }
}

#[test]
fn browsers_are_told_what_not_to_do() {
    let server = Server::start();
    for path in ["/", "/v1/tables", "/v1/tables/nothing", "/nothing", "/healthz"] {
        let reply = server.get(path);
        let policy = reply.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
        assert!(policy.contains("script-src 'self';") && policy.contains("object-src 'none'"));
        // Style elements may be inline; scripts and style attributes never.
        assert_eq!(policy.matches("unsafe-").count(), 1, "{policy}");
        assert!(policy.contains("style-src 'self' 'unsafe-inline';"), "{policy}");
        assert!(policy.contains("style-src-attr 'none';"), "{policy}");
        // Text becomes markup only by the page's one rule, which lets no tag through.
        assert!(policy.contains("require-trusted-types-for 'script'; trusted-types default"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
}

#[test]
fn other_addresses_and_methods_are_problems() {
    let server = Server::start();
    for path in ["/nothing", "/v1", "/v1/tables/t/columns/c", "/v1/../etc/passwd", "/%2e%2e/x"] {
        server.get(path).problem(404, "unknown-route");
    }
    for (method, path) in [("GET", "/v1/query"), ("GET", "/v1/log/t"), ("POST", "/v1/tables")] {
        server.request(method, path).send().problem(405, "method");
    }
}

#[test]
fn a_body_is_asked_for_once_its_head_is_let_in() {
    let server = Server::start();
    let send = |host: &str| {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        let head = format!(
            "PUT /v1/log/t HTTP/1.1\r\nHost: {host}\r\nContent-Length: 8\r\n\
             Expect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("a head");
        let first = read_reply(&mut stream);
        (stream, first)
    };
    let (mut stream, first) = send("localhost");
    assert_eq!(first.status, 100);
    stream.write_all(b"{\"a\": 1}").expect("a body");
    assert_eq!(read_reply(&mut stream).ok()["accepted"], 1);
    let (_, first) = send("evil.example");
    first.problem(403, "forbidden");
}
