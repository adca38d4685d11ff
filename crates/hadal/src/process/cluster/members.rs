//! What the front of the database shows of the cluster, from membership.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_frontend::Members;
use hadal_membership::Membership;
use hadal_peer::{BoxFuture, LeafRestart, Member, MemberRole, MemberState};
use hadal_rpc::{Identity, ask_to_restart};
use hadal_types::{Clock, LeafName, Micros};
use parking_lot::Mutex;

/// Membership, and since when each member is in its state.
pub(crate) struct KnownMembers {
    /// The identity of this process.
    identity: Arc<Identity>,
    membership: Arc<Membership>,
    clock: Arc<dyn Clock>,
    since: Mutex<BTreeMap<LeafName, Since>>,
}

/// A state of a member, and when it was first seen in it.
struct Since {
    started: u64,
    state: MemberState,
    at: Micros,
}

impl KnownMembers {
    pub(crate) fn new(
        identity: Arc<Identity>,
        membership: Arc<Membership>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self { identity, membership, clock, since: Mutex::default() })
    }

    /// Notes changes of states for as long as this process is a member.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut changes = self.membership.changes();
        loop {
            self.note(&self.membership.members());
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn note(&self, members: &[Member]) {
        let at = self.clock.now();
        let mut since = self.since.lock();
        since.retain(|name, _| members.iter().any(|member| member.name == *name));
        for member in members {
            let (started, state) = (member.started, member.state);
            let last = since.get(&member.name);
            if last.is_none_or(|last| (last.started, last.state) != (started, state)) {
                since.insert(member.name.clone(), Since { started, state, at });
            }
        }
    }
}

impl Members for KnownMembers {
    fn cluster(&self) -> String {
        self.identity.hello().cluster
    }

    fn members(&self) -> Vec<Member> {
        self.membership.members().to_vec()
    }

    fn since(&self, member: &LeafName) -> Option<Micros> {
        self.since.lock().get(member).map(|since| since.at)
    }

    fn problems(&self) -> Vec<String> {
        self.membership.problems().iter().map(ToString::to_string).collect()
    }

    fn forget<'a>(&'a self, leaf: &'a LeafName) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let forgotten = self.membership.forget(leaf).await;
            forgotten.map(|_| ()).map_err(|error| error.to_string())
        })
    }

    fn restart<'a>(&'a self, restart: &'a LeafRestart) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let members = self.membership.members();
            let leaf = members.iter().find(|member| member.name == restart.leaf);
            let leaf = leaf.ok_or_else(|| format!("{} is no member", restart.leaf))?;
            let supervisor = members.iter().find(|member| {
                let is_there = member.machine == leaf.machine && member.state.answers();
                member.role == MemberRole::Aggregator && is_there
            });
            // Only a supervisor can kill the process, so it is asked first.
            for member in supervisor.into_iter().chain([leaf]) {
                if ask_to_restart(member, &self.identity, restart).await? {
                    return Ok(());
                }
            }
            Err("neither it nor the aggregator of its machine can restart it".to_owned())
        })
    }
}
