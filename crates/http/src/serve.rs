//! The port: accepts connections up to the limit, and stops without cutting off clients.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hadal_frontend::{Frontend, QueryClient};
use hadal_types::limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::config::{Config, ConfigError};
use crate::connection::serve_connection;
use crate::connection_limits::{ConnectionLimits, ConnectionPermit, LimitReached};
use crate::metrics::count;
use crate::router::router_of;
use crate::state::AppState;

/// Why the port could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The listener has no address.
    #[error("cannot serve the listener: {0}")]
    Listener(#[from] std::io::Error),
}

/// Time for a client to read its refusal.
const GOODBYE: Duration = Duration::from_secs(1);
/// Wait when the process has no file descriptor left for a connection.
const NO_FILES: Duration = Duration::from_millis(100);

/// Serves `frontend` on `listener` until `shutdown` is done; then accepts no more connections and
/// finishes running requests. They must end after `config.stopping_time`, and are cut off after
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
    let connections = ConnectionLimits::new(most, config.connections_per_address_max);
    let refusals = Arc::new(Semaphore::new(limits::REFUSALS_MAX));
    let state = AppState::new(config, frontend);
    let router = router_of(&state);
    let (stop, stopped) = watch::channel(false);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(NO_FILES).await;
                continue;
            }
        };
        match connections.enter(from.ip()) {
            Ok(permit) => {
                let open = Open::new(&state, permit);
                let (router, stopped) = (router.clone(), stopped.clone());
                tokio::spawn(async move {
                    let _open = open;
                    // Answers are written whole, so waiting to fill a packet only costs time.
                    let _ = stream.set_nodelay(true);
                    let client = QueryClient::of_peer(from);
                    serve_connection(stream, client, router, stopped).await;
                });
            }
            Err(full) => {
                count(&state.metrics.connections_refused, 1);
                // A refusal holds an open file until the client has read it, so their number is
                // limited to the reserve for refusals.
                if let Ok(turn) = Arc::clone(&refusals).try_acquire_owned() {
                    tokio::spawn(async move {
                        refuse(stream, full).await;
                        drop(turn);
                    });
                }
            }
        }
    }
    drop(listener);
    let _ = stop.send(true);
    finish(&state, &connections.permits, most).await;
    Ok(())
}

/// An open connection: its permit, and its count in the metrics.
struct Open {
    state: Arc<AppState>,
    _permit: ConnectionPermit,
}

impl Open {
    fn new(state: &Arc<AppState>, permit: ConnectionPermit) -> Self {
        count(&state.metrics.connections, 1);
        Self { state: Arc::clone(state), _permit: permit }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.state.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends a 503 to a client beyond the limits, without reading its request.
async fn refuse(mut stream: TcpStream, full: LimitReached) {
    let goodbye = async {
        stream.write_all(refusal(full).as_bytes()).await?;
        stream.shutdown().await?;
        // Closing with unread bytes would discard the answer.
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    // It does not matter whether the client has read the refusal.
    let _ = timeout(GOODBYE, goodbye).await;
}

fn refusal(full: LimitReached) -> String {
    let body = format!(
        "{{\"type\":\"urn:hadal:problem:unavailable\",\"title\":\"This cannot be done now\",\
         \"status\":503,\"detail\":\"{}\"}}",
        full.text()
    );
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
         content-length: {}\r\nretry-after: 1\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Waits until no connection is open and no answer is being sent. Running requests are ended early
/// enough to report it.
async fn finish(state: &Arc<AppState>, permits: &Semaphore, most: usize) {
    let all = async {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let _ = permits.acquire_many(most).await;
        let _ = state.answers.acquire_many(most).await;
    };
    let end_what_runs = async {
        sleep(state.config.stopping_time).await;
        state.frontend.shutdown().begin();
        pending::<()>().await;
    };
    let waiting = async {
        tokio::select! {
            () = all => {}
            () = end_what_runs => {}
        }
    };
    let longest = Duration::from_secs(limits::SHUTDOWN_SECONDS);
    if timeout(longest, waiting).await.is_err() {
        tracing::warn!(open = most - permits.available_permits(), "connections were cut off");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_problem() {
        for full in [LimitReached::Port, LimitReached::Address] {
            let text = refusal(full);
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            let problem: serde_json::Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(problem["detail"], full.text());
        }
    }
}
