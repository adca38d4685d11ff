//! The fixed fields at the start of a row block, and the list of batches: `spec/row-block.md`
//! sections 1 and 3.

use hadal_encoding::Cursor;
use hadal_encoding::cursor::{write_length, write_varint};
use hadal_types::limits::{
    BLOCK_BYTES_MAX, BLOCK_COLUMNS_MAX, BLOCK_ROWS_MAX, NAME_BYTES_MAX, SAMPLE_ONE_IN_MAX,
};
use hadal_types::{BatchId, Micros};

use crate::error::{BlockError, BlockRegion};

/// The first bytes of a block, but for the version of the frame.
const MAGIC: [u8; 7] = *b"\x89HDLBLK";
/// The version of header, directory and batches; it follows the magic.
const FRAME_VERSION: u8 = 1;
/// The newest version of the encodings; older ones are read.
pub(crate) const ENCODING_VERSION: u16 = 6;
/// The version that new blocks have while no column is cold.
pub(crate) const WARM_VERSION: u16 = 3;
/// The version that cold columns require.
pub(crate) const COLD_VERSION: u16 = 4;
/// The version that subsampled blocks require.
pub(crate) const SAMPLED_VERSION: u16 = 5;
/// The version that weighted sums require.
pub(crate) const WEIGHTED_VERSION: u16 = 6;
/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 72;
/// Bytes of the checksum after the front.
pub(crate) const CHECKSUM_BYTES: usize = 8;

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The version of the encodings that the block requires.
    pub(crate) encoding_version: u16,
    /// The sample factor n: one row in n was kept when the block was subsampled; 1 if all were
    /// kept.
    pub(crate) kept_one_in: u16,
    pub(crate) block_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) time_column: usize,
    pub(crate) batches: usize,
    pub(crate) directory_bytes: usize,
    pub(crate) batches_bytes: usize,
    pub(crate) time_min: Micros,
    pub(crate) time_max: Micros,
    pub(crate) created_at: Micros,
    pub(crate) raw_bytes: u64,
}

impl Header {
    /// Bytes up to the end of the front's checksum, where the bodies begin.
    pub(crate) const fn front_bytes(&self) -> usize {
        let unpadded = HEADER_BYTES + self.directory_bytes + self.batches_bytes;
        unpadded.next_multiple_of(8) + CHECKSUM_BYTES
    }

    /// Appends the header.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        out.push(FRAME_VERSION);
        out.extend_from_slice(&self.encoding_version.to_le_bytes());
        let kept = if self.kept_one_in > 1 { self.kept_one_in } else { 0 };
        out.extend_from_slice(&kept.to_le_bytes());
        for length in [
            self.block_bytes,
            self.rows,
            self.columns,
            self.time_column,
            self.batches,
            self.directory_bytes,
            self.batches_bytes,
        ] {
            out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        }
        for time in [self.time_min, self.time_max, self.created_at] {
            out.extend_from_slice(&time.0.to_le_bytes());
        }
        out.extend_from_slice(&self.raw_bytes.to_le_bytes());
    }

    /// Reads and checks the header of a block that fills all of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, BlockError> {
        let region = BlockRegion::Front;
        let mut cursor = Cursor::new(bytes, "a row block header");
        let encoding_version = read_versions(&mut cursor)?;
        let kept_one_in = read_kept(&mut cursor, encoding_version)?;
        let mut length = || -> Result<usize, BlockError> {
            let value = u32::from_le_bytes(cursor.array().map_err(region.of())?);
            Ok(usize::try_from(value).unwrap_or(usize::MAX))
        };
        let [block_bytes, rows, columns] = [length()?, length()?, length()?];
        let [time_column, batches] = [length()?, length()?];
        let [directory_bytes, batches_bytes] = [length()?, length()?];
        let mut word = || cursor.array::<8>().map_err(region.of());
        let [time_min, time_max, created_at] =
            [word()?, word()?, word()?].map(|bytes| Micros(i64::from_le_bytes(bytes)));
        let raw_bytes = u64::from_le_bytes(word()?);
        let header = Self {
            encoding_version,
            kept_one_in,
            block_bytes,
            rows,
            columns,
            time_column,
            batches,
            directory_bytes,
            batches_bytes,
            time_min,
            time_max,
            created_at,
            raw_bytes,
        };
        header.check(bytes.len())?;
        Ok(header)
    }

    fn check(&self, bytes: usize) -> Result<(), BlockError> {
        let within = |what: &str, value: usize, least: usize, most: usize| {
            BlockRegion::Front.check((least..=most).contains(&value), || {
                format!("{what} is {value}, expected {least} to {most}")
            })
        };
        within("its length", self.block_bytes, bytes, bytes)?;
        within("its length", self.block_bytes, HEADER_BYTES + CHECKSUM_BYTES, BLOCK_BYTES_MAX)?;
        within("rows", self.rows, 1, BLOCK_ROWS_MAX)?;
        within("columns", self.columns, 1, BLOCK_COLUMNS_MAX)?;
        within("the time column's index", self.time_column, 0, self.columns - 1)?;
        // Rows that can still be revoked are never sampled.
        let batches_max = if self.kept_one_in > 1 { 0 } else { self.rows };
        within("batches", self.batches, 0, batches_max)?;
        within("the directory's length", self.directory_bytes, 0, bytes)?;
        within("the batches' length", self.batches_bytes, 0, bytes)?;
        within("the front's length", self.front_bytes(), 0, bytes)?;
        let raw_bytes = usize::try_from(self.raw_bytes).unwrap_or(usize::MAX);
        within("raw bytes", raw_bytes, 0, BLOCK_BYTES_MAX)
    }
}

/// Checks magic and versions; returns the version of the encodings.
fn read_versions(cursor: &mut Cursor<'_>) -> Result<u16, BlockError> {
    let region = BlockRegion::Front;
    let start = cursor.rest();
    let magic: [u8; 7] = cursor.array().map_err(region.of())?;
    if magic != MAGIC {
        return Err(BlockError::Magic(start[..8.min(start.len())].to_vec()));
    }
    let version = |what, version, newest| match (1..=newest).contains(&version) {
        true => Ok(()),
        false => Err(BlockError::Version { what, version, newest }),
    };
    let frame = cursor.u8().map_err(region.of())?;
    version("row block frame", frame.into(), FRAME_VERSION.into())?;
    let encoding = u16::from_le_bytes(cursor.array().map_err(region.of())?);
    version("row block encoding", encoding, ENCODING_VERSION)?;
    Ok(encoding)
}

/// Reads the sample factor.
fn read_kept(cursor: &mut Cursor<'_>, encoding_version: u16) -> Result<u16, BlockError> {
    let region = BlockRegion::Front;
    let kept = u16::from_le_bytes(cursor.array().map_err(region.of())?);
    let most = if encoding_version < SAMPLED_VERSION { 0 } else { SAMPLE_ONE_IN_MAX };
    region.check(kept != 1 && kept <= most, || {
        format!("one row in {kept} was kept, expected 0 or 2 to {most}")
    })?;
    Ok(kept.max(1))
}

/// The rows of one batch that can still be revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRows {
    /// The batch's id.
    pub id: BatchId,
    /// A hash of the bytes that its sender sent: different bytes with the same id are a conflict.
    pub content_hash: u64,
    /// Its first row in the block.
    pub first_row: usize,
    /// How many rows of it are in the block, at least one.
    pub rows: usize,
}

/// Appends the list of batches: ascending, without overlap.
pub(crate) fn write_batches(batches: &[BatchRows], out: &mut Vec<u8>) {
    let mut end = 0;
    for batch in batches {
        let id = batch.id.as_str().as_bytes();
        out.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(id);
        out.extend_from_slice(&batch.content_hash.to_le_bytes());
        write_length(batch.first_row - end, out);
        write_varint(batch.rows as u64, out);
        end = batch.first_row + batch.rows;
    }
}

/// Reads the list of batches.
pub(crate) fn read_batches(bytes: &[u8], header: &Header) -> Result<Vec<BatchRows>, BlockError> {
    let region = BlockRegion::Front;
    let mut cursor = Cursor::new(bytes, "batches");
    let mut batches = Vec::new();
    let mut end = 0;
    for _ in 0..header.batches {
        let length = cursor.u8().map_err(region.of())?;
        let id = cursor.take(length.into()).map_err(region.of())?;
        let Some(id) = std::str::from_utf8(id).ok().and_then(BatchId::new) else {
            let reason = format!("batch id {:?}", String::from_utf8_lossy(id));
            return Err(BlockError::Corrupt { region, reason });
        };
        let content_hash = u64::from_le_bytes(cursor.array().map_err(region.of())?);
        let mut rows = |most| cursor.length("rows of a batch", most).map_err(region.of());
        let first_row = end + rows(header.rows - end)?;
        let rows = rows(header.rows - first_row)?;
        region.check(rows > 0, || format!("batch {id} has no rows"))?;
        end = first_row + rows;
        batches.push(BatchRows { id, content_hash, first_row, rows });
    }
    cursor.end().map_err(region.of())?;
    Ok(batches)
}

const _: () = assert!(NAME_BYTES_MAX <= u8::MAX as usize, "a name's length is one byte");
