//! The traits of `peer` and the services of `spec/proto` have the same methods.

use std::collections::BTreeSet;

use crate::proto::SERVICES;

const TRAITS: [(&str, &str); 3] = [
    ("Peer", include_str!("../../../peer/src/peer.rs")),
    ("Sink", include_str!("../../../peer/src/sink.rs")),
    ("Admin", include_str!("../../../peer/src/admin.rs")),
];

/// Converts `accept_batch` to `AcceptBatch`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').filter_map(|word| word.split_at_checked(1));
    words.map(|(first, rest)| first.to_uppercase() + rest).collect()
}

/// The lines of an item's body, from its head to its closing brace.
fn body<'s>(source: &'s str, head: &str) -> impl Iterator<Item = &'s str> {
    let (_, rest) = source.split_once(head).expect("the item");
    rest.lines().skip(1).take_while(|line| *line != "}")
}

fn methods(name: &str, source: &str) -> BTreeSet<String> {
    let head = format!("pub trait {name}: ");
    let lines = body(source, &head);
    // Watching is within a process: messages carry whole answers.
    let methods = lines.filter_map(|line| line.trim_start().strip_prefix("fn "));
    methods
        .filter_map(|line| line.split(['(', '<']).next())
        .map(camel_case)
        .filter(|name| name != "QueryWatched")
        .collect()
}

#[test]
fn every_method_of_a_seam_is_an_rpc() {
    // `Cluster` and `Definitions` are no seams: their calls are between processes only.
    assert_eq!(SERVICES.len(), TRAITS.len() + 2);
    for (name, source) in TRAITS {
        let (_, rpcs) = SERVICES.iter().find(|(service, _)| *service == name).expect("a service");
        let rpcs: BTreeSet<String> = rpcs.iter().map(|rpc| (*rpc).to_owned()).collect();
        assert_eq!(methods(name, source), rpcs, "{name}");
    }
}
