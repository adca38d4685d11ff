//! The port on which a process takes calls of other members: TCP for calls, UDP for gossip.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, UdpSocket};

use crate::error::Error;

/// Attempts to find a port that is free for both protocols, if any port will do.
const ATTEMPTS: usize = 32;

/// A bound TCP port whose UDP port is free. The address has the chosen port, if `listen` has none.
pub(crate) async fn bind(listen: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let mut last = None;
    for _ in 0..if listen.port() == 0 { ATTEMPTS } else { 1 } {
        match bind_both(listen).await {
            Ok(bound) => return Ok(bound),
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrInUse));
    Err(Error::io("take calls of other members on", listen)(error))
}

async fn bind_both(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await?;
    let bound = listener.local_addr()?;
    // Membership binds it again: here it is only found to be free.
    drop(UdpSocket::bind(bound).await?);
    Ok((listener, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_ports_are_free() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (_listener, bound) = bind(any).await.expect("bound");
        assert!(bound.port() > 0);
        let refused = bind(bound).await.expect_err("in use").to_string();
        assert!(refused.contains(&bound.to_string()), "{refused}");
        let udp = UdpSocket::bind(any).await.expect("bound");
        let taken = udp.local_addr().expect("an address");
        assert!(bind(taken).await.is_err());
    }
}
