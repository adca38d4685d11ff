//! Mutual TLS between the processes of a cluster.
//!
//! Processes are addressed by numbers that change, so a certificate is not bound to an address:
//! every member's certificate is valid for the DNS name [`Tls::SERVER_NAME`] and signed by the
//! cluster's own certificate authority. Both sides verify the other one's certificate.

use std::fmt;

use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

use crate::transport::CONNECT_TIME;

/// The certificates of one process, with its private key, which is never shown.
#[derive(Clone)]
pub struct Tls {
    identity: Identity,
    authority: Certificate,
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls(..)")
    }
}

impl Tls {
    /// The DNS name that the certificate of every member has.
    pub const SERVER_NAME: &'static str = "hadal";

    /// Takes the contents of three PEM files: the process's certificate and its private key, and
    /// the certificate of the authority that signed those of all members.
    #[must_use]
    pub fn new(certificate: &[u8], key: &[u8], authority: &[u8]) -> Self {
        Self {
            identity: Identity::from_pem(certificate, key),
            authority: Certificate::from_pem(authority),
        }
    }

    pub(crate) fn of_client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new()
            .domain_name(Self::SERVER_NAME)
            .ca_certificate(self.authority.clone())
            .identity(self.identity.clone())
            .timeout(CONNECT_TIME)
    }

    pub(crate) fn of_server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new()
            .identity(self.identity.clone())
            .client_ca_root(self.authority.clone())
            .timeout(CONNECT_TIME)
    }
}
