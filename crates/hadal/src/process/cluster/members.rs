//! What the front of the database shows of the cluster, from membership.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_frontend::Members;
use hadal_membership::Membership;
use hadal_peer::{BoxFuture, Member, MemberState};
use hadal_types::{Clock, LeafName, Micros};
use parking_lot::Mutex;

/// Membership, and since when each member is in its state.
pub(crate) struct KnownMembers {
    cluster: String,
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
        cluster: String,
        membership: Arc<Membership>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self { cluster, membership, clock, since: Mutex::default() })
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
        self.cluster.clone()
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
}
