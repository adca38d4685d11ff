//! The settings of a process as a member of a cluster.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hadal_rpc::{ClusterToken, Identity, Tls};
use hadal_types::limits::MACHINE_NAME_BYTES_MAX;
use hadal_types::{Clock, LeafName, MachineName};

use crate::args::{ClusterArgs, MEMBER_PORT};
use crate::error::Error;
use crate::process::data_folder::{leaf_name, read_some};
use crate::process::file_permissions::refuse_written_by_others;

/// Where Linux has the name of the machine.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// How a process is a member of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct ClusterConfig {
    pub(crate) cluster: String,
    pub(crate) machine: MachineName,
    pub(crate) rack: String,
    /// Members to join, `HOST:PORT` each.
    pub(crate) join: Vec<String>,
    /// Where it takes calls of other members.
    pub(crate) listen: SocketAddr,
    /// The address by which other members reach the machine; that of `listen` if there is none.
    pub(crate) advertise: Option<IpAddr>,
    pub(crate) token_file: Option<PathBuf>,
    token: Option<ClusterToken>,
    pub(crate) certificates: Option<CertificateFiles>,
    tls: Option<Tls>,
}

/// The files (PEM) by which members call each other with mutual TLS.
#[derive(Clone, Debug)]
pub(crate) struct CertificateFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) authority: PathBuf,
}

impl CertificateFiles {
    fn of(args: &ClusterArgs) -> Option<Self> {
        Some(Self {
            certificate: args.cluster_certificate.clone()?,
            key: args.cluster_key.clone()?,
            authority: args.cluster_authority.clone()?,
        })
    }

    fn read(&self) -> Result<Tls, Error> {
        let read = |file: &Path| fs::read(file).map_err(Error::io("read", file.display()));
        refuse_written_by_others(&self.key)?;
        Ok(Tls::new(&read(&self.certificate)?, &read(&self.key)?, &read(&self.authority)?))
    }
}

impl ClusterConfig {
    /// Returns the settings that the arguments give a process, if it is of a cluster. Its member
    /// port is at the address of `listen`, and by default `port_offset` after the aggregator's.
    pub(crate) fn of(
        args: &ClusterArgs,
        listen: SocketAddr,
        port_offset: u16,
    ) -> Result<Option<Self>, Error> {
        let Some(cluster) = &args.cluster else { return Ok(None) };
        let machine = args.machine.clone().map_or_else(host_name, Ok)?;
        if !is_machine_name(&machine) {
            return Err(Error::Usage(format!(
                "--machine {machine:?}: 1 to {MACHINE_NAME_BYTES_MAX} letters, digits and _ . : - of ASCII"
            )));
        }
        let port = if listen.port() == 0 { 0 } else { MEMBER_PORT.saturating_add(port_offset) };
        let member_listen = args.member_listen.unwrap_or(SocketAddr::new(listen.ip(), port));
        let token = args.cluster_token_file.as_deref().map(read_token).transpose()?;
        let certificates = CertificateFiles::of(args);
        let tls = certificates.as_ref().map(CertificateFiles::read).transpose()?;
        let config = Self {
            cluster: cluster.clone(),
            machine: MachineName(machine.into()),
            rack: args.rack.clone().unwrap_or_default(),
            join: args.join.clone(),
            listen: member_listen,
            advertise: args.advertise,
            token_file: args.cluster_token_file.clone(),
            token,
            certificates,
            tls,
        };
        config.check()?;
        Ok(Some(config))
    }

    /// Refuses settings by which others could reach this process by accident, or not at all.
    fn check(&self) -> Result<(), Error> {
        let ip = self.listen.ip();
        let is_protected = self.token.is_some() || self.tls.is_some();
        if !ip.to_canonical().is_loopback() && !is_protected {
            return Err(Error::Usage(format!(
                "--member-listen {}: other machines can reach it, and there is no token: give \
                 --cluster-token-file FILE, the same on every machine, or --cluster-certificate \
                 FILE and its key and authority, or a loopback address",
                self.listen
            )));
        }
        if ip.is_unspecified() && self.advertise.is_none() {
            return Err(Error::Usage(format!(
                "--member-listen {}: other members cannot tell which address is meant: give --advertise IP",
                self.listen
            )));
        }
        Ok(())
    }

    /// The address by which other members reach the port `bound`.
    pub(crate) fn advertised(&self, bound: SocketAddr) -> SocketAddr {
        SocketAddr::new(self.advertise.unwrap_or(bound.ip()), bound.port())
    }

    /// The name of the machine's aggregator as a member.
    pub(crate) fn aggregator_name(&self) -> LeafName {
        LeafName(Arc::clone(&self.machine.0))
    }

    /// The name of one of the machine's leaves.
    pub(crate) fn leaf_name(&self, index: usize) -> LeafName {
        LeafName(format!("{}/{}", self.machine, leaf_name(index)).into())
    }

    /// What the process says of itself in calls.
    pub(crate) fn identity(
        &self,
        name: LeafName,
        clock: Arc<dyn Clock>,
    ) -> Result<Identity, Error> {
        let started = u64::try_from(clock.now().0).unwrap_or(0);
        let release = env!("CARGO_PKG_VERSION");
        let identity = Identity::new(&self.cluster, name, release, started, clock);
        let identity = identity.map_err(|error| Error::Usage(error.to_string()))?;
        Ok(identity.with_token(self.token.clone()).with_tls(self.tls.clone()))
    }
}

fn read_token(file: &Path) -> Result<ClusterToken, Error> {
    refuse_written_by_others(file)?;
    let text = fs::File::open(file).and_then(read_some);
    let text = text.map_err(Error::io("read", file.display()))?;
    ClusterToken::parse(&text).map_err(|error| Error::Usage(format!("{}: {error}", file.display())))
}

fn host_name() -> Result<String, Error> {
    let name = fs::read_to_string(HOST_NAME).map_err(Error::io("read", HOST_NAME))?;
    Ok(name.trim().to_owned())
}

/// Whether a text may name a machine: as tables are named, and short enough for its leaves' names.
fn is_machine_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    (1..=MACHINE_NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(
        listen: &str,
        change: impl FnOnce(&mut ClusterArgs),
    ) -> Result<ClusterConfig, String> {
        let mut args = ClusterArgs {
            join: vec!["a:4282".to_owned()],
            cluster: Some("prod".to_owned()),
            machine: Some("web-1".to_owned()),
            ..ClusterArgs::default()
        };
        change(&mut args);
        let config = ClusterConfig::of(&args, listen.parse().expect("an address"), 0);
        config.map_err(|error| error.to_string()).map(|config| config.expect("of a cluster"))
    }

    #[test]
    fn the_member_port_is_beside_the_door() {
        let config = config("127.0.0.2:4280", |_| ()).expect("fine");
        assert_eq!(config.listen.to_string(), "127.0.0.2:4282");
        assert_eq!(&*config.leaf_name(3).0, "web-1/leaf-3");
        assert_eq!(config.advertised(config.listen), config.listen);
        assert_eq!(self::config("127.0.0.1:0", |_| ()).expect("fine").listen.port(), 0);
    }

    #[test]
    fn a_member_that_others_can_reach_needs_a_token() {
        let error = config("10.0.0.1:4280", |_| ()).expect_err("no token");
        assert!(error.contains("--cluster-token-file"), "{error}");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), "0123456789abcdef0123456789abcdef\n").expect("written");
        let token = |args: &mut ClusterArgs| args.cluster_token_file = Some(file.path().into());
        config("10.0.0.1:4280", token).expect("fine");
        let error = config("0.0.0.0:4280", token).expect_err("which address");
        assert!(error.contains("--advertise"), "{error}");
    }

    #[test]
    fn names_of_machines_fit_the_names_of_their_leaves() {
        let named = |name: String| config("127.0.0.1:4280", |args| args.machine = Some(name));
        assert!(named("m".repeat(MACHINE_NAME_BYTES_MAX)).is_ok());
        for name in [String::new(), "m".repeat(MACHINE_NAME_BYTES_MAX + 1), "a/b".to_owned()] {
            assert!(named(name).expect_err("refused").contains("--machine"));
        }
    }
}
