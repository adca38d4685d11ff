//! The state that all handlers share.

use std::sync::Arc;

use hadal_frontend::Frontend;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::metrics::Metrics;

/// State shared by all handlers.
pub(crate) struct AppState {
    pub(crate) frontend: Arc<Frontend>,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    /// A permit for each answer that is being sent in batches. An answer ends a moment after its
    /// connection, and is logged then, so a server that stops waits for both.
    pub(crate) answers: Arc<Semaphore>,
}

impl AppState {
    pub(crate) fn new(config: Config, frontend: Arc<Frontend>) -> Arc<Self> {
        let answers = Arc::new(Semaphore::new(config.connections_max));
        Arc::new(Self { frontend, config, metrics: Metrics::default(), answers })
    }
}
