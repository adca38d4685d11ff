//! The store: one pool of connections to the database at a location.

use std::str::FromStr;
use std::sync::{Arc, Once};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Row};
use tokio::time::timeout;

use crate::error::DefinitionsError;
use crate::location::Location;

/// Connections to a shared database.
const CONNECTIONS_MAX: u32 = 4;
/// How long to wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a connection to a shared database may be idle. Many servers share it, and poll it by
/// one connection each.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// SQLite's codes for a file that is not a database, or is damaged.
const CODES_OF_DAMAGE: [&str; 2] = ["11", "26"];

/// The definitions at their location. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Definitions {
    pool: Arc<RwLock<AnyPool>>,
    location: Location,
    options: AnyConnectOptions,
    // Never used. A database in memory ends with its last connection, and the pool can lose
    // connections: with the runtime that was to take one back, or when one fails. A mutex, because
    // a connection is not `Sync`.
    _keeps_memory: Option<Arc<Mutex<AnyConnection>>>,
}

impl Definitions {
    /// Connects to the database at `url`, which is that of `location`.
    pub(crate) async fn connect(location: &Location, url: &str) -> Result<Self, DefinitionsError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(install_default_drivers);
        let failed = |source| Self::failure(location, "open", source);
        let options = AnyConnectOptions::from_str(url).map_err(failed)?.disable_statement_logging();
        let keeps_memory = match location {
            Location::Memory => Some(AnyConnection::connect_with(&options).await.map_err(failed)?),
            Location::File(_) | Location::Postgres(_) => None,
        };
        let pool = pool_options(location).connect_with(options.clone()).await.map_err(failed)?;
        let pool = Arc::new(RwLock::new(pool));
        let keeps_memory = keeps_memory.map(|connection| Arc::new(Mutex::new(connection)));
        Ok(Self { pool, location: location.clone(), options, _keeps_memory: keeps_memory })
    }

    /// The connections.
    pub(crate) fn pool(&self) -> AnyPool {
        self.pool.read().clone()
    }

    /// Runs a request, and gives up if a shared database does not answer within `time`. A frozen
    /// server would hold the request for ever, and its connections too, so those are replaced.
    pub(crate) async fn within<T>(
        &self,
        action: &'static str,
        time: Duration,
        request: impl Future<Output = Result<T, DefinitionsError>> + Send,
    ) -> Result<T, DefinitionsError> {
        if !self.is_shared() {
            return request.await;
        }
        match timeout(time, request).await {
            Ok(done) => done,
            Err(_) => {
                let options = self.options.clone();
                *self.pool.write() = pool_options(&self.location).connect_lazy_with(options);
                let reason = format!("no answer within {} s", time.as_secs());
                let location = self.location.to_string();
                Err(DefinitionsError::Database { action, location, reason })
            }
        }
    }

    /// Checks that the file is whole.
    pub(crate) async fn check(&self) -> Result<(), DefinitionsError> {
        let checked = sqlx::query("PRAGMA quick_check(1)").fetch_one(&self.pool()).await;
        let checked = checked.and_then(|row| row.try_get::<String, _>(0));
        match checked.map_err(|error| self.failed("check", error))?.as_str() {
            "ok" => Ok(()),
            reason => Err(self.damaged(reason)),
        }
    }

    /// The location, without a password.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether several processes may change the definitions at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.location, Location::Postgres(_))
    }

    pub(crate) fn damaged(&self, reason: &str) -> DefinitionsError {
        DefinitionsError::Damaged { location: self.location.to_string(), reason: reason.to_owned() }
    }

    pub(crate) fn newer(&self, version: i64, supported: i64) -> DefinitionsError {
        DefinitionsError::Newer { location: self.location.to_string(), version, supported }
    }

    pub(crate) fn failed(&self, action: &'static str, source: sqlx::Error) -> DefinitionsError {
        Self::failure(&self.location, action, source)
    }

    fn failure(location: &Location, action: &'static str, source: sqlx::Error) -> DefinitionsError {
        let code = source.as_database_error().and_then(|error| error.code());
        // Extended codes have the plain one in their lowest byte.
        let plain = code.and_then(|code| Some((code.parse::<u32>().ok()? & 0xff).to_string()));
        let location_name = location.to_string();
        match plain {
            Some(code)
                if !matches!(location, Location::Postgres(_))
                    && CODES_OF_DAMAGE.contains(&code.as_str()) =>
            {
                DefinitionsError::Damaged { location: location_name, reason: source.to_string() }
            }
            _ => {
                let reason = match source {
                    sqlx::Error::PoolTimedOut => {
                        format!("no connection within {} s", ACQUIRE_TIMEOUT.as_secs())
                    }
                    _ => location.redacted(&source.to_string()),
                };
                DefinitionsError::Database { action, location: location_name, reason }
            }
        }
    }
}

fn pool_options(location: &Location) -> AnyPoolOptions {
    let is_shared = matches!(location, Location::Postgres(_));
    AnyPoolOptions::new()
        .max_connections(if is_shared { CONNECTIONS_MAX } else { 1 })
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(is_shared.then_some(IDLE_TIMEOUT))
        .max_lifetime(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_outlives_the_connections_and_the_runtime_of_a_pool() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
        let table = hadal_types::TableName::new("kept").expect("a name");
        let settings = hadal_types::TableSettings::default();
        let first = runtime().expect("a runtime");
        let (store, other) = first.block_on(async {
            let store = Definitions::open(&Location::Memory).await.expect("opens");
            store.set_table_settings(&table, 0, &settings).await.expect("set");
            let connection = store.pool().acquire().await.expect("a connection");
            connection.close().await.expect("closed");
            (store, Definitions::open(&Location::Memory).await.expect("opens another"))
        });
        drop(first);
        runtime().expect("a runtime").block_on(async {
            assert_eq!(store.all_table_settings().await.expect("read").len(), 1);
            assert_eq!(other.all_table_settings().await.expect("read").len(), 0, "its own");
        });
    }
}
