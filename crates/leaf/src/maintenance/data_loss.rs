//! What a leaf has lost, and when a loss is forgotten: when a person acknowledges it, or by its
//! table's age limit.

use std::sync::Arc;

use hadal_peer::{LeafLoss, SinkError};
use hadal_store::{BlockNumber, Change, Store};
use hadal_types::limits::{LEAF_LOSSES_MAX, NOTE_BYTES_MAX};
use hadal_types::{Micros, TableName};

use crate::context::LeafContext;
use crate::maintenance::merge::{origins, remembered};
use crate::table::Table;
use crate::table::age_limit::cutoff;
use crate::table::block::Block;

/// Returns the losses whose rows and tables are unknown. If there are very many, only the first
/// ones.
pub(crate) fn losses(store: &Store) -> Vec<LeafLoss> {
    let losses = store.losses().into_iter().take(LEAF_LOSSES_MAX);
    losses
        .map(|loss| {
            let mut what = loss.what;
            what.truncate(what.floor_char_boundary(NOTE_BYTES_MAX));
            LeafLoss { found: loss.found, what }
        })
        .collect()
}

/// Stops reporting losses: all of them, or those of one table. Returns the number of lost rows as
/// far as it is known.
pub(crate) fn forget_losses(
    context: &LeafContext,
    table: Option<&TableName>,
) -> Result<u64, SinkError> {
    let _turn = context.turn_to_change().ok_or_else(|| context.unavailable())?;
    let tables = context.all_tables();
    let is_meant = |other: &&Arc<Table>| table.is_none_or(|name| other.name == *name);
    let mut rows = 0;
    for table in tables.iter().filter(is_meant) {
        let forgotten = forget_blocks(context, table, |_| true, true);
        rows += forgotten.map_err(|error| context.sink_error(error))?;
    }
    if table.is_none() {
        let forgotten = context.store.forget_losses(None);
        forgotten.map_err(|error| context.sink_error(error))?;
    }
    Ok(rows)
}

/// Removes lost blocks of a table from the store. With `damaged`, also removes visible blocks in
/// which damage was detected since.
fn forget_blocks(
    context: &LeafContext,
    table: &Table,
    is_meant: impl Fn(BlockNumber) -> bool,
    damaged: bool,
) -> Result<u64, hadal_store::Error> {
    let dropped = table.dropped.read();
    if *dropped {
        return Ok(0);
    }
    let damaged: Vec<Arc<Block>> = match damaged {
        true => table.snapshot().iter().filter(|block| block.is_damaged()).cloned().collect(),
        false => Vec::new(),
    };
    let lost: Vec<BlockNumber> =
        table.lost().into_iter().filter(|&number| is_meant(number)).collect();
    let (consumed, mut removes) = origins(&damaged);
    removes.extend(lost.iter().filter(|&&number| context.store.has_block(number)));
    if removes.is_empty() && consumed.is_empty() {
        return Ok(0);
    }
    let remembered = remembered(table, &damaged);
    context.store.commit(&Change { removes, consumed, remembered, ..Change::default() })?;
    let rows: usize = damaged.iter().map(|block| block.rows).sum();
    table.swap(&damaged, Vec::new())?;
    Ok(table.forget_lost(&lost) + rows as u64)
}

/// Forgets losses that the age limits of their tables have passed: all lost rows are older. A loss
/// of unknown tables must have passed all age limits.
pub(crate) fn forget_old_losses(context: &LeafContext, tables: &[Arc<Table>], now: Micros) {
    let Some(_turn) = context.turn_to_change() else { return };
    let limit = |table: &Table| table.with_settings(|settings| cutoff(settings, now));
    let mut failed = None;
    for table in tables {
        let Some(limit) = limit(table) else { continue };
        let is_old = |number| context.store.lost_since(number).is_some_and(|since| since < limit);
        if let Err(error) = forget_blocks(context, table, is_old, false) {
            failed = Some(error);
        }
    }
    let limits: Option<Vec<Micros>> = tables.iter().map(|table| limit(table)).collect();
    if let Some(first) = limits.and_then(|limits| limits.into_iter().min())
        && let Err(error) = context.store.forget_losses(Some(first))
    {
        failed = Some(error);
    }
    if let Some(error) = failed {
        tracing::error!(leaf = %context.name, "old losses are told on: {error}");
    }
}
