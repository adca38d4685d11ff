//! The configuration of the HTTP server, and which configurations are refused.
//!
//! On loopback no token is required. Any other address needs a token. Because this server has no
//! TLS yet, the operator must also declare that TLS ends elsewhere or is not wanted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::Token;
use hadal_types::limits;
use tokio::sync::Notify;

use crate::answer_format::AnswerFormat;
use crate::csv_answer::Csv;
use crate::json_lines_answer::JsonLines;

/// The configuration of the HTTP server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The token allows its holder to do anything. Required unless `listen` is a loopback address.
    pub admin_token: Option<Token>,
    /// Declares that TLS ends elsewhere, or is not wanted.
    pub no_tls: bool,
    /// Names by which clients may call this server, besides `localhost` and its address.
    pub allowed_hosts: Vec<String>,
    /// Limit of concurrent connections; further ones get a 503.
    pub connections_max: usize,
    /// Limit of concurrent connections from one address of another machine.
    pub connections_per_address_max: usize,
    /// The answer of `/v1/version`.
    pub about: About,
    /// Notified when a client asks the server to stop; the process waits for it.
    pub stop: Arc<Notify>,
    /// How long queries and bodies may continue once the server stops.
    pub stopping_time: Duration,
    /// Minimum speed of bodies.
    pub pace: Pace,
    /// The formats of answers beside JSON.
    pub answer_formats: Vec<Arc<dyn AnswerFormat>>,
}

/// The minimum speed of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long a body may pause.
    pub stall_time: Duration,
    /// Minimum bytes per second, averaged over `stall_time` of waiting for the client.
    pub bytes_per_second_min: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            stall_time: Duration::from_secs(limits::STALL_SECONDS),
            bytes_per_second_min: limits::BODY_BYTES_PER_SECOND_MIN,
        }
    }
}

/// A server's description of itself.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The release.
    pub version: String,
    /// The commit it was built from.
    pub commit: String,
    /// Which kernels run on this CPU.
    pub cpu: String,
    /// Where the data is stored, in words without a path, because every client with permission to
    /// query may read them.
    pub data: String,
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Other machines could connect without a token.
    #[error(
        "--listen {0} can be reached from other machines, and there is no admin token: \
         give --data DIR, where the token is kept, or --listen 127.0.0.1:{port}",
        port = .0.port()
    )]
    NoToken(SocketAddr),
    /// Other machines would send the token in the clear.
    #[error(
        "--listen {0} can be reached from other machines, and hadal speaks no TLS itself: \
         put a proxy that does before it and say so with --no-tls, or --listen 127.0.0.1:{port}",
        port = .0.port()
    )]
    NoTls(SocketAddr),
}

impl Config {
    /// Returns a configuration for `listen` with defaults for the rest.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            admin_token: None,
            no_tls: false,
            allowed_hosts: Vec::new(),
            connections_max: limits::CONNECTIONS_MAX,
            connections_per_address_max: limits::CONNECTIONS_PER_ADDRESS_MAX,
            about: About::default(),
            stop: Arc::default(),
            stopping_time: Duration::from_secs(limits::STOPPING_SECONDS),
            pace: Pace::default(),
            answer_formats: vec![Arc::new(Csv), Arc::new(JsonLines)],
        }
    }

    /// Returns whether only this machine can connect.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }

    /// Refuses configurations that would be open to other machines by accident.
    ///
    /// # Errors
    /// [`ConfigError`] names the flags that would fix the configuration.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.is_loopback() {
            return Ok(());
        }
        if self.admin_token.is_none() {
            return Err(ConfigError::NoToken(self.listen));
        }
        if !self.no_tls {
            return Err(ConfigError::NoTls(self.listen));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_bind_needs_a_token_and_a_word_on_tls() {
        let flags = [(false, false), (false, true), (true, false), (true, true)];
        for listen in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            for (token, no_tls) in flags {
                assert_eq!(check(listen, token, no_tls), Ok(()), "{listen} {token} {no_tls}");
            }
        }
        for listen in ["0.0.0.0:4280", "[::]:4280", "10.1.2.3:4280"] {
            let address: SocketAddr = listen.parse().expect("an address");
            assert_eq!(check(listen, false, false), Err(ConfigError::NoToken(address)));
            assert_eq!(check(listen, false, true), Err(ConfigError::NoToken(address)));
            assert_eq!(check(listen, true, false), Err(ConfigError::NoTls(address)));
            assert_eq!(check(listen, true, true), Ok(()));
        }
    }

    #[test]
    fn a_refusal_names_the_flags() {
        let message = check("0.0.0.0:4280", false, false).expect_err("refused").to_string();
        assert!(message.contains("--listen") && message.contains("--data"), "{message}");
        let message = check("0.0.0.0:4280", true, false).expect_err("refused").to_string();
        assert!(message.contains("--listen") && message.contains("--no-tls"), "{message}");
    }

    fn check(listen: &str, token: bool, no_tls: bool) -> Result<(), ConfigError> {
        let admin_token = token.then(|| Token::random().expect("randomness"));
        let listen = listen.parse().expect("an address");
        Config { admin_token, no_tls, ..Config::new(listen) }.check()
    }
}
