//! Says how a body would be read, and stores nothing.

use std::sync::Arc;

use hadal_ingest::{AgePolicy, Ingest, Settings, Summary};
use hadal_types::TableName;

use crate::batch_id::random_id;
use crate::error::{FrontendError, Rejects};
use crate::frontend::{Frontend, blocking};
use crate::ingest::pipeline::Pipeline;
use crate::ingest::request::{ByteStream, IngestOptions, IngestReceipt};
use crate::ingest::set_columns::sets_of;

/// The bytes of a body that are read at most.
const EXPLAINED_BYTES_MAX: usize = 1 << 20;

/// Reads the beginning of a body, and returns the receipt that it would get, with the evidence and
/// the first rows.
pub(super) async fn explain_body(
    frontend: &Arc<Frontend>,
    table: &TableName,
    options: IngestOptions,
    body: &mut impl ByteStream,
) -> Result<IngestReceipt, FrontendError> {
    let now = frontend.backend.clock.now();
    let status = frontend.backend.root.known_table(table.as_str());
    let schema = status.map(|table| Arc::clone(&table.schema));
    let table_sets = schema.iter().flat_map(|schema| sets_of(schema));
    let settings = Settings {
        table: table.clone(),
        batch_id: options.batch.map_or_else(random_id, Ok)?,
        time_column: options.time,
        table_time_column: schema.as_ref().map(|schema| schema.time_column.clone()),
        // The table's own would get the columns of a body that is not stored.
        table_columns: Arc::default(),
        sets: table_sets.chain(options.sets).collect(),
        age: AgePolicy::UNLIMITED,
        read: options.read,
    };
    let ingest = Ingest::new(settings, options.format, now).explaining();
    let mut pipeline = Pipeline::new(options.decompressor, ingest, false);
    let (mut length, mut is_whole) = (0, true);
    while let Some(bytes) = body.next().await? {
        length += bytes.len();
        let _turn = frontend.parsers.acquire().await;
        pipeline = blocking(move || {
            pipeline.push(&bytes)?;
            Ok::<_, FrontendError>(pipeline)
        })
        .await??;
        if length >= EXPLAINED_BYTES_MAX {
            is_whole = false;
            break;
        }
    }
    let summary = match is_whole {
        true => pipeline.finish()?.1,
        false => pipeline.stop(),
    };
    Ok(receipt(summary))
}

fn receipt(summary: Summary) -> IngestReceipt {
    IngestReceipt {
        accepted: summary.accepted,
        rejects: Rejects::of(&summary),
        warnings: summary.warnings,
        time_from: summary.time_from,
        time_wording: summary.time_wording,
        other_times: summary.other_times,
        untimed: summary.untimed,
        detected: summary.detected,
        explanation: summary.explanation,
        duplicate: false,
        durable: false,
    }
}
