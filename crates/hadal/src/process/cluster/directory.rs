//! Keeps the tree and placement in step with membership: a member that appears can be asked, one
//! that is silent is not waited for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hadal_membership::Membership;
use hadal_peer::{Member, MemberRole};
use hadal_rpc::{Connection, Identity, RemoteAggregator, RemoteLeaf, ReportEvent};
use hadal_tree::{Catalog, ClusterTree, ExpectedRows, Placement, PlacementLeaf};
use hadal_types::{LeafName, MemoryPool, Micros};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::output;

/// How often placement learns of the members although nothing changes. Without it, it takes this
/// process for one that was frozen.
const ANNOUNCED_EVERY: Duration = Duration::from_secs(1);

/// The parts of a process that know other members.
pub(crate) struct Directory {
    pub(crate) identity: Arc<Identity>,
    pub(crate) tree: Arc<ClusterTree>,
    pub(crate) placement: Arc<Placement>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) expected_rows: Arc<ExpectedRows>,
    /// The memory of queries.
    pub(crate) memory: Arc<MemoryPool>,
}

/// What was done for a member.
struct Followed {
    member: Member,
    /// The task that follows a leaf's reports.
    following: Option<AbortHandle>,
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(following) = &self.following {
            following.abort();
        }
    }
}

impl Directory {
    /// Follows membership for as long as this process is a member.
    pub(crate) async fn follow(self, membership: Arc<Membership>) {
        let mut changes = membership.changes();
        let mut followed = BTreeMap::new();
        loop {
            self.update(&mut followed, &membership.members());
            if let Ok(Err(_)) = timeout(ANNOUNCED_EVERY, changes.changed()).await {
                return;
            }
        }
    }

    fn update(&self, followed: &mut BTreeMap<LeafName, Followed>, members: &[Member]) {
        let is_gone = |name: &LeafName| !members.iter().any(|member| member.name == *name);
        let gone: Vec<LeafName> = followed.keys().filter(|name| is_gone(name)).cloned().collect();
        for name in gone {
            if let Some(gone) = followed.remove(&name) {
                self.remove(&gone.member);
            }
        }
        for member in members.iter().filter(|member| member.name != *self.identity.name()) {
            let is_new = followed
                .get(&member.name)
                .is_none_or(|followed| is_other(&followed.member, member));
            if is_new {
                let following = self.add(member);
                followed
                    .insert(member.name.clone(), Followed { member: member.clone(), following });
            } else if let Some(followed) = followed.get_mut(&member.name) {
                followed.member = member.clone();
            }
            self.set_state(member);
        }
    }

    /// Makes a member reachable; replaces the process of the same name before it.
    fn add(&self, member: &Member) -> Option<AbortHandle> {
        let connection = Connection::new(member.address, Arc::clone(&self.identity));
        let connection = match connection {
            Ok(connection) => Arc::new(connection),
            Err(error) => {
                output::say(&format!("{}: cannot call {}: {error}", member.name, member.address));
                return None;
            }
        };
        match member.role {
            MemberRole::Aggregator => {
                let remote = RemoteAggregator::new(&member.machine, connection)
                    .with_memory(Arc::clone(&self.memory));
                let works = member.state.answers();
                self.tree.put_aggregator(member.machine.clone(), Arc::new(remote), works);
                None
            }
            MemberRole::Leaf => {
                let leaf = RemoteLeaf::new(member.name.clone(), connection);
                let leaf = leaf.of_process(member.started).with_memory(Arc::clone(&self.memory));
                let leaf = Arc::new(leaf);
                let peer = Arc::clone(&leaf) as _;
                let (name, machine) = (member.name.clone(), member.machine.clone());
                self.tree.put_leaf(name.clone(), machine, peer, member.state);
                self.placement.join(PlacementLeaf {
                    name,
                    sink: Arc::clone(&leaf) as _,
                    admin: Arc::clone(&leaf) as _,
                    tables: Vec::new(),
                    joined: Some(Micros(i64::try_from(member.joined).unwrap_or(i64::MAX))),
                });
                let (catalog, name) = (Arc::clone(&self.catalog), member.name.clone());
                let expected_rows = Arc::clone(&self.expected_rows);
                expected_rows.leaf_started(&name, member.started);
                let learn = move |event| match event {
                    ReportEvent::Changed(report) => {
                        expected_rows.report(&report);
                        catalog.learn(report);
                    }
                    ReportEvent::Restarted => catalog.forget_leaf(&name),
                };
                let follow = async move { leaf.follow_reports(learn).await };
                Some(tokio::spawn(follow).abort_handle())
            }
        }
    }

    fn set_state(&self, member: &Member) {
        match member.role {
            MemberRole::Leaf => self.tree.set_leaf_state(&member.name, member.state),
            MemberRole::Aggregator => {
                let works = member.state.answers();
                self.tree.set_aggregator_works(&member.machine, works);
            }
        }
        if member.role == MemberRole::Leaf {
            self.placement.set_state(
                &member.name,
                member.state,
                member.used_bytes,
                member.free_bytes,
            );
        }
    }

    fn remove(&self, member: &Member) {
        match member.role {
            MemberRole::Leaf => {
                self.tree.remove_leaf(&member.name);
                self.placement.remove(&member.name);
            }
            MemberRole::Aggregator => self.tree.remove_aggregator(&member.machine),
        }
    }
}

/// Whether a member is another process than before, or at another address.
fn is_other(followed: &Member, member: &Member) -> bool {
    (followed.started, followed.address, followed.role)
        != (member.started, member.address, member.role)
}
