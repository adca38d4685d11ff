//! Assembles encoded columns into a block: bodies, directory, batches, header, checksum.

use hadal_types::limits::BLOCK_COLUMNS_MAX;
use hadal_types::{ColumnName, Kind, Micros};
use hashbrown::HashMap;
use twox_hash::XxHash3_64;

use crate::directory::Zone;
use crate::encode::{EncodedColumn, check_size};
use crate::error::BlockError;
use crate::header::{BatchRows, HEADER_BYTES, Header, SAMPLED_VERSION, write_batches};

/// Shorter validity sections are not worth a reference.
const SHARED_BYTES_MIN: usize = 16;

/// Makes a block of columns that are sorted by name and kind and include the time column.
/// `kept_one_in` is the sample factor n: the block has one in n of the original rows.
///
/// # Errors
/// When there is no time column, or more columns or bytes than a block can hold.
pub(crate) fn assemble(
    time_column: &ColumnName,
    rows: usize,
    created_at: Micros,
    batches: &[BatchRows],
    kept_one_in: u16,
    mut columns: Vec<EncodedColumn>,
) -> Result<Vec<u8>, BlockError> {
    let is_time = |column: &EncodedColumn| column.key() == (time_column, Kind::Number);
    let (Some(time_index), false) = (columns.iter().position(is_time), rows == 0) else {
        return Err(BlockError::Empty);
    };
    if columns.len() > BLOCK_COLUMNS_MAX {
        return Err(BlockError::TooManyColumns(columns.len()));
    }
    let Zone::Decimals { min, max, .. } = columns[time_index].entry.zone() else {
        return Err(BlockError::Empty);
    };
    assign_validity(&mut columns);
    columns.iter_mut().for_each(EncodedColumn::seal);
    let mut variable = Vec::new();
    columns.iter().for_each(|column| column.entry.write(&mut variable));
    let directory_bytes = variable.len();
    write_batches(batches, &mut variable);

    let sampled_version = if kept_one_in > 1 { SAMPLED_VERSION } else { 1 };
    let versions = columns.iter().map(|column| column.version);
    let mut header = Header {
        encoding_version: versions.fold(sampled_version, u16::max),
        kept_one_in,
        block_bytes: 0,
        rows,
        columns: columns.len(),
        time_column: time_index,
        batches: batches.len(),
        directory_bytes,
        batches_bytes: variable.len() - directory_bytes,
        time_min: Micros(min),
        time_max: Micros(max),
        created_at,
        raw_bytes: columns.iter().map(|column| column.raw_bytes).sum(),
    };
    check_size(header.raw_bytes)?;
    let body_bytes: usize = columns.iter().map(|column| column.body.len()).sum();
    header.block_bytes = header.front_bytes() + body_bytes;
    check_size(header.block_bytes as u64)?;

    Ok(put_together(&header, &variable, columns.iter().map(|column| column.body.as_slice())))
}

/// Concatenates a block from a header, directory and batches, and bodies with their zero fill.
pub(crate) fn put_together<'a>(
    header: &Header,
    variable: &[u8],
    bodies: impl Iterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut block = Vec::with_capacity(header.block_bytes);
    header.write(&mut block);
    debug_assert_eq!(block.len(), HEADER_BYTES);
    block.extend_from_slice(variable);
    block.resize(block.len().next_multiple_of(8), 0);
    let checksum = XxHash3_64::oneshot(&block);
    block.extend_from_slice(&checksum.to_le_bytes());
    bodies.for_each(|body| block.extend_from_slice(body));
    debug_assert_eq!(block.len(), header.block_bytes);
    block
}

/// Assigns each column with nulls its validity section, or the index of an earlier column with an
/// equal one: columns that are set together are null together.
fn assign_validity(columns: &mut [EncodedColumn]) {
    let mut owners: HashMap<Vec<u8>, usize> = HashMap::new();
    for (index, column) in columns.iter_mut().enumerate() {
        let Some(section) = column.validity.take() else { continue };
        if section.len() < SHARED_BYTES_MIN {
            column.push_validity(&section);
        } else if let Some(&owner) = owners.get(&section) {
            column.share_validity(owner);
        } else {
            column.push_validity(&section);
            owners.insert(section, index);
        }
    }
}
