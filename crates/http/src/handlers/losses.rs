//! `DELETE /v1/losses`: a person acknowledges losses; they are no longer reported.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use hadal_frontend::Principal;
use hadal_types::MemoryReservation;
use serde::{Deserialize, Serialize};

use crate::parameters::readable;
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// Selects the losses of a table; without a table all losses, including those whose table is
/// unknown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Selection {
    table: Option<String>,
}

/// Forgets all losses, or the losses of a table. Answers with the number of known lost rows and the
/// number of forgotten losses of unknown size.
pub(crate) async fn forget(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    selection: Result<Query<Selection>, QueryRejection>,
) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Forgotten {
        rows: u64,
        unknown_losses: u64,
    }
    let Query(Selection { table }) = readable(selection)?;
    let forgotten = state.frontend.forget_losses(&principal, table.as_deref()).await?;
    let (rows, unknown_losses) = forgotten;
    Ok(json(&Forgotten { rows, unknown_losses }, MemoryReservation::default())?)
}
