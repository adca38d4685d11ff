//! The end of what runs: once a server stops, questions and bodies may go on for some seconds. Whoever is
//! not done by then is told so, since a connection that is cut off tells nothing.

use tokio::sync::watch;

/// Whether what runs is to end.
#[derive(Clone, Default)]
pub struct Shutdown(watch::Sender<bool>);

impl Shutdown {
    /// Has what runs end.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Whether it is to end already.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Becomes ready when what runs is to end.
    pub async fn begun(&self) {
        drop(self.0.subscribe().wait_for(|begun| *begun).await);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_end_is_seen_by_whoever_waits_and_whoever_comes_later() {
        let ending = Shutdown::default();
        let other = ending.clone();
        let mut waiting = std::pin::pin!(other.begun());
        assert!(!other.has_begun());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        ending.begin();
        assert!(other.has_begun());
        assert_eq!(waiting.now_or_never(), Some(()));
        assert_eq!(other.begun().now_or_never(), Some(()));
    }
}
