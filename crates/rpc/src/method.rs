//! The methods of the services in `spec/proto`.

use hadal_types::limits::{MESSAGE_BYTES_MAX, QUERY_BYTES_MAX};
use tonic::codegen::http::uri::PathAndQuery;

/// One method of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// `Peer/Query`.
    Query,
    /// `Peer/Status`.
    Status,
    /// `Peer/Blocks`.
    Blocks,
    /// `Peer/Reports`.
    Reports,
    /// `Sink/Accept`.
    Accept,
    /// `Sink/LookUp`.
    LookUp,
    /// `Sink/Refuse`.
    Refuse,
    /// `Sink/AcceptMoved`.
    AcceptMoved,
    /// `Admin/Apply`.
    Apply,
    /// `Cluster/SayHello`.
    SayHello,
    /// `Cluster/Restart`.
    Restart,
    /// `Cluster/ExpectedRows`.
    ExpectedRows,
    /// `Definitions/Ask`.
    AskDefinitions,
}

impl Method {
    /// All methods.
    pub(crate) const ALL: [Self; 13] = [
        Self::Query,
        Self::Status,
        Self::Blocks,
        Self::Reports,
        Self::Accept,
        Self::LookUp,
        Self::Refuse,
        Self::AcceptMoved,
        Self::Apply,
        Self::SayHello,
        Self::Restart,
        Self::ExpectedRows,
        Self::AskDefinitions,
    ];

    /// The path of its requests.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Query => "/hadal.v1.Peer/Query",
            Self::Status => "/hadal.v1.Peer/Status",
            Self::Blocks => "/hadal.v1.Peer/Blocks",
            Self::Reports => "/hadal.v1.Peer/Reports",
            Self::Accept => "/hadal.v1.Sink/Accept",
            Self::LookUp => "/hadal.v1.Sink/LookUp",
            Self::Refuse => "/hadal.v1.Sink/Refuse",
            Self::AcceptMoved => "/hadal.v1.Sink/AcceptMoved",
            Self::Apply => "/hadal.v1.Admin/Apply",
            Self::SayHello => "/hadal.v1.Cluster/SayHello",
            Self::Restart => "/hadal.v1.Cluster/Restart",
            Self::ExpectedRows => "/hadal.v1.Cluster/ExpectedRows",
            Self::AskDefinitions => "/hadal.v1.Definitions/Ask",
        }
    }

    /// The method with this path.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.path() == path)
    }

    /// The path as a client sends it.
    pub(crate) fn path_and_query(self) -> PathAndQuery {
        PathAndQuery::from_static(self.path())
    }

    /// Whether it is about a batch.
    pub(crate) const fn is_of_sink(self) -> bool {
        matches!(self, Self::Accept | Self::AcceptMoved | Self::LookUp | Self::Refuse)
    }

    /// Maximum bytes of a request. Only a batch is large, so no other request can hold much
    /// memory.
    pub(crate) const fn request_bytes_max(self) -> usize {
        match self {
            Self::Accept | Self::AcceptMoved => MESSAGE_BYTES_MAX,
            _ => QUERY_BYTES_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PROTO: [&str; 2] = [
        include_str!("../../../spec/proto/peer.proto"),
        include_str!("../../../spec/proto/cluster.proto"),
    ];

    /// The path of every method that the files define.
    fn specified() -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let mut service = "";
        for line in PROTO.iter().flat_map(|file| file.lines()) {
            let words: Vec<&str> = line.split([' ', '(']).filter(|word| !word.is_empty()).collect();
            match words[..] {
                ["service", name, ..] => service = name,
                ["rpc", name, ..] => drop(paths.insert(format!("/hadal.v1.{service}/{name}"))),
                _ => {}
            }
        }
        paths
    }

    #[test]
    fn the_methods_are_those_of_the_specification() {
        let paths: BTreeSet<String> =
            Method::ALL.iter().map(|method| method.path().to_owned()).collect();
        assert_eq!(paths, specified());
    }

    #[test]
    fn a_path_leads_to_its_method_and_no_other() {
        for method in Method::ALL {
            assert_eq!(Method::of_path(method.path()), Some(method));
            assert_eq!(method.path_and_query(), method.path());
        }
        for path in ["", "/", "/hadal.v1.Peer/", "/hadal.v1.Peer/query", "/hadal.v2.Peer/Query"] {
            assert_eq!(Method::of_path(path), None);
        }
    }
}
