//! The signal that ends running requests. When a server stops, queries and bodies may continue for
//! some seconds; then the remaining requests fail with an error, which is more informative than a
//! closed connection.

use tokio::sync::watch;

/// Signals that running requests must end.
#[derive(Clone, Default)]
pub struct Shutdown(watch::Sender<bool>);

impl Shutdown {
    /// Ends running requests.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether running requests must end now.
    pub(crate) fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until running requests must end.
    pub async fn begun(&self) {
        drop(self.0.subscribe().wait_for(|begun| *begun).await);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_shutdown_ends_current_and_later_waits() {
        let shutdown = Shutdown::default();
        let other = shutdown.clone();
        let mut waiting = std::pin::pin!(other.begun());
        assert!(!other.has_begun());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        shutdown.begin();
        assert!(other.has_begun());
        assert_eq!(waiting.now_or_never(), Some(()));
        assert_eq!(other.begun().now_or_never(), Some(()));
    }
}
