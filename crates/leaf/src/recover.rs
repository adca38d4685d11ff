//! From what a store recovered to tables: merged blocks, then what the log still holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_store::{LostBlock, RecoveredTable, Recovery, Report, StoredBlock};
use hadal_types::TableName;

use crate::batches::Known;
use crate::block::{Block, Origin};
use crate::limits::FreshBytes;
use crate::settings::settings;
use crate::sync::lock;
use crate::table::Table;

/// The tables of a recovered store, and what was found on the way.
///
/// A block that cannot be read is lost, like one that the store did not find. It stays in the store
/// as it is, so it is lost again at the next start; a drop of its table ends that.
pub(crate) fn tables(
    recovery: Recovery,
    fresh: &Arc<FreshBytes>,
) -> (BTreeMap<TableName, Arc<Table>>, Report) {
    let Recovery { tables: recovered, mut report } = recovery;
    let mut tables = BTreeMap::new();
    for (name, recovered) in recovered {
        let table = table(&name, recovered, fresh, &mut report.lost_blocks);
        tables.insert(name, table);
    }
    for lost in &report.lost_blocks {
        let LostBlock { number, table, rows, reason } = lost;
        tracing::debug!(%table, block = %number, rows, "a row block is lost: {reason}");
        let own = tables.entry(table.clone()).or_insert_with(|| Table::new(table.clone()));
        own.lost_rows += u64::from(*rows);
    }
    (tables.into_iter().map(|(name, table)| (name, Arc::new(table))).collect(), report)
}

fn table(
    name: &TableName,
    recovered: RecoveredTable,
    fresh: &Arc<FreshBytes>,
    lost: &mut Vec<LostBlock>,
) -> Table {
    let table = Table::new(name.clone());
    if let Some(dropped) = recovered.dropped_rows {
        table.count_dropped(dropped);
    }
    *lock(&table.settings) = recovered.settings.as_deref().and_then(|bytes| settings(name, bytes));
    for batch in recovered.remembered {
        let known = Known { content_hash: batch.content_hash, rows: batch.rows, time: batch.time };
        lock(&table.batches).remember(&batch.batch, known);
    }
    for stored in recovered.blocks {
        let StoredBlock { number, rows, bytes, .. } = stored;
        let location = bytes.location();
        match Block::new(bytes, Origin::Segment(number)) {
            Ok(block) => table.push(block),
            Err(error) => {
                let reason = format!("{location} is damaged: {error}");
                lost.push(LostBlock { number, table: name.clone(), rows, reason });
            }
        }
    }
    for frame in recovered.frames {
        match Block::new(frame.bytes, Origin::Log(vec![frame.sequence])) {
            // A batch whose first acknowledgement failed may have been logged twice.
            Ok(block) if remember(&table, &block) => {
                let hold = fresh.count(block.byte_count() as u64);
                table.push(block.holding(hold));
            }
            Ok(_) => {}
            // The frame's checksum was right, so it was logged like that.
            Err(error) => {
                let sequence = frame.sequence;
                tracing::error!(table = %name, %sequence, %error, "a logged batch is no row block");
            }
        }
    }
    table
}

/// Remembers the batch of a logged block; false when it was there already.
fn remember(table: &Table, block: &Block) -> bool {
    let Ok(view) = block.view() else { return false };
    let mut batches = lock(&table.batches);
    view.batches().iter().all(|batch| {
        let is_new = batches.get(&batch.id).is_none();
        let known = Known {
            content_hash: batch.content_hash,
            rows: u32::try_from(batch.rows).unwrap_or(u32::MAX),
            time: block.created_at,
        };
        if is_new {
            batches.remember(&batch.id, known);
        }
        is_new
    })
}
