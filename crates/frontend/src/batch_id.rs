//! Makes batch ids for bodies whose client chose none.

use hadal_types::BatchId;

use crate::error::FrontendError;

/// Returns an id for a body without a client's id. A retry of such a body would count its rows
/// twice.
pub(crate) fn random_id() -> Result<BatchId, FrontendError> {
    let mut bytes = [0; 16];
    let random = getrandom::fill(&mut bytes);
    random.map_err(|error| {
        FrontendError::internal("there is no randomness for a batch id", &error)
    })?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    BatchId::new(&digits)
        .ok_or_else(|| FrontendError::internal("a batch id cannot be made", &digits))
}
