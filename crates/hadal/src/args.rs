//! Arguments that several commands share: the server to ask, the address to listen on, the folder.

mod cluster;
mod memory;
mod read;
mod storage;

pub(crate) use cluster::{ClusterArgs, MEMBER_PORT};
#[cfg(test)]
pub(crate) use memory::RowsFrom;
pub(crate) use memory::{MemoryArgs, Storage};
pub(crate) use read::ReadArgs;
pub(crate) use storage::{StorageArgs, location};

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::Args;

use crate::client::Client;
use crate::error::Error;

/// The default listen address of a server.
pub(crate) const LISTEN_DEFAULT: &str = "127.0.0.1:4280";

/// The default port of a server.
const HTTP_PORT: u16 = 4280;
/// The default port for PostgreSQL clients.
const PG_PORT: u16 = 4281;

/// Which server to talk to.
#[derive(Args)]
pub(crate) struct ServerArgs {
    /// The server's address [default: http://127.0.0.1:4280]
    #[arg(long, env = "HADAL_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The server's token, where it asks for one
    #[arg(long, env = "HADAL_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
}

impl ServerArgs {
    /// Returns a client of the server.
    pub(crate) fn client(&self) -> Result<Client, Error> {
        self.client_or(LISTEN_DEFAULT)
    }

    /// Returns a client of the server, by default of the one at `address`.
    pub(crate) fn client_or(&self, address: &str) -> Result<Client, Error> {
        Client::new(self.server.as_deref().unwrap_or(address), self.token.as_deref())
    }
}

/// Where to listen, and to whom.
#[derive(Args, Clone)]
pub(crate) struct DoorArgs {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, env = "HADAL_LISTEN", default_value = LISTEN_DEFAULT, value_name = "ADDRESS",
        value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Address and port for PostgreSQL clients, or off [default: 127.0.0.1:4281 beside the default
    /// port of --listen; off beside other ports]
    #[arg(long, env = "HADAL_PG_LISTEN", value_name = "ADDRESS", value_parser = pg_listen)]
    pub(crate) pg_listen: Option<PgListen>,
    /// File (PEM) with the certificate for TLS with PostgreSQL clients
    #[arg(long, env = "HADAL_PG_CERTIFICATE", value_name = "FILE", requires = "pg_key")]
    pub(crate) pg_certificate: Option<PathBuf>,
    /// File (PEM) with the private key of that certificate
    #[arg(long, env = "HADAL_PG_KEY", value_name = "FILE", requires = "pg_certificate")]
    pub(crate) pg_key: Option<PathBuf>,
    /// File with the admin token [default: admin-token in the data folder, made if needed]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// TLS ends elsewhere: other machines may connect without it
    #[arg(long)]
    pub(crate) no_tls: bool,
    /// A name by which clients may call this server, besides localhost and its address
    #[arg(long, alias = "allow-host", value_name = "NAME")]
    pub(crate) allowed_host: Vec<String>,
    /// Write down neither questions nor what comes in (tables _queries, _ingest, _leaves)
    #[arg(long)]
    pub(crate) no_journal: bool,
    /// Folder of dashboards, a JSON file each, which are read only and read again after a change
    #[arg(long, env = "HADAL_DASHBOARDS", value_name = "DIR")]
    pub(crate) dashboards: Option<PathBuf>,
}

/// Whether and where PostgreSQL clients are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PgListen {
    /// They are not served.
    Off,
    /// They are served at this address.
    On(SocketAddr),
}

impl DoorArgs {
    /// The door of a server on a free port of this machine.
    pub(crate) fn private() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            pg_listen: None,
            pg_certificate: None,
            pg_key: None,
            token_file: None,
            no_tls: false,
            allowed_host: Vec::new(),
            // No user searches its self tables.
            no_journal: true,
            dashboards: None,
        }
    }

    /// Where PostgreSQL clients are served; `None` if they are not.
    pub(crate) fn pg_address(&self) -> Option<SocketAddr> {
        match self.pg_listen {
            Some(PgListen::On(address)) => Some(address),
            Some(PgListen::Off) => None,
            None if self.listen.port() != HTTP_PORT => None,
            None if self.listen.ip().is_loopback() => Some((self.listen.ip(), PG_PORT).into()),
            None => Some((Ipv4Addr::LOCALHOST, PG_PORT).into()),
        }
    }
}

/// Parses where PostgreSQL clients are served.
fn pg_listen(text: &str) -> Result<PgListen, String> {
    match text.eq_ignore_ascii_case("off") {
        true => Ok(PgListen::Off),
        false => listen_address(text).map(PgListen::On),
    }
}

/// Parses an address and a port. A host name is accepted if it resolves to loopback addresses only.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    const ADVICE: &str = "write an address and a port, such as 127.0.0.1:4280 for this machine or \
                          0.0.0.0:4280 for others";
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (name, port) = text.rsplit_once(':').ok_or(ADVICE)?;
    let port: u16 = port.parse().map_err(|_| ADVICE)?;
    let addresses: Vec<SocketAddr> = (name, port).to_socket_addrs().map_err(|_| ADVICE)?.collect();
    if !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err(format!("{name} is not a name for this machine only; {ADVICE}"));
    }
    let first_of = |is_v4: bool| addresses.iter().find(|address| address.is_ipv4() == is_v4);
    first_of(true).or_else(|| first_of(false)).copied().ok_or_else(|| ADVICE.to_owned())
}

/// Where rows are kept.
#[derive(Args, Clone)]
pub(crate) struct DataArgs {
    /// Folder that keeps the rows [default: hadal in the user's data folder]
    #[arg(long, env = "HADAL_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

impl DataArgs {
    /// Returns the given folder or the default one.
    pub(crate) fn folder(&self) -> Result<PathBuf, Error> {
        self.data.clone().or_else(default_data_folder).ok_or_else(|| {
            Error::Usage(
                "there is no HOME to keep data in; give --data DIR, or --memory".to_owned(),
            )
        })
    }
}

/// `hadal` in the user's data folder, as defined by the XDG Base Directory Specification.
fn default_data_folder() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(base.join("hadal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgresql_clients_have_a_port_beside_the_default_one() {
        let address = |listen: &str, pg: Option<PgListen>| {
            let doors = DoorArgs {
                listen: listen.parse().expect("an address"),
                pg_listen: pg,
                ..DoorArgs::private()
            };
            doors.pg_address().map(|address| address.to_string())
        };
        let pg = |text: &str| Some(pg_listen(text).expect("a place"));
        let usual = Some("127.0.0.1:4281".to_owned());
        assert_eq!(address("127.0.0.1:4280", None), usual);
        assert_eq!(address("0.0.0.0:4280", None), usual);
        assert_eq!(address("127.0.0.2:4280", None).as_deref(), Some("127.0.0.2:4281"));
        assert_eq!(address("127.0.0.1:0", None), None);
        assert_eq!(address("127.0.0.1:0", pg("127.0.0.1:4281")), usual);
        assert_eq!(address("127.0.0.1:4280", pg("OFF")), None);
        assert!(pg_listen("4281").is_err());
    }

    #[test]
    fn names_of_this_machine_are_addresses() {
        let address = |text: &str| listen_address(text).map(|address| address.to_string());
        assert_eq!(address("127.0.0.1:0").as_deref(), Ok("127.0.0.1:0"));
        assert_eq!(address("[::1]:80").as_deref(), Ok("[::1]:80"));
        let local = listen_address("localhost:6400").expect("an address");
        assert!(local.ip().is_loopback() && local.port() == 6400, "{local}");
        for text in ["localhost", "6400", ":6400", "127.0.0.1", "localhost:66000", "localhost:"] {
            let error = address(text).expect_err("refused");
            assert!(error.contains("127.0.0.1:4280"), "{text}: {error}");
        }
    }
}
