//! The role of a server of a cluster: it asks leaves in other processes, serves clients, and starts
//! the leaf processes of its machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::FollowedDefinitions;
use hadal_frontend::{Backend, restore_settings};
use hadal_membership::Membership;
use hadal_peer::{MemberRole, MemberState};
use hadal_rpc::{Identity, Services, serve};
use hadal_tree::{ClusterTree, ExpectedRows, Placement, Root};
use hadal_types::LeafState;
use hadal_types::limits::TREE_FANOUT;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::output;
use crate::process::cluster::belonging::Belonging;
use crate::process::cluster::config::ClusterConfig;
use crate::process::cluster::directory::Directory;
use crate::process::cluster::exchange::ExpectedRowsExchange;
use crate::process::cluster::expected_rows_file::ExpectedRowsFile;
use crate::process::cluster::leaf_command::start_leaves;
use crate::process::cluster::members::KnownMembers;
use crate::process::cluster::node::Node;
use crate::process::cluster::revocations::RecordedRevocations;
use crate::process::cluster::supervisor::Supervisor;
use crate::process::cluster::{definitions, join, member_socket, membership_config, own_member};
use crate::process::data_folder::{leaves_in, note_leaves};
use crate::process::functions;
use crate::process::memory::{Shares, part_of_machine};
use crate::process::recovered::Recovered;
use crate::process::role::Parts;
use crate::process::role::address::Address;
use crate::process::role::doors::{frontend_config, http_config};
use crate::process::role::leaves::Leaves;
use crate::process::role::pg_door::PgDoor;
use crate::process::role::tree::Tree;
use crate::process::service_config::ServiceConfig;

/// How long a start waits for the leaves of its own machine before it serves clients.
const OWN_LEAVES_TIME: Duration = Duration::from_secs(10);

/// Opens all parts of a server of a cluster.
pub(crate) fn open(
    config: ServiceConfig,
    cluster: &ClusterConfig,
    connections_max: usize,
    runtime: &Runtime,
) -> Result<Parts, Error> {
    let Address { listener, bound, .. } = Address::take(runtime, config.doors.listen, None, false)?;
    let socket = runtime.block_on(member_socket::bind(cluster.listen))?;
    let mut http = http_config(&config, bound, connections_max)?;
    let pg = PgDoor::open(&config.doors, &mut http, runtime, Duration::ZERO)?;
    let leaf_count = leaf_count(&config)?;
    let memory = part_of_machine(&config.storage.memory_of, leaf_count);
    let leaves = Leaves::none(Shares::of(memory));
    let archive = config.storage.archive()?;
    let frontend = frontend_config(&config, archive.as_ref(), memory)?;
    let url = format!("http://{}", reachable(bound, cluster));
    let member = (leaf_count, socket, url);
    let (tree, node, definitions) =
        runtime.block_on(become_member(cluster, &config, member, &leaves, memory))?;
    let memories = leaves.memories.clone();
    let backend = Backend {
        memory: Arc::new(move || memories.used()),
        root: tree.root.clone(),
        sink: Arc::clone(&tree.placement) as _,
        admin: Arc::clone(&tree.placement) as _,
        definitions: Arc::clone(&definitions) as _,
        ledger: Arc::clone(&tree.expected_rows),
        members: Some(Arc::clone(&node.members) as _),
        clock: Arc::clone(&config.clock),
        damage: Arc::default(),
    };
    if runtime.block_on(own_leaves(&node.membership, cluster, leaf_count))
        && let Some(folder) = &config.folder
    {
        note_leaves(folder, leaf_count)?;
    }
    if let Err(error) = runtime.block_on(restore_settings(&backend)) {
        output::say(&format!("{error}; it is tried again when a leaf comes"));
    }
    let data = config.folder.as_ref().map(|folder| folder.display().to_string());
    Ok(Parts {
        listener,
        data: data.unwrap_or_else(|| http.about.data.clone()),
        http,
        pg,
        frontend,
        backend,
        leaves,
        recovered: Recovered::default(),
        tree,
        door: None,
        predecessor: None,
        node: Some(node),
    })
}

/// The address by which clients of other machines reach this process's door.
fn reachable(door: SocketAddr, cluster: &ClusterConfig) -> SocketAddr {
    match door.ip().is_unspecified() {
        true => cluster.advertised(door),
        false => door,
    }
}

/// The number of leaf processes to start: all that the data folder has, and at least the given
/// number. None if that is 0: then others start the leaves.
fn leaf_count(config: &ServiceConfig) -> Result<usize, Error> {
    if config.leaves == 0 {
        return Ok(0);
    }
    let noted = config.folder.as_deref().map(leaves_in).transpose()?;
    Ok(config.leaves.max(noted.unwrap_or_default().count))
}

/// Greets the members to join, announces this process, and starts to serve and to follow them.
async fn become_member(
    cluster: &ClusterConfig,
    config: &ServiceConfig,
    (leaf_count, (listener, bound), url): (usize, (TcpListener, SocketAddr), String),
    leaves: &Leaves,
    memory: u64,
) -> Result<(Tree, Node, Arc<FollowedDefinitions>), Error> {
    let clock = Arc::clone(&config.clock);
    let identity = Arc::new(cluster.identity(cluster.aggregator_name(), clock)?);
    let address = cluster.advertised(bound);
    join::greet(&cluster.join, address, &identity).await?;
    if let Some(folder) = &config.folder {
        Belonging::of_process(cluster).claim(folder)?;
    }
    let (expected_rows, expected_rows_file) = expected_rows_of(config)?;
    output::say(&format!("{} takes calls of other members on {address}", cluster.machine));
    let store = definitions::open_local(config, &cluster.join, address).await?;
    let mut member = own_member(cluster, &identity, MemberRole::Aggregator, address);
    member.url = url;
    member.has_definitions = store.is_some();
    let gossip = membership_config(cluster, bound, &cluster.join);
    let joined = Membership::join(gossip, member).await;
    let membership = Arc::new(joined.map_err(|error| Error::Server(error.to_string()))?);
    let definitions = definitions::followed(store, &membership, &identity);
    follow(&definitions);
    let exchange = ExpectedRowsExchange::new(&identity, &membership, &expected_rows);
    tokio::spawn(exchange.run());
    let cluster_tree =
        Arc::new(ClusterTree::new(cluster.machine.clone(), TREE_FANOUT, &expected_rows));
    let records =
        RecordedRevocations::new(Arc::clone(&definitions) as _, Arc::clone(&config.clock));
    let tree = tree_over(&cluster_tree, &expected_rows, leaves, records);
    let supervisor = match leaf_count {
        0 => None,
        count => Some(start_leaves(cluster, config, (count, bound), memory)?),
    };
    let services = Services {
        peer: Arc::clone(&cluster_tree) as _,
        planned: Some(Arc::clone(&cluster_tree) as _),
        sink: None,
        admin: None,
        reports: None,
        definitions: Some(Arc::clone(&definitions) as _),
        restarter: supervisor.as_ref().map(Supervisor::restarter),
        expected_rows: Some(Arc::clone(&expected_rows) as _),
        functions: functions::registry(config.storage.allows_functions()),
    };
    let (stop_calls, calls) = serve_members(listener, &identity, services);
    let members = KnownMembers::new(
        Arc::clone(&identity),
        Arc::clone(&membership),
        Arc::clone(&config.clock),
    );
    let directory = Directory {
        identity,
        tree: cluster_tree,
        placement: Arc::clone(&tree.placement),
        catalog: Arc::clone(tree.root.catalog()),
        expected_rows,
        memory: Arc::clone(tree.root.budget()),
    };
    tokio::spawn(directory.follow(Arc::clone(&membership)));
    tokio::spawn(Arc::clone(&members).follow());
    let node =
        Node { address, members, membership, supervisor, stop_calls, calls, expected_rows_file };
    Ok((tree, node, definitions))
}

/// Keeps a copy of the definitions up to date. Each leaf process follows them itself, and so
/// configures its leaf.
fn follow(definitions: &Arc<FollowedDefinitions>) {
    let following = Arc::clone(definitions);
    tokio::spawn(async move { following.follow(None).await });
}

/// The expected rows that this process knew before its start, and the file that keeps them.
fn expected_rows_of(
    config: &ServiceConfig,
) -> Result<(Arc<ExpectedRows>, Option<Arc<ExpectedRowsFile>>), Error> {
    let expected_rows = Arc::new(ExpectedRows::new(Arc::clone(&config.clock)));
    let Some(folder) = &config.folder else { return Ok((expected_rows, None)) };
    let file = Arc::new(ExpectedRowsFile::open(folder, &expected_rows)?);
    tokio::spawn(Arc::clone(&file).keep());
    Ok((expected_rows, Some(file)))
}

/// The root and the placement over the leaves that `tree` knows.
fn tree_over(
    tree: &Arc<ClusterTree>,
    expected_rows: &Arc<ExpectedRows>,
    leaves: &Leaves,
    records: RecordedRevocations,
) -> Tree {
    let root = Root::new(Arc::clone(tree) as _, Arc::clone(&leaves.memories.queries));
    let clock = Arc::clone(&records.clock);
    let placement = Placement::in_cluster(Arc::new(records), clock, expected_rows, root.catalog());
    Tree { root, placement: Arc::new(placement), expected_rows: Arc::clone(expected_rows) }
}

/// Serves calls of other members; returns what ends that, and the task.
fn serve_members(
    listener: TcpListener,
    identity: &Arc<Identity>,
    services: Services,
) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = serve(listener, Arc::clone(identity), services, async move {
        // Dropped without a message when the process fails.
        let _ = stopped.await;
    });
    let calls = tokio::spawn(async move {
        if let Err(error) = serving.await {
            output::say(&format!("other members cannot call this process any more: {error}"));
        }
    });
    (stop, calls)
}

/// Waits until the leaves of this machine are alive, or for [`OWN_LEAVES_TIME`]; returns whether
/// they are.
async fn own_leaves(membership: &Membership, cluster: &ClusterConfig, count: usize) -> bool {
    let mut changes = membership.changes();
    let all_alive = async {
        loop {
            let members = membership.members();
            let alive = members.iter().filter(|member| {
                member.role == MemberRole::Leaf
                    && member.machine == cluster.machine
                    && member.state != MemberState::Silent
                    && member.state != MemberState::Announced(LeafState::Prepare)
            });
            if alive.count() >= count || changes.changed().await.is_err() {
                return;
            }
        }
    };
    let are_alive = tokio::time::timeout(OWN_LEAVES_TIME, all_alive).await.is_ok();
    if !are_alive {
        output::say("not all leaves of this machine are alive yet: answers lack their rows");
    }
    are_alive
}
