//! The state that all handlers share.

use std::sync::Arc;

use hadal_frontend::Frontend;

use crate::config::Config;
use crate::metrics::Metrics;

/// State shared by all handlers.
pub(crate) struct AppState {
    pub(crate) frontend: Arc<Frontend>,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
}

impl AppState {
    pub(crate) fn new(config: Config, frontend: Arc<Frontend>) -> Arc<Self> {
        Arc::new(Self { frontend, config, metrics: Metrics::default() })
    }
}
