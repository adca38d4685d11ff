//! Any bytes as any format: a body in pieces becomes batches and rejects, or is refused with a
//! sentence. No panic, bounded memory, and no row that is neither accepted nor rejected.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_block::BlockView;
use hadal_ingest::{AgePolicy, Format, Ingest, InputFormat, ReadOptions, Settings};
use hadal_types::{BatchId, Micros, TableName};

/// The arrival time of all bodies: 2026-11-27.
const NOW: Micros = Micros(1_795_737_600 * Micros::SECOND);

/// A body, and how it is to be read.
#[derive(arbitrary::Arbitrary, Debug)]
pub struct Body<'b> {
    format: u8,
    stated: u8,
    options: Vec<(u8, &'b str)>,
    /// The number of bytes in each piece, less 1.
    piece: u8,
    is_explained: bool,
    bytes: &'b [u8],
}

/// Reads the body to its end.
pub fn ingest(body: &Body<'_>) {
    let Some(settings) = settings(body) else { return };
    let formats = [Format::Json, Format::Csv, Format::Lines, Format::Detect];
    let format = formats[usize::from(body.format) % formats.len()];
    let mut ingest = Ingest::new(settings, format, NOW);
    if body.is_explained {
        ingest = ingest.explaining();
    }
    let mut batches = Vec::new();
    for piece in body.bytes.chunks(usize::from(body.piece) + 1) {
        match ingest.push(piece) {
            Ok(cut) => batches.extend(cut),
            Err(error) => return assert!(!error.to_string().is_empty()),
        }
    }
    let (last, summary) = match ingest.finish() {
        Ok(finished) => finished,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    batches.extend(last);
    let rows: u64 = batches.iter().map(|batch| batch.rows as u64).sum();
    assert!(body.is_explained || rows == summary.accepted, "{rows} rows, {summary:?}");
    assert!(summary.rejected.len() as u64 <= summary.rejected_count);
    for batch in &batches {
        BlockView::parse(batch.block()).expect("a batch is a row block");
    }
}

/// The settings of the body; `None` if an option is refused, as a request with it would be.
fn settings(body: &Body<'_>) -> Option<Settings> {
    let mut read = ReadOptions::default();
    let formats = InputFormat::ALL;
    read.format = formats.get(usize::from(body.stated)).map(|(_, format)| *format);
    for (name, value) in body.options.iter().take(4) {
        let name = ReadOptions::NAMES[usize::from(*name) % ReadOptions::NAMES.len()];
        read.set(name, value).ok()?;
    }
    Some(Settings {
        table: TableName::new("t").ok()?,
        batch_id: BatchId::new("b")?,
        time_column: None,
        table_time_column: None,
        table_columns: Arc::default(),
        sets: HashSet::new(),
        age: AgePolicy::UNLIMITED,
        read,
    })
}
