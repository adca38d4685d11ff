//! The roles of a process. A role opens the parts that it needs; each part names its inputs and
//! outputs.
//!
//! | part | takes | gives |
//! |---|---|---|
//! | [`address`] | an address, perhaps a data folder | a socket, and the previous server, if there is one |
//! | [`leaves`] | a data folder, memory, an archive | leaves, and what was recovered |
//! | [`tree`] | leaves | the root for queries, and the placement for batches |
//! | [`pg_door`] | options, the settings of the HTTP door | the door for PostgreSQL clients |
//! | [`doors`] | options, the bound address | settings of the HTTP door and the front behind it |
//!
//! | role | what it is |
//! |---|---|
//! | [`all`] | one process that does everything |
//! | [`aggregator`] | a server of a cluster, over the leaves of other processes |
//! | [`leaf`] | one leaf of a machine of a cluster |

pub(crate) mod address;
pub(crate) mod aggregator;
pub(crate) mod all;
pub(crate) mod doors;
pub(crate) mod leaf;
pub(crate) mod leaves;
pub(crate) mod pg_door;
pub(crate) mod tree;

use hadal_frontend::{Backend, FrontendConfig};
use hadal_http::Config;
use tokio::net::TcpListener;

use crate::process::cluster::node::Node;
use crate::process::handover::{Door, Stopped};
use crate::process::recovered::Recovered;
use leaves::Leaves;
use pg_door::PgDoor;
use tree::Tree;

/// The open parts of a server.
pub(crate) struct Parts {
    pub(crate) listener: TcpListener,
    pub(crate) http: Config,
    /// The door for PostgreSQL clients; `None` if they are not served.
    pub(crate) pg: Option<PgDoor>,
    pub(crate) frontend: FrontendConfig,
    pub(crate) backend: Backend,
    pub(crate) leaves: Leaves,
    pub(crate) recovered: Recovered,
    pub(crate) tree: Tree,
    /// The location of the rows. It may contain a path, which no answer to a client has.
    pub(crate) data: String,
    /// The handover socket for a successor; `None` without a folder.
    pub(crate) door: Option<Door>,
    /// The stopped server that this one follows.
    pub(crate) predecessor: Option<Stopped>,
    /// What makes the server a member of a cluster; `None` for a server on its own.
    pub(crate) node: Option<Node>,
}
