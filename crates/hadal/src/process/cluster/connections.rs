//! The connections of this process to other members. Each stays open.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use hadal_peer::Member;
use hadal_rpc::{Connection, Identity};
use hadal_types::LeafName;
use parking_lot::Mutex;

use crate::output;

/// Connections by member.
pub(crate) struct Connections {
    identity: Arc<Identity>,
    open: Mutex<BTreeMap<LeafName, (SocketAddr, Arc<Connection>)>>,
}

impl Connections {
    pub(crate) fn new(identity: Arc<Identity>) -> Self {
        Self { identity, open: Mutex::default() }
    }

    /// The connection to a member; `None` if its address cannot be used, which is reported.
    pub(crate) fn to(&self, member: &Member) -> Option<Arc<Connection>> {
        let mut open = self.open.lock();
        if let Some((address, connection)) = open.get(&member.name)
            && *address == member.address
        {
            return Some(Arc::clone(connection));
        }
        match Connection::new(member.address, Arc::clone(&self.identity)) {
            Ok(connection) => {
                let connection = Arc::new(connection);
                open.insert(member.name.clone(), (member.address, Arc::clone(&connection)));
                Some(connection)
            }
            Err(error) => {
                output::say(&format!("cannot call {}: {error}", member.name));
                None
            }
        }
    }
}
