//! A network that loses what a test wants lost.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chitchat::ChitchatEnvelope;
use chitchat::transport::{ChannelTransport, RecvOutcome, SendOutcome, Socket, Transport};

/// A network in this process. Clones are the same network.
#[derive(Clone, Default)]
pub(crate) struct Network {
    channels: ChannelTransport,
    cuts: Arc<Mutex<HashSet<(SocketAddr, SocketAddr)>>>,
}

impl Network {
    /// Loses everything from one address to another.
    pub(crate) fn cut(&self, from: SocketAddr, to: SocketAddr) {
        self.cuts.lock().expect("no panic").insert((from, to));
    }

    /// Loses everything between two addresses.
    pub(crate) fn cut_both(&self, one: SocketAddr, other: SocketAddr) {
        self.cut(one, other);
        self.cut(other, one);
    }

    /// Loses nothing any more.
    pub(crate) fn heal(&self) {
        self.cuts.lock().expect("no panic").clear();
    }
}

#[async_trait]
impl Transport for Network {
    async fn open(&self, address: SocketAddr) -> anyhow::Result<Box<dyn Socket>> {
        let socket = self.channels.open(address).await?;
        Ok(Box::new(LossySocket { socket, address, cuts: Arc::clone(&self.cuts) }))
    }
}

struct LossySocket {
    socket: Box<dyn Socket>,
    address: SocketAddr,
    cuts: Arc<Mutex<HashSet<(SocketAddr, SocketAddr)>>>,
}

#[async_trait]
impl Socket for LossySocket {
    fn local_addr(&self) -> anyhow::Result<SocketAddr> {
        self.socket.local_addr()
    }

    async fn send(
        &mut self,
        to: SocketAddr,
        envelope: ChitchatEnvelope,
    ) -> anyhow::Result<SendOutcome> {
        if self.cuts.lock().expect("no panic").contains(&(self.address, to)) {
            return Ok(SendOutcome { num_bytes_sent: 0 });
        }
        self.socket.send(to, envelope).await
    }

    async fn recv(&mut self) -> anyhow::Result<RecvOutcome> {
        self.socket.recv().await
    }
}
