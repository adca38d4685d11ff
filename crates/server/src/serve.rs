//! The port: accepts connections, no more than there may be, and stops without cutting anyone off.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hadal_types::limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::app::{App, Doors, Shared, router_of};
use crate::config::{Config, ConfigError};
use crate::connection::serve_connection;
use crate::metrics::count;

/// Why the port could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The set-up is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The listener has no address.
    #[error("cannot serve the listener: {0}")]
    Listener(#[from] std::io::Error),
}

/// What a client beyond the limit is told; it is not asked what it wants first.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\ncontent-length: 119\r\n\
    retry-after: 1\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:hadal:problem:unavailable\",\"title\":\"This cannot be done now\",\
    \"status\":503,\"detail\":\"too many connections\"}";

/// How long a client is given to read that it has to go.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait when the process has no file left for a connection.
const NO_FILES: Duration = Duration::from_millis(100);

/// Serves `app` on `listener` until `shutdown` is done; then takes no more connections and
/// finishes what runs, for [`limits::SHUTDOWN_SECONDS`] at most.
///
/// # Errors
/// [`ServeError`] when the set-up is refused: the address that counts is the listener's.
pub async fn serve(
    config: Config,
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let config = Config { listen: listener.local_addr()?, ..config };
    config.check()?;
    let most = config.connections_max;
    let doors = Arc::new(Shared::new(config, app));
    let router = router_of(&doors);
    let slots = Arc::new(Semaphore::new(most));
    let (stop, stopped) = watch::channel(false);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(NO_FILES).await;
                continue;
            }
        };
        match Arc::clone(&slots).try_acquire_owned() {
            Ok(slot) => {
                let open = Open::new(&doors, slot);
                let (router, stopped) = (router.clone(), stopped.clone());
                tokio::spawn(async move {
                    let _open = open;
                    // Answers are written whole: waiting to fill a packet only costs time.
                    let _ = stream.set_nodelay(true);
                    serve_connection(stream, router, stopped).await;
                });
            }
            Err(_) => {
                count(&doors.metrics.connections_refused, 1);
                tokio::spawn(refuse(stream));
            }
        }
    }
    drop(listener);
    let _ = stop.send(true);
    finish(&slots, most).await;
    Ok(())
}

/// An open connection: its slot, and its place in the metrics.
struct Open {
    doors: Doors,
    _slot: OwnedSemaphorePermit,
}

impl Open {
    fn new(doors: &Doors, slot: OwnedSemaphorePermit) -> Self {
        count(&doors.metrics.connections, 1);
        Self { doors: Arc::clone(doors), _slot: slot }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.doors.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Tells a client that there are too many already.
async fn refuse(mut stream: TcpStream) {
    let goodbye = async {
        stream.write_all(FULL).await?;
        stream.shutdown().await?;
        // Closing with unread bytes would take the answer back.
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    // Whether it listened is its own affair.
    let _ = timeout(GOODBYE, goodbye).await;
}

/// Waits until no connection is open.
async fn finish(slots: &Semaphore, most: usize) {
    let all = slots.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    let longest = Duration::from_secs(limits::SHUTDOWN_SECONDS);
    if timeout(longest, all).await.is_err() {
        tracing::warn!(open = most - slots.available_permits(), "connections were cut off");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(FULL).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }
}
