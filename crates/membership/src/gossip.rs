//! The task between chitchat and the registry: announces this process, and reads what others
//! announce.

use std::sync::Arc;
use std::time::Duration;

use chitchat::transport::Transport;
use chitchat::{
    Chitchat, ChitchatConfig, ChitchatHandle, ChitchatId, FailureDetectorConfig, ProtocolVersion,
    spawn_chitchat,
};
use hadal_peer::Member;
use hadal_types::{Clock, LeafName};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::announcement::{self, CHANGING, LEFT, STATIC};
use crate::config::{MembershipConfig, MembershipError};
use crate::problem::Problem;
use crate::registry::{ProcessId, Registry, SILENT_AFTER, Sighting, Texts};

/// How long chitchat keeps a dead process, and texts that were taken back. Every process that was
/// restarted lately is a line in each message, so it is not long.
const DEAD_KEPT: Duration = Duration::from_secs(600);
/// The time that counts as listened between two looks at the cluster at most. A process that was
/// frozen itself must not take everybody else for silent.
const LISTENED_MAX: Duration = Duration::from_millis(500);
/// How often the texts are written again for the clock in them.
const CLOCK_EVERY: Duration = Duration::from_secs(10);
/// How often a silent member is called, so that two parts of a cluster find each other again.
const CALL_EVERY: Duration = Duration::from_secs(1);
/// Live members to which an ending process speaks at once.
const TOLD_MAX: usize = 10;
/// Rounds of gossip for which an ending process waits.
const LEAVE_ROUNDS: u32 = 3;

/// What the process and its gossip share.
pub(crate) struct Shared {
    /// This process.
    pub(crate) local: Mutex<Member>,
    /// All members by name.
    pub(crate) members: watch::Sender<Arc<[Member]>>,
    /// What is wrong.
    pub(crate) problems: Mutex<Vec<Problem>>,
}

/// What the process asks of its gossip.
pub(crate) enum Command {
    /// Forget a silent member.
    Forget(LeafName, oneshot::Sender<Result<bool, MembershipError>>),
    /// Announce the end and stop.
    Leave(oneshot::Sender<()>),
}

/// The gossip of this process.
pub(crate) struct Gossip {
    config: MembershipConfig,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    transport: Box<dyn Transport>,
    handle: ChitchatHandle,
    registry: Registry,
    listened: Duration,
    last_look: Instant,
    last_clock: Option<Instant>,
    last_call: Instant,
    /// Counts the calls of silent members.
    calls: usize,
}

impl Gossip {
    /// Begins to gossip.
    ///
    /// # Errors
    /// [`MembershipError::Start`] if the address cannot be opened.
    pub(crate) async fn start(
        config: MembershipConfig,
        shared: Arc<Shared>,
        clock: Arc<dyn Clock>,
        transport: Box<dyn Transport>,
    ) -> Result<Self, MembershipError> {
        let local = {
            let local = shared.local.lock();
            let (name, generation) = (local.name.clone(), local.started);
            ProcessId { name, generation, address: config.advertise }
        };
        let handle = spawn(&config, &local, &*transport).await?;
        let now = Instant::now();
        let mut gossip = Self {
            config,
            shared,
            clock,
            transport,
            handle,
            registry: Registry::new(local),
            listened: Duration::ZERO,
            last_look: now,
            last_clock: None,
            last_call: now,
            calls: 0,
        };
        gossip.look().await;
        Ok(gossip)
    }

    /// Gossips until it is asked to stop, or nobody can ask it any more.
    pub(crate) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let mut looks = interval(self.config.gossip_interval / 2);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut end = Box::pin(self.handle.termination_watcher());
        loop {
            tokio::select! {
                _ = looks.tick() => self.look().await,
                command = commands.recv() => match command {
                    Some(Command::Forget(name, reply)) => {
                        // The caller may have gone.
                        drop(reply.send(self.registry.forget(&name)));
                        self.look().await;
                    }
                    Some(Command::Leave(reply)) => {
                        self.leave().await;
                        reply.send(()).ok();
                        return;
                    }
                    None => return,
                },
                result = &mut end => {
                    tracing::error!(?result, "the gossip ended and starts again");
                    self.renew().await;
                    end = Box::pin(self.handle.termination_watcher());
                }
            }
        }
    }

    /// Announces what changed here, and takes in what changed elsewhere.
    async fn look(&mut self) {
        let now = Instant::now();
        self.listened += now.duration_since(self.last_look).min(LISTENED_MAX);
        self.last_look = now;
        let local = self.shared.local.lock().clone();
        let mut texts = self.registry.relayed();
        texts.insert(STATIC.to_owned(), announcement::encode_static(&local));
        if self.last_clock.is_none_or(|last| now.duration_since(last) >= CLOCK_EVERY) {
            self.last_clock = Some(now);
        }
        let clock = self.clock.now();
        let chitchat = self.handle.chitchat();
        {
            let mut chitchat = chitchat.lock().await;
            let is_due = self.last_clock == Some(now);
            announce(&mut chitchat, &local, texts, is_due, clock);
            let sightings = sightings(&chitchat, &self.registry);
            drop(chitchat);
            self.registry.observe(&local, sightings, self.listened, clock);
        }
        self.publish();
        self.call_silent(now);
    }

    /// Makes the members and problems visible to this process.
    fn publish(&self) {
        let members = self.registry.members();
        self.shared.members.send_if_modified(|current| {
            let is_changed = **current != *members;
            if is_changed {
                *current = members.into();
            }
            is_changed
        });
        let problems = self.registry.problems();
        let mut current = self.shared.problems.lock();
        for problem in problems.iter().filter(|problem| !current.contains(problem)) {
            tracing::warn!("{problem}");
        }
        *current = problems;
    }

    /// Calls the next silent member from time to time. chitchat forgets it after a while.
    fn call_silent(&mut self, now: Instant) {
        if now.duration_since(self.last_call) < CALL_EVERY {
            return;
        }
        self.last_call = now;
        let silent = self.registry.silent_addresses();
        if let Some(address) = silent.get(self.calls % silent.len().max(1)) {
            self.calls = self.calls.wrapping_add(1);
            // It fails only if the gossip has ended, which `run` notices.
            drop(self.handle.gossip(*address));
        }
    }

    /// Announces the end, directly to some members and by gossip to all.
    async fn leave(&mut self) {
        let chitchat = self.handle.chitchat();
        chitchat.lock().await.self_node_state().set(LEFT, "1");
        for address in self.registry.live_addresses().into_iter().take(TOLD_MAX) {
            drop(self.handle.gossip(address));
        }
        sleep(self.config.gossip_interval * LEAVE_ROUNDS).await;
        drop(self.handle.initiate_shutdown());
    }

    /// Starts again after chitchat has ended, as a later process. A message that makes chitchat
    /// panic must not make this process silent permanently.
    async fn renew(&mut self) {
        let clock = u64::try_from(self.clock.now().0).unwrap_or(0);
        self.registry.renew(clock.max(self.registry.local().generation + 1));
        self.last_clock = None;
        loop {
            sleep(self.config.gossip_interval).await;
            match spawn(&self.config, self.registry.local(), &*self.transport).await {
                Ok(handle) => {
                    self.handle = handle;
                    return;
                }
                Err(error) => tracing::error!(%error, "the gossip cannot start again"),
            }
        }
    }
}

/// Starts chitchat.
async fn spawn(
    config: &MembershipConfig,
    local: &ProcessId,
    transport: &dyn Transport,
) -> Result<ChitchatHandle, MembershipError> {
    let id = ChitchatId::new(local.name.0.clone(), local.generation, local.address);
    let chitchat_config = ChitchatConfig {
        chitchat_id: id,
        cluster_id: config.cluster.clone(),
        gossip_interval: config.gossip_interval,
        listen_addr: config.listen,
        seed_nodes: config.seeds.clone(),
        failure_detector_config: failure_detector(),
        marked_for_deletion_grace_period: DEAD_KEPT,
        catchup_callback: None,
        extra_liveness_predicate: None,
        protocol_version: ProtocolVersion::V1,
    };
    let started = spawn_chitchat(chitchat_config, Vec::new(), transport).await;
    started.map_err(|error| MembershipError::Start {
        listen: config.listen,
        reason: format!("{:#}", error),
    })
}

/// chitchat's own detector chooses the members that it gossips with, and nothing else. It takes a
/// member for dead when its heartbeat stands still for a multiple of the mean interval, and in a
/// small cluster that mean is a few milliseconds, so that the slightest load would make members
/// flap. With one sample beside a prior of weight 5, the limit is a fixed time instead: 5/6 of the
/// prior interval, and a sixth of the last one.
fn failure_detector() -> FailureDetectorConfig {
    FailureDetectorConfig {
        phi_threshold: 1.0,
        sampling_window_size: 1,
        max_interval: SILENT_AFTER * 2,
        initial_interval: SILENT_AFTER * 6 / 5,
        dead_node_grace_period: DEAD_KEPT,
    }
}

/// Sets this process's texts, and takes back those that are no longer among them. The text that
/// changes has the clock in it: it is set only with another change, or when the clock `is_due`.
fn announce(
    chitchat: &mut Chitchat,
    local: &Member,
    texts: Texts,
    is_due: bool,
    clock: hadal_types::Micros,
) {
    let state = chitchat.self_node_state();
    let changing = announcement::encode_changing(local, clock);
    let without_clock = |text: &str| text.rsplit_once('\t').map(|(text, _)| text.to_owned());
    let is_changed = state.get(CHANGING).and_then(without_clock) != without_clock(&changing);
    if is_changed || is_due {
        state.set(CHANGING, changing);
    }
    let keys: Vec<String> = state.key_values().map(|(key, _)| key.to_owned()).collect();
    for key in keys.iter().filter(|key| *key != CHANGING && !texts.contains_key(*key)) {
        state.delete(key);
    }
    for (key, text) in texts {
        state.set(key, text);
    }
}

/// The present state of all processes; texts only of those that changed.
fn sightings(chitchat: &Chitchat, registry: &Registry) -> Vec<Sighting> {
    let states = chitchat.node_states().iter();
    let sightings = states.map(|(id, state)| {
        let name = LeafName(Arc::clone(&id.node_id));
        let (generation, address) = (id.generation_id, id.gossip_advertise_addr);
        let id = ProcessId { name, generation, address };
        let version = state.max_version();
        let is_known = registry.version(&id) == Some(version);
        let texts = || state.key_values().map(|(key, text)| (key.to_owned(), text.to_owned()));
        let texts = (!is_known).then(|| texts().collect());
        Sighting { id, heartbeat: state.heartbeat().into(), version, texts }
    });
    sightings.collect()
}
