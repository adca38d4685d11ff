//! What all connections of the door share.

use std::sync::Arc;

use hadal_frontend::{Frontend, Token};

use crate::cancel::CancelRegistry;
use crate::config::Config;
use crate::scram::Verifier;

/// What all connections share.
pub(crate) struct Door {
    pub(crate) config: Config,
    pub(crate) frontend: Arc<Frontend>,
    pub(crate) cancels: Arc<CancelRegistry>,
    /// Verifies the password, if there is a token.
    pub(crate) verifier: Option<Verifier>,
}

impl Door {
    /// # Errors
    /// When the system's random source fails.
    pub(crate) fn new(
        config: Config,
        frontend: Arc<Frontend>,
    ) -> Result<Self, ring::error::Unspecified> {
        let password = config.admin_token.as_ref().map(Token::reveal);
        let verifier = password.as_deref().map(Verifier::new).transpose()?;
        Ok(Self { config, frontend, cancels: Arc::default(), verifier })
    }
}
