//! The role of a process that is one leaf of a machine: rows, and calls of other members.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hadal_leaf::Archive;
use hadal_membership::Membership;
use hadal_peer::{
    Admin, LeafRestart, LeafRestarter, Member, MemberRole, MemberState, Peer, StatusScope,
};
use hadal_rpc::{Services, serve};
use hadal_types::{Clock, LeafName, LeafState, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};

use crate::args::{MemoryArgs, StorageArgs};
use crate::error::Error;
use crate::output;
use crate::process::cluster::belonging::Belonging;
use crate::process::cluster::config::ClusterConfig;
use crate::process::cluster::connections::Connections;
use crate::process::cluster::life_file::LifeFile;
use crate::process::cluster::review::Review;
use crate::process::cluster::reviewed_leaf::ReviewedLeaf;
use crate::process::cluster::{definitions, member_socket, membership_config, own_member};
use crate::process::damage::say_damage;
use crate::process::data_folder::make_folder;
use crate::process::functions;
use crate::process::memory::{Memory, part_of_machine};
use crate::process::role::leaves::{Leaves, LeavesConfig, OpenLeaves};
use crate::process::runtime::runtime;
use crate::process::shutdown::{asked_by_end_of_input, asked_by_signal, end_at_the_latest};
use crate::process::system;

/// How often the leaf announces its state and its memory.
const ANNOUNCE: Duration = Duration::from_millis(100);
/// How long other members have to learn that the leaf is about to stop, before it takes no more
/// batches.
const NOTICE: Duration = Duration::from_millis(300);
/// The time limit for calls that still run after a stop.
const STOP_TIME: Duration = Duration::from_secs(5);

/// The settings of a leaf process.
pub(crate) struct LeafProcess {
    pub(crate) cluster: ClusterConfig,
    /// The number of the leaf on its machine.
    pub(crate) index: usize,
    /// The leaves of the machine.
    pub(crate) of: usize,
    /// The data folder of the machine; `None` keeps rows in memory.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) storage: StorageArgs,
    /// Whether the end of standard input stops the process.
    pub(crate) ends_with_input: bool,
}

/// Ends this process when a member asks for a restart: its supervisor starts the leaf again.
struct Asked {
    leaf: LeafName,
    to_end: Notify,
}

impl LeafRestarter for Asked {
    fn restart(&self, restart: &LeafRestart) -> bool {
        let is_this = restart.leaf == self.leaf;
        if is_this {
            self.to_end.notify_one();
        }
        is_this
    }
}

impl LeafProcess {
    /// Runs the process until it is asked to stop, and stops it in order.
    pub(crate) fn run(self) -> Result<(), Error> {
        system::keep_files_private();
        system::raise_file_limit();
        let runtime = runtime()?;
        // The port first: a second process of this leaf fails before it opens any data.
        let bound = runtime.block_on(member_socket::bind(self.cluster.listen))?;
        let folder = self.folder.as_deref();
        if let Some(folder) = folder {
            make_folder(folder)?;
        }
        let life = LifeFile::open(folder, self.index, SystemClock.now())?;
        let leaves = runtime.block_on(self.open_leaves())?;
        let leaf = leaves.open.first().map(Arc::clone);
        let leaf = leaf.ok_or_else(|| Error::Server("the leaf cannot be opened".to_owned()))?;
        let stop_max = self.storage.stop_max();
        let leaf = Arc::new(ReviewedLeaf::new(leaf, life.away, Arc::new(SystemClock)));
        runtime.block_on(self.serve(&leaves, &leaf, (bound, &life)))?;
        let limit = end_at_the_latest(stop_max);
        leaves.stop_taking();
        runtime.shutdown_timeout(STOP_TIME);
        leaves.stop().iter().for_each(|failure| output::say(failure));
        drop(limit);
        // As in a server: the system frees all memory at once.
        std::mem::forget(leaves);
        Ok(())
    }

    async fn open_leaves(&self) -> Result<Leaves, Error> {
        if let Some(folder) = &self.folder {
            Belonging::of_process(&self.cluster).claim(folder)?;
        }
        let archive = self.storage.archive()?.map(|place| place.open()).transpose()?;
        let name = self.cluster.leaf_name(self.index);
        let (leaves, recovered) = Leaves::open(&LeavesConfig {
            folder: self.folder.clone(),
            durability: self.storage.durability(),
            memory: Memory::decide(&self.memory_of(), self.folder.is_some())?,
            preopened: Vec::new(),
            leaves: OpenLeaves::One { index: self.index, name, of: self.of },
            clock: Arc::new(SystemClock),
            clock_proving: self.storage.clock_proving(),
            archive: archive.map(|archive| archive as Arc<dyn Archive>),
        })
        .await?;
        say_damage(&recovered);
        Ok(leaves)
    }

    /// Its memory. If nobody gave it a limit, all processes of the machine have the same part of
    /// the machine's.
    fn memory_of(&self) -> MemoryArgs {
        let of_machine = &self.storage.memory_of;
        let share = || part_of_machine(of_machine, self.of);
        MemoryArgs {
            memory_max: Some(of_machine.memory_max.unwrap_or_else(share)),
            ..of_machine.clone()
        }
    }

    /// Serves other members until the process is asked to stop and running calls are finished.
    async fn serve(
        &self,
        leaves: &Leaves,
        reviewed: &Arc<ReviewedLeaf>,
        ((listener, bound), life): ((TcpListener, SocketAddr), &LifeFile),
    ) -> Result<(), Error> {
        let leaf = &reviewed.leaf;
        let identity = self.cluster.identity(leaf.name().clone(), Arc::new(SystemClock))?;
        // Its reports name the same start.
        let identity = Arc::new(identity.with_started(leaf.started()));
        let address = self.cluster.advertised(bound);
        let mut member = own_member(&self.cluster, &identity, MemberRole::Leaf, address);
        member.joined = u64::try_from(life.joined.0).unwrap_or(0);
        member.state = MemberState::Announced(reviewed.state(LeafState::Alive));
        let gossip = membership_config(&self.cluster, bound, &self.cluster.join);
        let joined = Membership::join(gossip, member).await;
        let membership = Arc::new(joined.map_err(|error| Error::Server(error.to_string()))?);
        let definitions =
            definitions::of_machine(self.cluster.machine.clone(), &membership, &identity);
        let admin = Arc::clone(leaf) as Arc<dyn Admin>;
        let following = Arc::clone(&definitions);
        tokio::spawn(async move { following.follow(Some(admin)).await });
        let review = Review::new(
            Arc::clone(reviewed),
            definitions as _,
            Arc::clone(&membership),
            Connections::new(Arc::clone(&identity)),
        );
        tokio::spawn(review.run());
        let (stop, stopped) = oneshot::channel::<()>();
        let asked = Arc::new(Asked { leaf: leaf.name().clone(), to_end: Notify::new() });
        let services = Services {
            peer: Arc::clone(reviewed) as _,
            planned: None,
            sink: Some(Arc::clone(reviewed) as _),
            admin: Some(Arc::clone(leaf) as _),
            reports: Some(Arc::clone(leaf) as _),
            definitions: None,
            restarter: Some(Arc::clone(&asked) as _),
            expected_rows: None,
            functions: functions::registry(self.storage.allows_functions()),
        };
        let serving = tokio::spawn(serve(listener, identity, services, async move {
            // The sender is dropped only after it has sent.
            let _ = stopped.await;
        }));
        let by_input = asked_by_end_of_input(self.ends_with_input);
        tokio::select! {
            reason = asked_by_signal()? => output::say(&format!("{} stops: {reason}", leaf.name())),
            () = by_input => {}
            () = asked.to_end.notified() => output::say(&format!(
                "{} ends, as asked: its supervisor starts it again", leaf.name()
            )),
            () = announce_for_ever(&membership, leaves, (reviewed, life)) => {}
        }
        leaf.prepare_to_stop();
        membership.announce(|member| member.state = MemberState::Announced(LeafState::Prepare));
        tokio::time::sleep(NOTICE).await;
        let _ = stop.send(());
        let served = serving.await.map_err(|error| Error::Server(error.to_string()))?;
        membership.leave().await;
        served.map_err(|error| Error::Server(error.to_string()))
    }
}

/// Keeps the announcement of the leaf's state and memory up to date.
async fn announce_for_ever(
    membership: &Membership,
    leaves: &Leaves,
    (leaf, life): (&Arc<ReviewedLeaf>, &LifeFile),
) {
    let mut ticks = tokio::time::interval(ANNOUNCE);
    loop {
        ticks.tick().await;
        // The next process will take a leaf that does not know its revoked batches for one that
        // was away.
        if leaf.is_reviewed()
            && let Err(error) = life.note_alive()
        {
            tracing::debug!("cannot note that the leaf is alive: {error}");
        }
        let status = leaf.status(&StatusScope::Leaves).await;
        let state = status.leaves.first().map(|leaf| leaf.state);
        let memory = leaves.memories.used();
        membership.announce(|member: &mut Member| {
            member.state = state.unwrap_or(MemberState::Announced(LeafState::Alive));
            member.used_bytes = memory.row_blocks.saturating_add(memory.fresh);
            member.free_bytes = memory.row_blocks_max.saturating_sub(memory.row_blocks);
        });
    }
}
