//! A process's membership of a cluster.

use std::sync::Arc;
use std::thread;

use chitchat::transport::{Transport, UdpTransport};
use hadal_peer::Member;
use hadal_types::{Clock, LeafName, SystemClock};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};

use crate::announcement;
use crate::config::{MembershipConfig, MembershipError};
use crate::gossip::{Command, Gossip, Shared};
use crate::problem::Problem;

/// A process's membership of a cluster. Dropping it ends the gossip without a word, as a crash
/// would.
pub struct Membership {
    shared: Arc<Shared>,
    commands: mpsc::UnboundedSender<Command>,
}

impl Membership {
    /// Joins the cluster as `local`, or begins one if no seed answers: others become known as they
    /// are heard. The gossip has a thread of its own, so that no work of the process delays it.
    ///
    /// # Errors
    /// [`MembershipError::Unfit`] or [`MembershipError::Start`].
    pub async fn join(config: MembershipConfig, local: Member) -> Result<Self, MembershipError> {
        let (membership, receiver) = Self::prepare(local)?;
        let shared = Arc::clone(&membership.shared);
        let listen = config.listen;
        let failed = move |reason: String| MembershipError::Start { listen, reason };
        let (started, has_started) = oneshot::channel();
        let gossip = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(failed(error.to_string())))),
            };
            runtime.block_on(async {
                let transport = Box::new(UdpTransport);
                match Gossip::start(config, shared, Arc::new(SystemClock), transport).await {
                    // Nobody waits any more if the process gave up joining.
                    Ok(gossip) => {
                        if started.send(Ok(())).is_ok() {
                            gossip.run(receiver).await;
                        }
                    }
                    Err(error) => drop(started.send(Err(error))),
                }
            });
        };
        let spawned = thread::Builder::new().name("gossip".to_owned()).spawn(gossip);
        spawned.map_err(|error| failed(error.to_string()))?;
        has_started.await.map_err(|_| MembershipError::Ended)??;
        Ok(membership)
    }

    /// As [`Self::join`], over another transport and with another clock, on the caller's runtime.
    ///
    /// # Errors
    /// As [`Self::join`].
    pub async fn join_over(
        transport: Box<dyn Transport>,
        clock: Arc<dyn Clock>,
        config: MembershipConfig,
        local: Member,
    ) -> Result<Self, MembershipError> {
        let (membership, receiver) = Self::prepare(local)?;
        let shared = Arc::clone(&membership.shared);
        let gossip = Gossip::start(config, shared, clock, transport).await?;
        tokio::spawn(gossip.run(receiver));
        Ok(membership)
    }

    fn prepare(local: Member) -> Result<(Self, mpsc::UnboundedReceiver<Command>), MembershipError> {
        announcement::check(&local)
            .map_err(|reason| MembershipError::Unfit { name: local.name.clone(), reason })?;
        let members = watch::Sender::new(Arc::from([local.clone()]));
        let (local, problems) = (Mutex::new(local), Mutex::new(Vec::new()));
        let (commands, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared { local, members, problems });
        Ok((Self { shared, commands }, receiver))
    }

    /// Changes this process's announcement: its state, bytes, versions and whether it has the
    /// definitions. Name, role, machine, address and start stay. The change goes out with the
    /// next round of gossip, so it may be called as often as anything changes.
    pub fn announce(&self, change: impl FnOnce(&mut Member)) {
        let mut local = self.shared.local.lock();
        let mut changed = local.clone();
        change(&mut changed);
        *local = Member {
            state: changed.state,
            used_bytes: changed.used_bytes,
            free_bytes: changed.free_bytes,
            catalog_version: changed.catalog_version,
            expected_rows_version: changed.expected_rows_version,
            has_definitions: changed.has_definitions,
            ..local.clone()
        };
    }

    /// All members by name, this process too: live ones with the state that they announce, and
    /// silent ones until they are forgotten.
    #[must_use]
    pub fn members(&self) -> Arc<[Member]> {
        Arc::clone(&self.shared.members.borrow())
    }

    /// The members, with a notice of every change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<[Member]>> {
        self.shared.members.subscribe()
    }

    /// What is wrong with the cluster now.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.shared.problems.lock().clone()
    }

    /// Takes a silent member out of every process's list until it announces a later start;
    /// returns whether it was in the list.
    ///
    /// # Errors
    /// [`MembershipError::Alive`] or [`MembershipError::Ended`].
    pub async fn forget(&self, name: &LeafName) -> Result<bool, MembershipError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(Command::Forget(name.clone(), reply));
        sent.map_err(|_| MembershipError::Ended)?;
        answer.await.map_err(|_| MembershipError::Ended)?
    }

    /// Leaves: others take this process for silent at once, and need not wait until they miss its
    /// heartbeat.
    pub async fn leave(&self) {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command::Leave(reply)).is_ok() {
            // If the gossip has ended, others know already.
            drop(answer.await);
        }
    }
}
