//! The port: accepts connections up to the limit, and stops without cutting off statements.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::{Frontend, QueryClient};
use hadal_types::limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::backend_message::Output;
use crate::config::{Config, ConfigError};
use crate::connection::Connection;
use crate::door::Door;
use crate::failure::Failure;
use crate::session::Session;
use crate::startup::{Started, start};

/// Why the port could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The listener has no address.
    #[error("cannot serve the listener: {0}")]
    Listener(#[from] std::io::Error),
    /// The system's random source fails.
    #[error("there is no randomness")]
    Randomness,
}

/// Wait when the process has no file descriptor left for a connection.
const NO_FILES: Duration = Duration::from_millis(100);

/// Serves `frontend` on `listener` until `shutdown` is done; then accepts no more connections and
/// finishes running statements. They must end after `config.stopping_time`, and are cut off after
/// [`limits::SHUTDOWN_SECONDS`].
///
/// # Errors
/// [`ServeError`] when the configuration is refused; it is checked with the listener's address.
pub async fn serve(
    config: Config,
    frontend: Arc<Frontend>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let config = Config { listen: listener.local_addr()?, ..config };
    config.check()?;
    let most = config.connections_max;
    let permits = Arc::new(Semaphore::new(most));
    let door = Door::new(config, frontend).map_err(|_| ServeError::Randomness)?;
    let door = Arc::new(door);
    let (stop, stopped) = watch::channel(false);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, client) = match accepted {
            Ok((stream, from)) => (stream, QueryClient::of_peer(from)),
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(NO_FILES).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            refuse(&stream);
            continue;
        };
        let (door, stopped) = (Arc::clone(&door), stopped.clone());
        tokio::spawn(async move {
            let _permit = permit;
            serve_connection(stream, client, &door, stopped).await;
        });
    }
    drop(listener);
    let _ = stop.send(true);
    finish(&door, &permits, most).await;
    Ok(())
}

/// Serves one client until it leaves, breaks the protocol, or `stop` is set.
async fn serve_connection(
    stream: TcpStream,
    client: QueryClient,
    door: &Arc<Door>,
    stop: watch::Receiver<bool>,
) {
    // Answers are written whole, so waiting to fill a packet only costs time.
    let _ = stream.set_nodelay(true);
    // A client that has gone without a word is noticed by the system.
    let _ = rustix::net::sockopt::set_socket_keepalive(&stream, true);
    let connection = Connection::new(Box::new(stream), door.frontend.hold());
    let startup_time = Duration::from_secs(limits::PG_STARTUP_SECONDS);
    let started = match timeout(startup_time, start(connection, door)).await {
        Ok(Ok(Some(started))) => started,
        Ok(Ok(None)) => return,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a connection did not start");
            return;
        }
        Err(_) => {
            tracing::debug!("a connection took too long to start");
            return;
        }
    };
    let started = Started { principal: started.principal.of_client(client), ..started };
    match Session::new(Arc::clone(door), started, stop) {
        Ok(session) => session.run().await,
        Err(error) => tracing::error!(%error, "a session cannot begin"),
    }
}

/// Writes to a client beyond the limit why it is refused, as far as that is possible at once.
fn refuse(stream: &TcpStream) {
    let mut output = Output::default();
    let failure = Failure::fatal("53300", "too many connections").hint("try again later");
    output.error(&failure.notice("", 0));
    let _ = stream.try_write(&output.bytes);
}

/// Waits until no connection is open. Running statements are ended early enough to report it.
async fn finish(door: &Arc<Door>, permits: &Semaphore, most: usize) {
    let all = permits.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    let end_what_runs = async {
        sleep(door.config.stopping_time).await;
        door.frontend.shutdown().begin();
        pending::<()>().await;
    };
    let waiting = async {
        tokio::select! {
            _ = all => {}
            () = end_what_runs => {}
        }
    };
    let longest = Duration::from_secs(limits::SHUTDOWN_SECONDS);
    if timeout(longest, waiting).await.is_err() {
        let open = most - permits.available_permits();
        tracing::warn!(open, "connections to the PostgreSQL port were cut off");
    }
}
