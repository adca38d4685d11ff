//! The store of definitions, as SQLite and as PostgreSQL: the same tests on both.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod file;
mod followed;
mod postgres;
mod versions;

use hadal_definitions::{Definitions, DefinitionsError, Location, Revocation, Versioned};
use hadal_types::limits::REVOCATIONS_LISTED_MAX;
use hadal_types::{
    AgeLimit, BatchId, ColumnName, ColumnUnit, LeafName, Micros, SampleFactor, TableName,
    TableSettings, TableStorage,
};
use tokio::runtime::Runtime;

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

fn table(name: &str) -> TableName {
    TableName::new(name).expect("a name")
}

fn days(days: i64) -> TableSettings {
    TableSettings { age: Some(AgeLimit::Seconds(days * 86_400)), ..TableSettings::default() }
}

/// All tests of a store that is empty before.
async fn exercise(location: &Location) {
    let store = Definitions::open(location).await.expect("opens");
    sets_and_removes(&store).await;
    versions_show_changes(&store).await;
    revokes_batches(&store).await;
    one_of_many_wins(location).await;
    store.remove_table_settings(&table("race"), None).await.expect("removed");
    // Stored settings are there for the next process that opens the store.
    let all = all_settings();
    let version = store.set_table_settings(&table("kept"), 0, &all).await.expect("set");
    if *location != Location::Memory {
        let again = Definitions::open(location).await.expect("opens again");
        let kept = again.all_table_settings().await.expect("read");
        assert_eq!(kept, [(table("kept"), Versioned { version, value: all })]);
    }
}

fn all_settings() -> TableSettings {
    TableSettings {
        age: Some(AgeLimit::Unlimited),
        archive: Some(true),
        bytes: Some(2_000_000_000),
        cold_after: Some(AgeLimit::Seconds(3_600)),
        sample_after: Some(AgeLimit::Seconds(7_200)),
        sample_by: Some(vec![ColumnName::new("a,b").expect("a name")]),
        sample_keep: SampleFactor::new(20),
        sample_key: Some(ColumnName::new("user id").expect("a name")),
        sample_least: Some(3),
        storage: Some(TableStorage::Mmap),
        time_column: Some(ColumnName::new("zeit ä'\"").expect("a name")),
        units: Some([(ColumnName::new("zeit ä'\"").expect("a name"), ColumnUnit::Share)].into()),
    }
}

async fn sets_and_removes(store: &Definitions) {
    let t = table("t");
    assert_eq!(store.table_settings(&t).await.expect("read"), None);
    assert_eq!(store.all_table_settings().await.expect("read"), []);
    let first = store.set_table_settings(&t, 0, &days(7)).await.expect("set");
    assert!(first > 0);
    let settings = store.table_settings(&t).await.expect("read");
    assert_eq!(settings, Some(Versioned { version: first, value: days(7) }));
    let second = store.set_table_settings(&t, first, &days(8)).await.expect("set");
    assert!(second > first);
    for stale in [0, first, second + 1] {
        let refused = store.set_table_settings(&t, stale, &days(9)).await;
        let error = refused.expect_err("stale").to_string();
        let expected = format!("version is {second}, and the change is based on version {stale}");
        assert!(error.contains("of table t were changed meanwhile") && error.contains(&expected));
    }
    let settings = store.table_settings(&t).await.expect("read");
    assert_eq!(settings, Some(Versioned { version: second, value: days(8) }));
    let stale = store.remove_table_settings(&t, Some(first)).await;
    assert!(matches!(stale, Err(DefinitionsError::Conflict { .. })), "{stale:?}");
    assert!(store.remove_table_settings(&t, Some(second)).await.expect("removed"));
    assert!(!store.remove_table_settings(&t, None).await.expect("nothing to remove"));
    let several = [(table("a"), days(1)), (table("t"), days(2))];
    let third = store.set_table_settings(&t, 0, &days(3)).await.expect("set");
    store.add_table_settings(&several).await.expect("added");
    let all = store.all_table_settings().await.expect("read");
    let values: Vec<_> =
        all.iter().map(|(table, settings)| (table.as_str(), &settings.value)).collect();
    assert_eq!(values, [("a", &days(1)), ("t", &days(3))], "what is there stays");
    assert!(third > second && all[0].1.version > third);
    for (table, _) in &several {
        assert!(store.remove_table_settings(table, None).await.expect("removed"));
    }
    // A version is not used again: a change based on the old one is refused.
    let third = store.set_table_settings(&t, 0, &days(1)).await.expect("set");
    assert!(third > second);
    assert!(store.remove_table_settings(&t, None).await.expect("removed"));
}

/// Every change of settings, and nothing else, gives the store another version.
async fn versions_show_changes(store: &Definitions) {
    let t = table("versions");
    let version = async || store.version().await.expect("read");
    let begin = version().await;
    let set = store.set_table_settings(&t, 0, &days(1)).await.expect("set");
    assert!(set > begin);
    assert_eq!(version().await, set);
    store.set_table_settings(&t, 0, &days(2)).await.expect_err("stale");
    assert!(!store.remove_table_settings(&table("no-such"), None).await.expect("nothing there"));
    assert_eq!(version().await, set, "nothing changed");
    assert!(store.remove_table_settings(&t, Some(set)).await.expect("removed"));
    assert!(version().await > set);
}

async fn revokes_batches(store: &Definitions) {
    let leaf = |name: &str| LeafName(name.into());
    let (one, other, third) = (leaf("m1/leaf-0"), leaf("m1/leaf-1"), leaf("m2/leaf-0"));
    let revocation = |leaf: &LeafName, batch: &str, instead: &LeafName| Revocation {
        leaf: leaf.clone(),
        table: table("t"),
        batch: BatchId::new(batch).expect("an id"),
        instead: instead.clone(),
        at: Micros(7),
        is_held: false,
    };
    let first = revocation(&one, "b1", &other);
    let second = revocation(&one, "b2", &third);
    let others = Revocation { at: Micros(8), ..revocation(&other, "b1", &third) };
    let again = Revocation { instead: third.clone(), at: Micros(99), ..first.clone() };
    for (revocation, expected) in [(&first, &first), (&second, &second), (&again, &first)] {
        let record = store.record_revocation(revocation).await.expect("recorded");
        assert_eq!(record, *expected, "the first record counts");
    }
    let record = store.record_revocation(&others).await.expect("recorded");
    assert_eq!(record, others);
    let record = store.record_revocation(&first).await.expect("it was there");
    let went_on = Revocation { instead: third.clone(), at: others.at, ..first.clone() };
    assert_eq!(record, went_on, "where the batch went in the end");
    let listed = async |leaf: &LeafName| store.revocations_of(leaf, None).await.expect("read");
    assert_eq!(listed(&one).await, [first.clone(), others.clone(), second.clone()]);
    assert_eq!(listed(&other).await, [first.clone(), others.clone()]);
    let after = (first.table.clone(), first.batch.clone());
    let rest = store.revocations_of(&one, Some(&after)).await.expect("read");
    assert_eq!(rest, std::slice::from_ref(&second));
    store.note_held(&first.table, &first.batch, &third).await.expect("noted");
    let held = Revocation { is_held: true, ..others.clone() };
    assert_eq!(listed(&other).await, [first.clone(), held.clone()]);
    let unknown = revocation(&one, "b9", &third);
    store.remove_revocations(&[second, unknown]).await.expect("removed");
    assert_eq!(listed(&one).await, [first.clone(), held.clone()]);
    store.remove_revocations(&[first, others]).await.expect("removed");
    store.remove_revocations(&[]).await.expect("nothing to remove");
    assert_eq!((listed(&one).await, listed(&other).await), (vec![], vec![]));
}

/// Writers that all read the same version: one is accepted, the others get a conflict.
async fn one_of_many_wins(location: &Location) {
    let race = table("race");
    let definitions = Definitions::open(location).await.expect("opens");
    for round in 0..5 {
        // In memory there is only one store, which is empty each time it is opened.
        let stores = match location {
            Location::Memory => vec![definitions.clone(), definitions.clone(), definitions.clone()],
            _ => {
                let mut stores = Vec::new();
                for _ in 0..3 {
                    stores.push(Definitions::open(location).await.expect("opens"));
                }
                stores
            }
        };
        let version = definitions
            .table_settings(&race)
            .await
            .expect("read")
            .map_or(0, |settings| settings.version);
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..12usize {
            let (store, race) = (stores[writer % stores.len()].clone(), race.clone());
            let settings = days(i64::try_from(writer).expect("small") + 1);
            writers.spawn(async move {
                (settings.clone(), store.set_table_settings(&race, version, &settings).await)
            });
        }
        let mut won = Vec::new();
        while let Some(done) = writers.join_next().await {
            match done.expect("no panic") {
                (settings, Ok(version)) => won.push(Versioned { version, value: settings }),
                (_, Err(DefinitionsError::Conflict { based_on, .. })) => {
                    assert_eq!(based_on, version)
                }
                (_, Err(error)) => panic!("round {round}: {error}"),
            }
        }
        assert_eq!(won.len(), 1, "round {round}: {won:?}");
        assert_eq!(definitions.table_settings(&race).await.expect("read"), won.pop());
    }
}

#[test]
fn a_store_in_memory_does_all_that_others_do() {
    runtime().block_on(exercise(&Location::Memory));
}

#[test]
fn revocations_are_listed_up_to_the_limit() {
    runtime().block_on(async {
        let store = Definitions::open(&Location::Memory).await.expect("opens");
        let leaf = LeafName("m1/leaf-0".into());
        let revocations: Vec<Revocation> = (0..=REVOCATIONS_LISTED_MAX)
            .map(|number| Revocation {
                leaf: leaf.clone(),
                table: table("t"),
                batch: BatchId::new(&format!("b{number:06}")).expect("an id"),
                instead: LeafName("m1/leaf-1".into()),
                at: Micros(5),
                is_held: false,
            })
            .collect();
        for revocation in &revocations {
            store.record_revocation(revocation).await.expect("recorded");
        }
        let first = store.revocations_of(&leaf, None).await.expect("read");
        assert_eq!(first, revocations[..REVOCATIONS_LISTED_MAX]);
        let after = first.last().map(|last| (last.table.clone(), last.batch.clone()));
        let rest = store.revocations_of(&leaf, after.as_ref()).await.expect("read");
        assert_eq!(rest, revocations[REVOCATIONS_LISTED_MAX..]);
        let after = rest.last().map(|last| (last.table.clone(), last.batch.clone()));
        assert_eq!(store.revocations_of(&leaf, after.as_ref()).await.expect("read"), []);
    });
}

#[test]
fn a_file_does_all_that_others_do() {
    let folder = tempfile::tempdir().expect("a folder");
    runtime().block_on(exercise(&Location::File(folder.path().join("d.sqlite"))));
}

#[test]
fn a_server_does_all_that_others_do() {
    let Some(server) = postgres::Server::start() else {
        return println!("skipped: needs postgres");
    };
    runtime().block_on(exercise(&server.location()));
}
