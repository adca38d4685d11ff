//! The part of an aggregator process that other members see: its announcement, its server for
//! calls, and the leaf processes of its machine.

use std::net::SocketAddr;
use std::sync::Arc;

use hadal_membership::Membership;
use hadal_peer::MemberState;
use hadal_types::LeafState;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::output;
use crate::process::cluster::expected_rows_file::ExpectedRowsFile;
use crate::process::cluster::members::KnownMembers;
use crate::process::cluster::supervisor::Supervisor;

/// An aggregator as a member.
pub(crate) struct Node {
    /// Where other members call it.
    pub(crate) address: SocketAddr,
    /// What clients may see of the cluster.
    pub(crate) members: Arc<KnownMembers>,
    pub(crate) membership: Arc<Membership>,
    /// The leaf processes of the machine, if this process starts them.
    pub(crate) supervisor: Option<Supervisor>,
    /// Ends the server for calls of other members.
    pub(crate) stop_calls: oneshot::Sender<()>,
    /// The server for these calls.
    pub(crate) calls: JoinHandle<()>,
    /// The file of expected rows, if there is a data folder.
    pub(crate) expected_rows_file: Option<Arc<ExpectedRowsFile>>,
}

impl Node {
    /// Announces that the process is about to stop.
    pub(crate) fn prepare(membership: &Membership) {
        membership.announce(|member| member.state = MemberState::Announced(LeafState::Prepare));
    }

    /// Stops in order once no client is served any more: no calls, then the leaves, then the
    /// membership.
    pub(crate) fn stop(self, runtime: &Runtime) {
        // The receiver has gone if the server has failed meanwhile.
        let _ = self.stop_calls.send(());
        if let Some(supervisor) = self.supervisor {
            supervisor.stop();
        }
        if let Some(Err(error)) = self.expected_rows_file.map(|file| file.write()) {
            output::say(&error.to_string());
        }
        runtime.block_on(async {
            // A call that does not end is cut off by the end of the runtime.
            self.calls.abort();
            self.membership.leave().await;
        });
    }
}
