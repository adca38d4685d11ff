//! Limits of concurrent connections, in total and per address.
//!
//! IPv6 addresses count by their first half, because an owner usually has 2^64 addresses. The limit
//! per address does not apply to this machine, because proxies and hundreds of clients may run on
//! it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The connections of one port.
pub(crate) struct ConnectionLimits {
    /// Free permits.
    pub(crate) permits: Arc<Semaphore>,
    most_per_address: usize,
    /// Connections by address, none of them zero.
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection's permit, until it is dropped.
pub(crate) struct ConnectionPermit {
    limits: Arc<ConnectionLimits>,
    address: Option<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

/// Why a client must retry later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitReached {
    Port,
    Address,
}

impl LimitReached {
    /// The same in words.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Port => "too many connections",
            Self::Address => "too many connections from your address",
        }
    }
}

impl ConnectionLimits {
    pub(crate) fn new(most: usize, most_per_address: usize) -> Arc<Self> {
        let by_address = Mutex::default();
        Arc::new(Self { permits: Arc::new(Semaphore::new(most)), most_per_address, by_address })
    }

    /// Acquires a permit for a connection from `from`.
    pub(crate) fn enter(self: &Arc<Self>, from: IpAddr) -> Result<ConnectionPermit, LimitReached> {
        let permit =
            Arc::clone(&self.permits).try_acquire_owned().map_err(|_| LimitReached::Port)?;
        let address = counted(from);
        if let Some(address) = address {
            let mut by_address = self.by_address.lock();
            let open = by_address.entry(address).or_default();
            if *open >= self.most_per_address {
                return Err(LimitReached::Address);
            }
            *open += 1;
        }
        Ok(ConnectionPermit { limits: Arc::clone(self), address, _permit: permit })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut by_address = self.limits.by_address.lock();
        if let Some(open) = by_address.get_mut(&address) {
            *open -= 1;
            if *open == 0 {
                by_address.remove(&address);
            }
        }
    }
}

/// Returns the address by which a connection is counted; `None` for this machine.
fn counted(from: IpAddr) -> Option<IpAddr> {
    match from.to_canonical() {
        address if address.is_loopback() => None,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
        }
        address => Some(address),
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::limits::CONNECTIONS_PER_ADDRESS_MAX;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn refused(limits: &Arc<ConnectionLimits>, from: &str) -> Option<LimitReached> {
        limits.enter(address(from)).err()
    }

    #[test]
    fn connections_of_one_address_are_limited() {
        let limits = ConnectionLimits::new(1_000, CONNECTIONS_PER_ADDRESS_MAX);
        let enter = |from: &str| limits.enter(address(from)).expect("a permit");
        let mut permits: Vec<ConnectionPermit> =
            (0..CONNECTIONS_PER_ADDRESS_MAX).map(|_| enter("192.0.2.1")).collect();
        assert_eq!(refused(&limits, "192.0.2.1"), Some(LimitReached::Address));
        assert_eq!(
            refused(&limits, "::ffff:192.0.2.1"),
            Some(LimitReached::Address),
            "the same machine"
        );
        assert_eq!(refused(&limits, "192.0.2.2"), None);
        permits.pop();
        let again = enter("192.0.2.1");
        assert_eq!(refused(&limits, "192.0.2.1"), Some(LimitReached::Address));
        drop((permits, again));
        assert!(limits.by_address.lock().is_empty(), "no address is left");
        assert_eq!(limits.permits.available_permits(), 1_000);
    }

    #[test]
    fn local_connections_count_only_for_the_port() {
        let limits = ConnectionLimits::new(3, 1);
        let permits = ["127.0.0.1", "127.0.0.1", "::1"].map(|from| limits.enter(address(from)));
        assert!(permits.iter().all(Result::is_ok));
        assert_eq!(refused(&limits, "127.0.0.1"), Some(LimitReached::Port));
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let limits = ConnectionLimits::new(10, 1);
        let _permit = limits.enter(address("2001:db8::1")).expect("a permit");
        assert_eq!(refused(&limits, "2001:db8::2"), Some(LimitReached::Address));
        assert_eq!(refused(&limits, "2001:db8:0:1::1"), None);
    }
}
