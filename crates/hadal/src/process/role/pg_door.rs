//! The part of a process that serves PostgreSQL clients.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use hadal_pgwire::{Config, Tls};
use hadal_types::limits::{CONNECTIONS_MAX, PG_CONNECTIONS_MAX};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::args::DoorArgs;
use crate::error::Error;
use crate::process::file_permissions::refuse_written_by_others;
use crate::process::role::address::bind;

/// HTTP connections for one of a PostgreSQL client, where files are scarce.
const HTTP_CONNECTIONS_FOR_ONE: usize = 4;

/// The open door for PostgreSQL clients.
pub(crate) struct PgDoor {
    pub(crate) listener: TcpListener,
    pub(crate) config: Config,
    pub(crate) bound: SocketAddr,
}

impl PgDoor {
    /// Opens the door, if there is one. Tries for `patience` while another process has the address.
    /// Its limit of connections is taken from that of `http`.
    pub(crate) fn open(
        doors: &DoorArgs,
        http: &mut hadal_http::Config,
        runtime: &Runtime,
        patience: Duration,
    ) -> Result<Option<Self>, Error> {
        let Some(listen) = doors.pg_address() else { return Ok(None) };
        let place = format!("{listen} for PostgreSQL clients (--pg-listen off: without them)");
        let failed = || Error::io("listen on", &place);
        let listener = runtime.block_on(bind(listen, patience)).map_err(failed())?;
        let bound = listener.local_addr().map_err(failed())?;
        let mut config = Config::new(bound);
        config.admin_token.clone_from(&http.admin_token);
        config.no_tls = doors.no_tls;
        config.tls = match (&doors.pg_certificate, &doors.pg_key) {
            (Some(certificate), Some(key)) => Some(tls(certificate, key)?),
            _ => None,
        };
        config.version.clone_from(&http.about.version);
        config.stopping_time = http.stopping_time;
        config.connections_max = connections_of(&mut http.connections_max);
        config.check().map_err(|error| Error::Usage(error.to_string()))?;
        Ok(Some(Self { listener, config, bound }))
    }
}

/// The connections of PostgreSQL clients. Where the limit of files leaves fewer than HTTP may have,
/// they are taken from these.
fn connections_of(http: &mut usize) -> usize {
    if *http >= CONNECTIONS_MAX {
        return PG_CONNECTIONS_MAX;
    }
    let connections = (*http / HTTP_CONNECTIONS_FOR_ONE).clamp(1, PG_CONNECTIONS_MAX);
    *http = http.saturating_sub(connections).max(1);
    connections
}

fn tls(certificate: &Path, key: &Path) -> Result<Tls, Error> {
    let read = |file: &Path| fs::read(file).map_err(Error::io("read", file.display()));
    refuse_written_by_others(key)?;
    let tls = Tls::new(&read(certificate)?, &read(key)?);
    tls.map_err(|error| Error::Usage(format!("--pg-certificate and --pg-key: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scarce_files_are_shared() {
        let mut http = CONNECTIONS_MAX;
        assert_eq!((connections_of(&mut http), http), (PG_CONNECTIONS_MAX, CONNECTIONS_MAX));
        let mut http = 100;
        assert_eq!((connections_of(&mut http), http), (25, 75));
        let mut http = 1;
        assert_eq!((connections_of(&mut http), http), (1, 1));
    }
}
