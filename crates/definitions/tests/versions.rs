//! Migrations from one version of the store to the next, as a later program will make them.

use hadal_definitions::{Definitions, DefinitionsError, Location, VERSIONS, Version};
use sqlx::Row;

use super::{days, table};

/// A possible later version: it stores who set the settings, and does not know that of existing
/// ones.
const NEXT: Version = &[
    "ALTER TABLE hadal_table_settings ADD COLUMN set_by TEXT",
    "UPDATE hadal_table_settings SET set_by = 'nobody knows'",
];
/// A version that fails half-way.
const WRONG: Version = &[
    "UPDATE hadal_table_settings SET set_by = 'somebody'",
    "UPDATE hadal_no_such_table SET set_by = 'somebody'",
];

/// The existing versions, and further ones.
fn and(further: &[Version]) -> Vec<Version> {
    VERSIONS.iter().chain(further).copied().collect()
}

/// The version of the store, and who set the settings of each table; `url` is the store's.
async fn read_back(url: &str) -> (Vec<i64>, Vec<String>) {
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(url).await.expect("a connection");
    let versions = sqlx::query("SELECT version FROM hadal_definitions").fetch_all(&pool).await;
    let setters = sqlx::query("SELECT set_by FROM hadal_table_settings").fetch_all(&pool).await;
    pool.close().await;
    let versions = versions.expect("read").iter().map(|row| row.get(0)).collect();
    (versions, setters.expect("read").iter().map(|row| row.get(0)).collect())
}

/// An empty store gets this version, then a later one, which this program does not read.
pub(crate) async fn exercise(location: &Location, url: &str) {
    let latest = i64::try_from(VERSIONS.len()).expect("few");
    let store = Definitions::open(location).await.expect("opens");
    for name in ["t", "u"] {
        store.set_table_settings(&table(name), 0, &days(7)).await.expect("set");
    }
    let before = store.all_table_settings().await.expect("read");
    drop(store);
    // The second time nothing is left to do.
    for _ in 0..2 {
        let store = Definitions::open_with(location, &and(&[NEXT])).await.expect("migrates");
        assert_eq!(store.all_table_settings().await.expect("read"), before);
        let nobody = "nobody knows".to_owned();
        assert_eq!(read_back(url).await, (vec![latest + 1], vec![nobody.clone(), nobody]));
    }
    let refused = Definitions::open(location).await.expect_err("newer");
    let is_newer = matches!(refused, DefinitionsError::Newer { version, supported, .. } if (version, supported) == (latest + 1, latest));
    assert!(is_newer, "{refused:?}");
    assert!(refused.to_string().contains("start the later program"), "{refused}");
    let failed = Definitions::open_with(location, &and(&[NEXT, WRONG])).await.expect_err("fails");
    assert!(failed.to_string().contains("migrate"), "{failed}");
    let nobody = "nobody knows".to_owned();
    assert_eq!(
        read_back(url).await,
        (vec![latest + 1], vec![nobody.clone(), nobody]),
        "nothing of it"
    );
    let store = Definitions::open_with(location, &and(&[NEXT])).await.expect("opens");
    assert_eq!(store.all_table_settings().await.expect("read"), before);
}
