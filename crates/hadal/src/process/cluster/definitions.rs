//! Where a process of a cluster has its definitions: in a database, or on another member.

use std::net::SocketAddr;
use std::sync::Arc;

use hadal_definitions::{DefinitionStore, Definitions, FollowedDefinitions, Location};
use hadal_membership::Membership;
use hadal_peer::{Member, MemberRole};
use hadal_rpc::{DefinitionsMember, Identity, RemoteDefinitions};
use hadal_types::MachineName;
use tokio::net::lookup_host;

use crate::error::Error;
use crate::process::cluster::connections::Connections;
use crate::process::service_config::ServiceConfig;

/// The name of the file of definitions in a data folder.
const DEFINITIONS_FILE: &str = "definitions.sqlite";

/// Opens the database of definitions if this process has it: one that the user named, or, on the
/// first machine of `join`, a file in the data folder. `local` is this process's own address.
pub(crate) async fn open_local(
    config: &ServiceConfig,
    join: &[String],
    local: SocketAddr,
) -> Result<Option<Definitions>, Error> {
    let is_first = match join.first() {
        None => true,
        Some(first) => is_address_of(first, local).await,
    };
    let location = match (&config.definitions, is_first) {
        (Some(given), _) => given.clone(),
        (None, false) => return Ok(None),
        (None, true) => match &config.folder {
            Some(folder) => Location::File(folder.join(DEFINITIONS_FILE)),
            None => Location::Memory,
        },
    };
    let opened = Definitions::open(&location).await;
    let opened =
        opened.map_err(|error| Error::Server(format!("{error}; the server does not start")))?;
    Ok(Some(opened))
}

/// Whether a member to join is this process: its address, or any port of it.
async fn is_address_of(member: &str, local: SocketAddr) -> bool {
    let resolved = lookup_host(member).await;
    let addresses: Vec<SocketAddr> = resolved.map(Iterator::collect).unwrap_or_default();
    let is_local = |address: &SocketAddr| {
        address.ip() == local.ip() && [0, local.port()].contains(&address.port())
    };
    addresses.iter().any(is_local)
}

/// A copy of the definitions in `local`, or of those of a member that has them, kept up to date.
pub(crate) fn followed(
    local: Option<Definitions>,
    membership: &Arc<Membership>,
    identity: &Arc<Identity>,
) -> Arc<FollowedDefinitions> {
    let store: Arc<dyn DefinitionStore> = match local {
        Some(definitions) => Arc::new(definitions),
        // Any other aggregator would only ask a further one, perhaps this one.
        None => remote(membership, identity, |member| member.has_definitions.then_some(0)),
    };
    Arc::new(FollowedDefinitions::new(store))
}

/// The definitions as the aggregator of a machine has them, or else any other one.
pub(crate) fn of_machine(
    machine: MachineName,
    membership: &Arc<Membership>,
    identity: &Arc<Identity>,
) -> Arc<FollowedDefinitions> {
    let rank = move |member: &Member| Some(u8::from(member.machine != machine));
    Arc::new(FollowedDefinitions::new(remote(membership, identity, rank)))
}

/// The definitions of the live aggregator with the lowest rank, of those that have one.
fn remote(
    membership: &Arc<Membership>,
    identity: &Arc<Identity>,
    rank: impl Fn(&Member) -> Option<u8> + Send + Sync + 'static,
) -> Arc<RemoteDefinitions> {
    let (membership, identity) = (Arc::clone(membership), Arc::clone(identity));
    let connections = Connections::new(Arc::clone(&identity));
    Arc::new(RemoteDefinitions::new(move || {
        let members = membership.members();
        let aggregators = members.iter().filter(|member| {
            let is_other = member.name != *identity.name();
            member.role == MemberRole::Aggregator && member.state.answers() && is_other
        });
        let ranked = aggregators.filter_map(|member| Some((rank(member)?, member)));
        let (_, member) = ranked.min_by_key(|(rank, _)| *rank)?;
        let connection = connections.to(member)?;
        Some(DefinitionsMember { name: member.name.clone(), connection })
    }))
}
