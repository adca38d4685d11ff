//! Recompresses a block for the cold tier: each column's sections of values become one zstd frame,
//! if that saves an eighth. Values are not decoded, but texts that were compressed by themselves
//! are decompressed first, because one frame of all texts takes fewer bytes.
//!
//! The parts that are read to skip a block or a column stay as they are: header, directory, zones
//! and validity.

use std::borrow::Cow;

use hadal_encoding::zstd_frame;
use hadal_types::limits::BLOCK_BYTES_MAX;
use twox_hash::XxHash3_64;

use crate::assemble::put_together;
use crate::directory::Entry;
use crate::encode::check_size;
use crate::error::BlockError;
use crate::header::{COLD_VERSION, write_batches};
use crate::view::{BlockView, ColumnView};

/// A column becomes cold if that saves one byte in 8.
const SAVED_PART: usize = 8;
/// A block becomes cold if that saves one byte in 64: otherwise rewriting it gains nothing.
const BLOCK_SAVED_PART: usize = 64;

/// Which columns become cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chill {
    /// Columns that take an eighth fewer bytes when cold, if they save enough of the block.
    WhereItSaves,
    /// All columns, even those that take more bytes: so every column can be tested cold.
    All,
}

/// Makes the block with more cold columns: the same rows in the same order, and the same batches.
/// `None` if no further column becomes cold, or if that saves hardly anything of the block.
/// Verifies checksums on the way.
///
/// # Errors
/// When the block is corrupt, or too large with all columns cold.
pub fn chill(block: &BlockView<'_>, which: Chill) -> Result<Option<Vec<u8>>, BlockError> {
    // With plain texts in place of compressed ones, the decompressed block must still fit the
    // limit.
    let thawed: usize = block.columns().iter().map(|column| column.entry.value_bytes()).sum();
    let mut spare_bytes = BLOCK_BYTES_MAX.saturating_sub(thawed);
    let mut columns: Vec<(Entry, Cow<'_, [u8]>)> = Vec::with_capacity(block.columns().len());
    let mut chilled = 0;
    for column in block.columns() {
        let cold =
            if column.is_cold() { None } else { chill_column(column, which, &mut spare_bytes)? };
        chilled += usize::from(cold.is_some());
        columns.push(match cold {
            Some((entry, body)) => (entry, body.into()),
            None => (column.entry.clone(), column.body().into()),
        });
    }
    if chilled == 0 {
        return Ok(None);
    }
    let mut variable = Vec::new();
    columns.iter().for_each(|(entry, _)| entry.write(&mut variable));
    let directory_bytes = variable.len();
    write_batches(block.batches(), &mut variable);
    let mut header = *block.header();
    header.encoding_version = header.encoding_version.max(COLD_VERSION);
    header.directory_bytes = directory_bytes;
    header.batches_bytes = variable.len() - directory_bytes;
    let bodies: usize = columns.iter().map(|(_, body)| body.len()).sum();
    header.block_bytes = header.front_bytes() + bodies;
    check_size(header.block_bytes as u64)?;
    let before = block.bytes().len();
    if which == Chill::WhereItSaves && header.block_bytes > before - before / BLOCK_SAVED_PART {
        return Ok(None);
    }
    Ok(Some(put_together(&header, &variable, columns.iter().map(|(_, body)| &body[..]))))
}

/// The column's cold entry and body; `None` if they do not save enough.
pub(crate) fn chill_column(
    column: &ColumnView<'_>,
    which: Chill,
    spare_bytes: &mut usize,
) -> Result<Option<(Entry, Vec<u8>)>, BlockError> {
    column.verify_body()?;
    let warm = &column.entry;
    let mut entry = warm.clone();
    let sections = &column.streams()?.plain_sections()?[..warm.value_sections()];
    for (length, section) in entry.sections.iter_mut().zip(sections) {
        *length = section.len();
    }
    let Some(left) = (*spare_bytes + warm.value_bytes()).checked_sub(entry.value_bytes()) else {
        return Ok(None);
    };
    let Some(mut body) = zstd_frame::compress_frame(&sections.concat()) else { return Ok(None) };
    entry.frame_bytes = Some(body.len());
    body.extend_from_slice(column.validity_section());
    body.resize(body.len().next_multiple_of(8), 0);
    let before = column.body().len();
    if which == Chill::WhereItSaves && body.len() > before - before / SAVED_PART {
        return Ok(None);
    }
    *spare_bytes = left;
    entry.checksum = XxHash3_64::oneshot(&body);
    Ok(Some((entry, body)))
}
