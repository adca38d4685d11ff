//! Definitions of another process.

use std::sync::Arc;

use hadal_definitions::{
    DefinitionStore, Definitions, DefinitionsError, FollowedDefinitions, Location, Revocation,
    Versioned,
};
use hadal_types::{AgeLimit, Document, DocumentKind, LeafName, Micros, TableName, TableSettings};
use parking_lot::Mutex;

use super::fakes::{TestServer, batch_id, connection, identity, leaf_name, table, unused_address};
use crate::{DefinitionsMember, RemoteDefinitions};

fn days(days: i64) -> TableSettings {
    TableSettings { age: Some(AgeLimit::Seconds(days * 86_400)), ..TableSettings::default() }
}

/// A process with definitions in memory, and those that another process sees.
async fn remote(name: &str) -> (TestServer, RemoteDefinitions) {
    let store = Definitions::open(&Location::Memory).await.expect("opens");
    let server = TestServer::with_definitions(identity(name), Some(Arc::new(store))).await;
    let connection = server.connection(identity("machine-2"));
    let member = DefinitionsMember { name: LeafName("machine-1".into()), connection };
    (server, RemoteDefinitions::new(move || Some(member.clone())))
}

#[tokio::test]
async fn every_request_reaches_the_store_and_comes_back() {
    let (_server, remote) = remote("machine-1").await;
    let t = table();
    assert_eq!(remote.table_settings(&t).await.expect("read"), None);
    let first = remote.set_table_settings(&t, 0, &days(1)).await.expect("set");
    assert_eq!(remote.version().await.expect("read"), first);
    let stored = Versioned { version: first, value: days(1) };
    assert_eq!(remote.table_settings(&t).await.expect("read"), Some(stored.clone()));
    for stale in [0, first + 1] {
        let refused = remote.set_table_settings(&t, stale, &days(2)).await.expect_err("stale");
        let DefinitionsError::Conflict { table, current, based_on } = refused else {
            panic!("{refused}");
        };
        assert_eq!((table, current, based_on), (t.clone(), first, stale));
    }
    let refused = remote.remove_table_settings(&t, Some(first + 1)).await.expect_err("stale");
    assert!(matches!(refused, DefinitionsError::Conflict { .. }), "{refused}");
    let other = TableName::new("another").expect("a name");
    remote
        .add_table_settings(&[(other.clone(), days(3)), (t.clone(), days(4))])
        .await
        .expect("set");
    let all = remote.all_table_settings().await.expect("read");
    let all: Vec<_> = all.into_iter().map(|(table, settings)| (table, settings.value)).collect();
    assert_eq!(all, [(other.clone(), days(3)), (t.clone(), days(1))]);
    assert!(remote.remove_table_settings(&t, Some(first)).await.expect("removed"));
    assert!(!remote.remove_table_settings(&t, None).await.expect("nothing there"));
    let instead = LeafName("machine-2/leaf-1".into());
    let revocation = Revocation {
        leaf: leaf_name(),
        table: other.clone(),
        batch: batch_id(),
        instead: instead.clone(),
        at: Micros(5),
        is_held: false,
    };
    let record = remote.record_revocation(&revocation).await.expect("recorded");
    assert_eq!(record, revocation);
    remote.note_held(&other, &batch_id(), &instead).await.expect("noted");
    let listed = remote.revocations_of(&leaf_name(), None).await.expect("read");
    assert_eq!(listed, [Revocation { is_held: true, ..revocation }]);
    let after = (other, batch_id());
    assert_eq!(remote.revocations_of(&leaf_name(), Some(&after)).await.expect("read"), []);
    remote.remove_revocations(&listed).await.expect("removed");
    assert_eq!(remote.revocations_of(&leaf_name(), None).await.expect("read"), []);
}

#[tokio::test]
async fn documents_of_another_process_are_listed_read_and_changed() {
    let (_server, remote) = remote("machine-1").await;
    let (kind, text) = (DocumentKind::View, r#"{"name": "v", "query": "table=t"}"#);
    let view = Document::from_json(kind, text).expect("a view");
    assert_eq!(remote.document(kind, "v").await.expect("read"), None);
    let version = remote.set_document(Some(0), &view).await.expect("set");
    let stored = Versioned { version, value: view.clone() };
    assert_eq!(remote.document(kind, "v").await.expect("read"), Some(stored));
    let summary = Versioned { version, value: view.summary().clone() };
    assert_eq!(remote.documents(kind).await.expect("read"), [summary]);
    let stale = remote.set_document(Some(0), &view).await.expect_err("stale");
    let is_conflict = |error: &DefinitionsError| matches!(error, DefinitionsError::DocumentConflict { current, .. } if *current == version);
    assert!(is_conflict(&stale), "{stale}");
    let stale = remote.remove_document(kind, "v", Some(version + 1)).await.expect_err("stale");
    assert!(is_conflict(&stale), "{stale}");
    assert!(remote.remove_document(kind, "v", Some(version)).await.expect("removed"));
    assert!(!remote.remove_document(kind, "v", None).await.expect("nothing there"));
}

#[tokio::test]
async fn a_member_that_is_away_is_named_with_the_remedy() {
    let address = unused_address().await;
    let name = LeafName("machine-1".into());
    let connection = connection(address, identity("machine-2"));
    let member = Mutex::new(Some(DefinitionsMember { name, connection }));
    let member = Arc::new(member);
    let shared = Arc::clone(&member);
    let remote = RemoteDefinitions::new(move || shared.lock().clone());
    let error = remote.set_table_settings(&table(), 0, &days(1)).await.expect_err("away");
    let expected = "the definitions are on machine-1, which cannot be reached (the connection was \
                    refused): start machine-1 again";
    assert_eq!(error.to_string(), expected);
    *member.lock() = None;
    let error = remote.version().await.expect_err("nobody");
    assert!(error.to_string().starts_with("no member of the cluster has the definitions: start"));
}

#[tokio::test]
async fn a_process_without_definitions_and_one_with_another_name_refuse() {
    let server = TestServer::with_definitions(identity("machine-1"), None).await;
    let name = LeafName("machine-1".into());
    let connection = server.connection(identity("machine-2"));
    let member = DefinitionsMember { name, connection };
    let remote = RemoteDefinitions::new(move || Some(member.clone()));
    let error = remote.version().await.expect_err("none").to_string();
    assert!(
        error.starts_with("machine-1, which was asked for the definitions, failed: "),
        "{error}"
    );
    assert!(error.contains("no definitions"), "{error}");
    let (_server, remote) = self::remote("machine-7").await;
    let error = remote.version().await.expect_err("another").to_string();
    assert!(error.contains("machine-7"), "{error}");
}

#[tokio::test]
async fn a_process_passes_on_what_it_follows() {
    let store = Arc::new(Definitions::open(&Location::Memory).await.expect("opens"));
    let followed = Arc::new(FollowedDefinitions::new(Arc::clone(&store) as _));
    let server =
        TestServer::with_definitions(identity("machine-1"), Some(Arc::clone(&followed) as _)).await;
    let connection = server.connection(identity("machine-1/leaf-0"));
    let member = DefinitionsMember { name: LeafName("machine-1".into()), connection };
    let leaf =
        FollowedDefinitions::new(Arc::new(RemoteDefinitions::new(move || Some(member.clone()))));
    followed.poll().await.expect("up");
    leaf.poll().await.expect("up");
    let version = store.set_table_settings(&table(), 0, &days(1)).await.expect("set");
    leaf.poll().await.expect("up");
    assert_eq!(leaf.table_settings(&table()).await.expect("a copy"), None, "not yet");
    followed.poll().await.expect("up");
    leaf.poll().await.expect("up");
    let copied = leaf.table_settings(&table()).await.expect("a copy");
    assert_eq!(copied, Some(Versioned { version, value: days(1) }));
}
