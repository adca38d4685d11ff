//! The client of a query: the unit among which queries take turns.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// A client that sends queries: a machine, or a connection from this machine.
///
/// There is one token, so it cannot tell clients apart; addresses can. IPv6 addresses count by
/// their first half, because an owner usually has 2^64 addresses. Proxies and many programs may run
/// on this machine, so each of its connections counts as a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryClient(Option<(IpAddr, u16)>);

impl QueryClient {
    /// The server itself, for its own queries, such as those for the statistics of columns.
    pub const SERVER: Self = Self(None);

    /// Returns the client behind a connection from `peer`.
    #[must_use]
    pub fn of_peer(peer: SocketAddr) -> Self {
        Self(Some(match peer.ip().to_canonical() {
            address if address.is_loopback() => (address, peer.port()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                (Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into(), 0)
            }
            address => (address, 0),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str) -> QueryClient {
        QueryClient::of_peer(peer.parse().expect("an address"))
    }

    #[test]
    fn machines_and_local_connections_are_clients() {
        assert_eq!(client("10.0.0.1:1"), client("[::ffff:10.0.0.1]:2"));
        assert_ne!(client("10.0.0.1:1"), client("10.0.0.2:1"));
        assert_eq!(client("[2001:db8::1]:1"), client("[2001:db8::2]:2"));
        assert_ne!(client("[2001:db8::1]:1"), client("[2001:db8:0:1::1]:1"));
        assert_ne!(client("127.0.0.1:1"), client("127.0.0.1:2"));
        assert_ne!(client("127.0.0.1:0"), QueryClient::SERVER);
    }
}
