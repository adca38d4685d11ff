//! The part of a process that owns its address: a new socket, or the socket of the previous server.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::process::handover::Predecessor;

/// A server that was killed during its handover, or whose stop took too long, may hold its address
/// and its folder this long after it closed its handover socket.
const END_TIME: Duration = Duration::from_secs(1);
/// The interval of further attempts meanwhile.
pub(super) const ASK_AGAIN: Duration = Duration::from_millis(5);
/// The address of the doors.
pub(crate) struct Address {
    pub(crate) listener: TcpListener,
    pub(crate) bound: SocketAddr,
    /// The server from which this one takes over; it still serves.
    pub(crate) predecessor: Option<Predecessor>,
}

impl Address {
    /// Listens on `listen`. With `takes_over`, a server that has `folder` is first asked for its
    /// socket.
    pub(crate) fn take(
        runtime: &Runtime,
        listen: SocketAddr,
        folder: Option<&Path>,
        takes_over: bool,
    ) -> Result<Self, Error> {
        let predecessor = match folder {
            Some(folder) if takes_over => Predecessor::ask(folder)?,
            _ => None,
        };
        let (listener, predecessor) =
            runtime.block_on(listener(listen, takes_over, predecessor))?;
        let bound = listener.local_addr().map_err(Error::io("listen on", listen))?;
        Ok(Self { listener, bound, predecessor })
    }
}

/// Returns a socket for the address: that of the server before if it listens there, otherwise a new
/// one.
async fn listener(
    listen: SocketAddr,
    takes_over: bool,
    before: Option<Predecessor>,
) -> Result<(TcpListener, Option<Predecessor>), Error> {
    let failed = || Error::io("listen on", listen);
    let Some(before) = before else {
        return Ok((bind(listen, patience(takes_over)).await.map_err(failed())?, None));
    };
    let socket = before.listener.try_clone().map_err(failed())?;
    if socket.local_addr().is_ok_and(|address| address == listen) {
        socket.set_nonblocking(true).map_err(failed())?;
        return Ok((TcpListener::from_std(socket).map_err(failed())?, Some(before)));
    }
    Ok((TcpListener::bind(listen).await.map_err(failed())?, Some(before)))
}

/// The time for further attempts to get the address or the folder of another server.
pub(super) fn patience(takes_over: bool) -> Duration {
    if takes_over { END_TIME } else { Duration::ZERO }
}

/// Opens a new socket for the address. Tries again for `patience` while another process has the
/// address.
pub(super) async fn bind(listen: SocketAddr, patience: Duration) -> io::Result<TcpListener> {
    let start = Instant::now();
    loop {
        match TcpListener::bind(listen).await {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse && start.elapsed() < patience =>
            {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            bound => return bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_waited_for_that_is_about_to_be_free() {
        let runtime = Runtime::new().expect("a runtime");
        let other = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = other.local_addr().expect("an address");
        runtime.block_on(async {
            let refused = bind(address, Duration::ZERO).await.expect_err("somebody has it");
            assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
            let waiting = tokio::spawn(bind(address, Duration::from_secs(60)));
            drop(other);
            waiting.await.expect("no panic").expect("free");
        });
    }
}
