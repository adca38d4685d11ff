//! The arguments by which processes of a cluster find and trust each other.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

use crate::args::listen_address;

/// The port on which an aggregator takes calls of other members. Its machine's leaves have the
/// ports after it.
pub(crate) const MEMBER_PORT: u16 = 4282;

/// How a process finds its cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    /// Members to join, with commas between them. The first machine of a cluster names itself. The
    /// first one named keeps settings of tables, unless --definitions names a database
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', requires = "cluster")]
    pub(crate) join: Vec<String>,
    /// The name of the cluster
    #[arg(long, env = "HADAL_CLUSTER", value_name = "NAME", requires = "join")]
    pub(crate) cluster: Option<String>,
    /// This machine's name, which no other has [default: its host name]
    #[arg(long, env = "HADAL_MACHINE", value_name = "NAME", requires = "cluster")]
    pub(crate) machine: Option<String>,
    /// The rack of this machine, for people
    #[arg(long, env = "HADAL_RACK", value_name = "NAME", requires = "cluster")]
    pub(crate) rack: Option<String>,
    /// Where to take calls of other members, TCP and UDP; leaves take the ports after it [default:
    /// the address of --listen with port 4282]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address, requires = "cluster")]
    pub(crate) member_listen: Option<SocketAddr>,
    /// The address by which other members reach this machine [default: that of --member-listen]
    #[arg(long, env = "HADAL_ADVERTISE", value_name = "IP", requires = "cluster")]
    pub(crate) advertise: Option<IpAddr>,
    /// File with the token that all members of the cluster share
    #[arg(long, env = "HADAL_CLUSTER_TOKEN_FILE", value_name = "FILE", requires = "cluster")]
    pub(crate) cluster_token_file: Option<PathBuf>,
    /// File (PEM) with this machine's certificate: then members call each other by mutual TLS.
    /// Every certificate is for the DNS name hadal
    #[arg(
        long, env = "HADAL_CLUSTER_CERTIFICATE", value_name = "FILE",
        requires_all = ["cluster", "cluster_key", "cluster_authority"],
    )]
    pub(crate) cluster_certificate: Option<PathBuf>,
    /// File (PEM) with the private key of that certificate
    #[arg(long, env = "HADAL_CLUSTER_KEY", value_name = "FILE", requires = "cluster_certificate")]
    pub(crate) cluster_key: Option<PathBuf>,
    /// File (PEM) with the certificate of the authority that signed those of all members
    #[arg(
        long,
        env = "HADAL_CLUSTER_AUTHORITY",
        value_name = "FILE",
        requires = "cluster_certificate"
    )]
    pub(crate) cluster_authority: Option<PathBuf>,
}
