//! `/v1/tables/{table}/blocks`: the row blocks of a table, for people who look inside.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hadal_peer::{BlockStatus, TableBlocks};
use hadal_types::limits;
use serde::{Deserialize, Serialize};

use crate::parameters::{listed, readable};
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// Which blocks are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    limit: Option<usize>,
    /// Blocks left out before the first.
    #[serde(default)]
    offset: usize,
}

#[derive(Serialize)]
struct Blocks<'a> {
    table: &'a str,
    rows: u64,
    lost_rows: u64,
    bytes: u64,
    block_count: usize,
    columns: Vec<Column<'a>>,
    blocks: Vec<Block<'a>>,
    more: bool,
}

#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    kind: &'static str,
    encoding: &'a str,
    blocks: u64,
    rows: u64,
    bytes: u64,
    warm_bytes: u64,
}

#[derive(Serialize)]
struct Block<'a> {
    leaf: &'a str,
    rows: u64,
    bytes: u64,
    first_time: String,
    last_time: String,
    fresh: bool,
    kept_one_in: u16,
}

/// `GET /v1/tables/{table}/blocks`: a page of blocks, and all columns summed up.
pub(crate) async fn blocks(
    State(state): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, Problem> {
    let (Path(name), Query(page)) = (readable(name)?, readable(page)?);
    let limit = listed(page.limit, limits::BLOCKS_LISTED_MAX)?;
    let (TableBlocks { blocks, columns }, lost_rows) = state.frontend.blocks(&name).await?;
    let listed = blocks.iter().skip(page.offset).take(limit);
    let blocks = Blocks {
        table: &name,
        rows: blocks.iter().map(|block| block.rows).sum(),
        lost_rows,
        bytes: blocks.iter().map(|block| block.bytes).sum(),
        block_count: blocks.len(),
        columns: columns
            .iter()
            .map(|((name, kind, encoding), column)| Column {
                name: name.as_str(),
                kind: kind.name(),
                encoding,
                blocks: column.blocks,
                rows: column.rows,
                bytes: column.bytes,
                warm_bytes: column.warm_bytes,
            })
            .collect(),
        blocks: listed.map(Block::new).collect(),
        more: blocks.len() > page.offset.saturating_add(limit),
    };
    Ok(json(&blocks, state.frontend.hold())?)
}

impl<'a> Block<'a> {
    fn new(block: &'a BlockStatus) -> Self {
        let (first, last) = block.time_range;
        Self {
            leaf: &block.leaf.0,
            rows: block.rows,
            bytes: block.bytes,
            first_time: first.to_string(),
            last_time: last.to_string(),
            fresh: block.is_fresh,
            kept_one_in: block.kept_one_in,
        }
    }
}
