//! A copy of a store that is kept up to date, and the leaves behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hadal_definitions::{
    AllTableSettings, DefinitionStore, Definitions, DefinitionsError, FollowedDefinitions,
    Location, Revocation, StoreFuture, Versioned,
};
use hadal_peer::{Admin, BoxFuture, SinkError, TableChange};
use hadal_types::limits::DEFINITIONS_POLL_MILLIS;
use hadal_types::{BatchId, LeafName, TableName, TableSettings};
use tokio::sync::watch;

use super::{days, runtime, table};

/// Far more than anything takes, for machines under load.
const LONG: Duration = Duration::from_secs(30);

/// A store that can be down.
struct Store {
    inner: Definitions,
    is_down: AtomicBool,
    full_reads: AtomicUsize,
}

impl Store {
    async fn new() -> Arc<Self> {
        let inner = Definitions::open(&Location::Memory).await.expect("opens");
        Arc::new(Self { inner, is_down: AtomicBool::new(false), full_reads: AtomicUsize::new(0) })
    }

    fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }

    fn up<'a, T: 'a>(&self, request: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        match self.is_down.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(DefinitionsError::NoMember) }),
            false => request,
        }
    }
}

impl DefinitionStore for Store {
    fn version(&self) -> StoreFuture<'_, i64> {
        self.up(DefinitionStore::version(&self.inner))
    }

    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>> {
        self.up(DefinitionStore::table_settings(&self.inner, table))
    }

    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings> {
        self.full_reads.fetch_add(1, Ordering::SeqCst);
        self.up(DefinitionStore::all_table_settings(&self.inner))
    }

    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()> {
        self.up(DefinitionStore::add_table_settings(&self.inner, tables))
    }

    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64> {
        self.up(DefinitionStore::set_table_settings(&self.inner, table, based_on, settings))
    }

    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.up(DefinitionStore::remove_table_settings(&self.inner, table, based_on))
    }

    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation> {
        self.up(DefinitionStore::record_revocation(&self.inner, revocation))
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()> {
        self.up(DefinitionStore::note_held(&self.inner, table, batch, leaf))
    }

    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>> {
        self.up(DefinitionStore::revocations_of(&self.inner, leaf, after))
    }

    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()> {
        self.up(DefinitionStore::remove_revocations(&self.inner, revocations))
    }
}

/// A leaf that remembers its settings, and may be away.
struct Leaf {
    changes: watch::Sender<Vec<(TableName, TableSettings)>>,
    is_away: AtomicBool,
}

impl Leaf {
    fn new() -> Arc<Self> {
        Arc::new(Self { changes: watch::Sender::default(), is_away: AtomicBool::new(false) })
    }

    /// Waits until these were its changes, in this order.
    async fn wait(&self, expected: &[(TableName, TableSettings)]) {
        let mut changes = self.changes.subscribe();
        let awaited = changes.wait_for(|changes| changes.len() >= expected.len());
        let changes = tokio::time::timeout(LONG, awaited).await.expect("in time");
        assert_eq!(*changes.expect("it is there"), expected);
    }
}

impl Admin for Leaf {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return Err(SinkError::Unavailable("away".to_owned()));
            }
            let TableChange::Configure { table, settings } = change else {
                panic!("{change:?}");
            };
            self.changes.send_modify(|changes| changes.push((table, settings)));
            Ok(0)
        })
    }
}

#[test]
fn a_change_reaches_the_leaves_and_only_once() {
    runtime().block_on(async {
        let (store, leaf) = (Store::new().await, Leaf::new());
        let (a, b) = (table("a"), table("b"));
        store.inner.set_table_settings(&a, 0, &days(1)).await.expect("set");
        let followed = Arc::new(FollowedDefinitions::new(Arc::clone(&store) as _));
        let (following, admin) = (Arc::clone(&followed), Arc::clone(&leaf));
        let follow = tokio::spawn(async move { following.follow(Some(admin)).await });
        leaf.wait(&[(a.clone(), days(1))]).await;
        // Another process changes it, then this one; the other table is left alone.
        let began = std::time::Instant::now();
        store.inner.set_table_settings(&b, 0, &days(2)).await.expect("set");
        leaf.wait(&[(a.clone(), days(1)), (b.clone(), days(2))]).await;
        println!("another process's change came after {:?}", began.elapsed());
        let stored = followed.table_settings(&b).await.expect("read").expect("set");
        followed.set_table_settings(&b, stored.version, &days(3)).await.expect("set");
        leaf.wait(&[(a, days(1)), (b.clone(), days(2)), (b.clone(), days(3))]).await;
        assert!(followed.remove_table_settings(&b, None).await.expect("removed"));
        assert_eq!(followed.table_settings(&b).await.expect("read"), None);
        follow.abort();
    });
}

#[test]
fn a_leaf_that_was_away_gets_what_it_missed() {
    runtime().block_on(async {
        let (store, leaf) = (Store::new().await, Leaf::new());
        leaf.is_away.store(true, Ordering::SeqCst);
        let followed = FollowedDefinitions::new(Arc::clone(&store) as _);
        let admin = Arc::clone(&leaf);
        let follow = tokio::spawn(async move { followed.follow(Some(admin)).await });
        let a = table("a");
        let first = store.inner.set_table_settings(&a, 0, &days(1)).await.expect("set");
        store.inner.set_table_settings(&a, first, &days(2)).await.expect("set");
        let reads = || store.full_reads.load(Ordering::SeqCst);
        while reads() == 0 {
            tokio::task::yield_now().await;
        }
        leaf.is_away.store(false, Ordering::SeqCst);
        leaf.wait(&[(a, days(2))]).await;
        follow.abort();
    });
}

#[test]
fn reads_go_on_while_the_store_is_down() {
    runtime().block_on(async {
        let store = Store::new().await;
        let a = table("a");
        let first = store.inner.set_table_settings(&a, 0, &days(1)).await.expect("set");
        let followed = FollowedDefinitions::new(Arc::clone(&store) as _);
        store.set_down(true);
        followed.poll().await.expect_err("down");
        let outage = followed.outage().expect("down");
        assert!(outage.ends_with("; until then only leaves know the settings of tables"));
        followed.table_settings(&a).await.expect_err("never read");
        store.set_down(false);
        followed.poll().await.expect("up");
        assert_eq!(followed.outage(), None);
        store.set_down(true);
        followed.poll().await.expect_err("down");
        let expected = "no member of the cluster has the definitions: start the first member of \
                        --join again, or give every member --definitions \
                        postgres://USER@HOST/DATABASE; until then settings of tables cannot be \
                        changed";
        assert_eq!(followed.outage().expect("down"), expected);
        let copied = Versioned { version: first, value: days(1) };
        assert_eq!(followed.table_settings(&a).await.expect("a copy"), Some(copied.clone()));
        assert_eq!(followed.all_table_settings().await.expect("a copy"), [(a.clone(), copied)]);
        assert_eq!(followed.version().await.expect("a copy"), first);
        let refused = followed.set_table_settings(&a, first, &days(2)).await;
        assert!(matches!(refused, Err(DefinitionsError::NoMember)));
        let refused = followed.remove_table_settings(&a, None).await;
        assert!(matches!(refused, Err(DefinitionsError::NoMember)));
    });
}

#[test]
fn a_conflict_brings_the_copy_up_to_date() {
    runtime().block_on(async {
        let store = Store::new().await;
        let followed = FollowedDefinitions::new(Arc::clone(&store) as _);
        followed.poll().await.expect("up");
        let a = table("a");
        let version = store.inner.set_table_settings(&a, 0, &days(1)).await.expect("set");
        let stale = followed.set_table_settings(&a, 0, &days(2)).await.expect_err("stale");
        assert!(matches!(stale, DefinitionsError::Conflict { .. }), "{stale}");
        let copied = followed.table_settings(&a).await.expect("a copy");
        assert_eq!(copied, Some(Versioned { version, value: days(1) }));
        followed.set_table_settings(&a, version, &days(2)).await.expect("set");
        followed.add_table_settings(&[(table("b"), days(3))]).await.expect("added");
        let all = followed.all_table_settings().await.expect("a copy");
        assert_eq!(all.iter().map(|(table, _)| table.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    });
}

#[test]
fn a_store_that_has_not_changed_is_not_read_again() {
    runtime().block_on(async {
        let store = Store::new().await;
        let followed = FollowedDefinitions::new(Arc::clone(&store) as _);
        for _ in 0..5 {
            followed.poll().await.expect("up");
        }
        assert_eq!(store.full_reads.load(Ordering::SeqCst), 1);
        assert_eq!(DEFINITIONS_POLL_MILLIS, 500, "twice a second");
    });
}
