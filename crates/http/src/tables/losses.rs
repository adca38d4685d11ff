//! `DELETE /v1/losses`: a person knows of what was lost, so it is told no more.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use hadal_types::{Held, TableName};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::query_response::json;
use crate::router::Doors;
use crate::tables::{readable, unknown_table};

/// Of which table; of all, and of what nobody knows the tables of, where it is missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    table: Option<String>,
}

/// Forgets all losses, or those of a table. Tells how many there were of which nobody knows the rows, and
/// how many rows are known to have been lost.
pub(crate) async fn forget(
    State(doors): State<Doors>,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Forgotten {
        rows: u64,
        unknown_losses: u64,
    }
    let Query(Which { table }) = readable(which)?;
    let table = match table {
        None => None,
        Some(name) => {
            let there = doors.app.root.table(&name).await.map(|_| ());
            let table = TableName::new(&name).ok().zip(there).map(|(table, ())| table);
            Some(table.ok_or_else(|| unknown_table(&name))?)
        }
    };
    let count = async || doors.app.root.catalog().await.losses.len() as u64;
    let before = count().await;
    let forgotten = doors.app.sink.forget_losses(table).await;
    let rows = forgotten.map_err(|error| Problem::of_sink(&error))?;
    let unknown_losses = before.saturating_sub(count().await);
    json(&Forgotten { rows, unknown_losses }, Held::default())
}
