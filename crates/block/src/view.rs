//! Reads a row block from borrowed bytes.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hadal_encoding::{Bitmap, Cursor, Decompressed, EncodingError, kernels};
use hadal_types::limits::BLOCK_BYTES_MAX;
use hadal_types::{ColumnName, Kind, Logical, Micros};
use twox_hash::XxHash3_64;

use crate::data::{ColumnData, Values};
use crate::directory::{Encoding, Entry, Zone};
use crate::error::{BlockError, BlockRegion};
use crate::header::{self, BatchRows, CHECKSUM_BYTES, HEADER_BYTES, Header};
use crate::weighted_sums::WeightedSums;

mod numbers;
mod streams;
mod strings;

use streams::Streams;

pub use numbers::{CodedNumbers, NumbersView};
pub use strings::StringsView;

/// A row block in borrowed bytes. Parsing reads only the front.
#[derive(Clone, Debug)]
pub struct BlockView<'a> {
    bytes: &'a [u8],
    header: Header,
    columns: Vec<ColumnView<'a>>,
    batches: Vec<BatchRows>,
}

/// One row block column (RBC): one kind of one column name.
#[derive(Clone, Debug)]
pub struct ColumnView<'a> {
    pub(crate) entry: Entry,
    rows: usize,
    /// The body and its zero fill.
    body: &'a [u8],
    /// The decompressed body of a cold column, filled at first use and dropped with the view.
    thawed: Option<Arc<OnceLock<Decompressed>>>,
    /// The earlier RBC that has the validity section.
    validity_owner: Option<Arc<ColumnView<'a>>>,
}

impl<'a> BlockView<'a> {
    /// Reads and checks the front of a block that fills all of `bytes`. Bodies are not read: call
    /// [`ColumnView::verify`] before the first use of each. Cost: O(columns).
    ///
    /// # Errors
    /// When `bytes` are not a block that this release reads.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BlockError> {
        let header = Header::read(bytes)?;
        let front = BlockRegion::Front;
        let (front_bytes, mut bodies) =
            bytes.split_at_checked(header.front_bytes()).unwrap_or((bytes, &[]));
        let Some((covered, checksum)) = front_bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(BlockError::Checksum(front));
        };
        if u64::from_le_bytes(*checksum) != XxHash3_64::oneshot(covered) {
            return Err(BlockError::Checksum(front));
        }
        let mut cursor = Cursor::new(covered, "the front of a row block");
        cursor.take(HEADER_BYTES).map_err(front.of())?;
        let directory = cursor.take(header.directory_bytes).map_err(front.of())?;
        let columns = read_columns(directory, &header, &mut bodies)?;
        let batches = cursor.take(header.batches_bytes).map_err(front.of())?;
        let batches = header::read_batches(batches, &header)?;
        let fill = cursor.rest().iter().all(|&byte| byte == 0);
        front.check(fill, || "its fill is not zero".to_owned())?;
        front.check(bodies.is_empty(), || format!("{} bytes too many", bodies.len()))?;
        let block = Self { bytes, header, columns, batches };
        block.check_time()?;
        Ok(block)
    }

    fn check_time(&self) -> Result<(), BlockError> {
        let column = self.time_column();
        let (min, max) = (self.header.time_min.0, self.header.time_max.0);
        let is_time = column.logical() == Logical::Time && column.null_count() == 0;
        let same = matches!(column.zone(), Zone::Decimals { min: zone_min, max: zone_max, .. }
            if zone_min == min && zone_max == max);
        column.entry.region().check(is_time && same, || {
            format!("it is no time column from {min} to {max} without nulls")
        })
    }

    pub(crate) const fn header(&self) -> &Header {
        &self.header
    }

    /// All bytes of the block.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Rows, 1 to 65,536.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.header.rows
    }

    /// The sample factor n: one row in n was kept when the block, or the blocks it was merged from,
    /// were subsampled; 1 if all were kept. The rows' weights, not this factor, say how many rows
    /// each stands for.
    #[must_use]
    pub const fn kept_one_in(&self) -> u16 {
        self.header.kept_one_in
    }

    /// The first and the last time, both inclusive.
    #[must_use]
    pub const fn time_range(&self) -> (Micros, Micros) {
        (self.header.time_min, self.header.time_max)
    }

    /// When the block was made.
    #[must_use]
    pub const fn created_at(&self) -> Micros {
        self.header.created_at
    }

    /// Bytes of the values without any encoding.
    #[must_use]
    pub const fn raw_bytes(&self) -> u64 {
        self.header.raw_bytes
    }

    /// All RBCs, ascending by name and kind.
    #[must_use]
    pub fn columns(&self) -> &[ColumnView<'a>] {
        &self.columns
    }

    /// The RBC of this name and kind.
    #[must_use]
    pub fn column(&self, name: &str, kind: Kind) -> Option<&ColumnView<'a>> {
        let key = |column: &ColumnView<'_>| {
            column.name().as_str().cmp(name).then(column.kind().cmp(&kind))
        };
        self.columns.get(self.columns.binary_search_by(key).ok()?)
    }

    /// The RBC of the rows' times.
    #[must_use]
    pub fn time_column(&self) -> &ColumnView<'a> {
        &self.columns[self.header.time_column]
    }

    /// The batches whose rows can still be revoked, in the order of their rows.
    #[must_use]
    pub fn batches(&self) -> &[BatchRows] {
        &self.batches
    }

    /// The checksum of the front, which covers the checksums of all RBCs, the batches, and the time
    /// when the block was made: blocks that differ in any of these have different ones, but for one
    /// pair in 2^64.
    #[must_use]
    pub fn front_checksum(&self) -> u64 {
        let front = self.bytes.get(..self.header.front_bytes());
        let checksum = front.and_then(|front| front.last_chunk::<CHECKSUM_BYTES>());
        checksum.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Verifies the checksums of all RBCs.
    ///
    /// # Errors
    /// [`BlockError::Checksum`] names the first altered RBC.
    pub fn verify(&self) -> Result<(), BlockError> {
        self.columns.iter().try_for_each(ColumnView::verify_body)
    }

    /// Verifies the checksums of all RBCs, each once. Returns for each RBC whether its bytes, and
    /// those of its validity, are unaltered.
    #[must_use]
    pub fn verify_each(&self) -> Vec<Result<(), BlockError>> {
        let bodies: Vec<_> = self.columns.iter().map(ColumnView::verify_body).collect();
        let with_validity = |(column, body): (&ColumnView<'_>, &Result<(), BlockError>)| {
            let owner = column.validity_of().and_then(|owner| bodies.get(owner));
            owner.map_or(Ok(()), Clone::clone).and_then(|()| body.clone())
        };
        self.columns.iter().zip(&bodies).map(with_validity).collect()
    }
}

fn read_columns<'a>(
    directory: &[u8],
    header: &Header,
    bodies: &mut &'a [u8],
) -> Result<Vec<ColumnView<'a>>, BlockError> {
    let mut cursor = Cursor::new(directory, "the directory");
    let mut columns: Vec<ColumnView<'a>> = Vec::new();
    let mut value_bytes = 0usize;
    for _ in 0..header.columns {
        let entry = Entry::read(&mut cursor, header.rows)?;
        if let Some(ColumnView { entry: before, .. }) = columns.last() {
            let ascends = (&before.name, before.kind) < (&entry.name, entry.kind);
            entry.region().check(ascends, || format!("it comes after {}", before.region()))?;
        }
        let (version, needed) = (header.encoding_version, entry.version());
        entry.region().check(needed <= version, || {
            let name = entry.encoding.name();
            format!("encoding {name} is not of version {version}, expected {needed}")
        })?;
        // The bodies of warm columns are present, so this limits what decompression allocates.
        value_bytes = value_bytes.saturating_add(entry.value_bytes());
        let fits = entry.frame_bytes.is_none() || value_bytes <= BLOCK_BYTES_MAX;
        entry.region().check(fits, || format!("thawed, the block has {value_bytes} bytes"))?;
        let need = entry.body_bytes().next_multiple_of(8);
        let Some((body, rest)) = bodies.split_at_checked(need) else {
            let reason = format!("its body has {need} bytes, {} are left", bodies.len());
            return Err(BlockError::Corrupt { region: entry.region(), reason });
        };
        *bodies = rest;
        let validity_owner = validity_owner(&entry, &columns)?;
        let thawed = entry.frame_bytes.map(|_| Arc::default());
        columns.push(ColumnView { entry, rows: header.rows, body, thawed, validity_owner });
    }
    cursor.end().map_err(BlockRegion::Front.of())?;
    Ok(columns)
}

/// The earlier column that holds an entry's validity in a section of its own.
fn validity_owner<'a>(
    entry: &Entry,
    columns: &[ColumnView<'a>],
) -> Result<Option<Arc<ColumnView<'a>>>, BlockError> {
    let Some(index) = entry.validity_of else { return Ok(None) };
    let owner = columns.get(index).filter(|owner| owner.entry.has_validity());
    let owner = owner.filter(|owner| owner.entry.nulls == entry.nulls).cloned().map(Arc::new);
    let is_some = owner.is_some();
    entry.region().check(is_some, || format!("RBC {index} does not tell its nulls"))?;
    Ok(owner)
}

impl<'a> ColumnView<'a> {
    /// The column's name.
    #[must_use]
    pub const fn name(&self) -> &ColumnName {
        &self.entry.name
    }

    /// The kind of this part of the column.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.entry.kind
    }

    /// The logical type of the numbers; plain for other kinds.
    #[must_use]
    pub const fn logical(&self) -> Logical {
        self.entry.logical
    }

    /// The encoding's display name: `dictionary`, `decimals: runs` ... For cold decimals, the name
    /// omits the form.
    #[must_use]
    pub fn encoding_name(&self) -> &'static str {
        match self.entry.encoding {
            Encoding::Decimals { .. } if !self.is_cold() => numbers::decimals_name(self.body),
            encoding => encoding.name(),
        }
    }

    /// Bytes of the body, with its zero fill.
    #[must_use]
    pub const fn encoded_bytes(&self) -> usize {
        self.body.len()
    }

    /// Whether the values are stored as one frame, which is decompressed at the first access.
    #[must_use]
    pub const fn is_cold(&self) -> bool {
        self.entry.frame_bytes.is_some()
    }

    /// Bytes of the body if it were not cold: the bytes that a scan reads in memory.
    #[must_use]
    pub fn warm_bytes(&self) -> usize {
        let values = Entry { frame_bytes: None, ..self.entry.clone() };
        values.body_bytes().next_multiple_of(8)
    }

    /// Rows of the block, null rows included.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Rows without a value in this part.
    #[must_use]
    pub const fn null_count(&self) -> usize {
        self.entry.nulls
    }

    /// Whether the streams omit null rows.
    #[must_use]
    pub const fn is_compact(&self) -> bool {
        self.entry.is_compact
    }

    /// Whether strings are stored one after another, without a dictionary.
    #[must_use]
    pub const fn holds_texts(&self) -> bool {
        matches!(self.entry.encoding, Encoding::Pages | Encoding::Templates { .. })
    }

    /// The error for bytes of this column that do not decode.
    #[must_use]
    pub fn corrupt(&self, error: EncodingError) -> BlockError {
        self.entry.region().of()(error)
    }

    /// The column's zone map, known without decoding.
    #[must_use]
    pub fn zone(&self) -> Zone {
        self.entry.zone()
    }

    /// The column's weighted sums, known without decoding. The parts of plain decimals have them in
    /// blocks of enough rows that have a `sample_rate`.
    #[must_use]
    pub const fn weighted_sums(&self) -> Option<WeightedSums> {
        self.entry.weighted_sums()
    }

    /// Verifies the checksum, and that of the body which holds the validity. Cost: O(bytes). Call
    /// it once, before the first use.
    ///
    /// # Errors
    /// [`BlockError::Checksum`] when the bytes were altered.
    pub fn verify(&self) -> Result<(), BlockError> {
        if let Some(owner) = &self.validity_owner {
            owner.verify_body()?;
        }
        self.verify_body()
    }

    /// The body as it is stored, with its zero fill.
    pub(crate) const fn body(&self) -> &'a [u8] {
        self.body
    }

    pub(crate) fn verify_body(&self) -> Result<(), BlockError> {
        if XxHash3_64::oneshot(self.body) == self.entry.checksum {
            return Ok(());
        }
        Err(BlockError::Checksum(self.entry.region()))
    }

    /// Which rows have a value; `None` if all have one.
    ///
    /// # Errors
    /// When the bytes do not decode.
    pub fn validity(&self) -> Result<Option<Bitmap>, BlockError> {
        if let Some(owner) = &self.validity_owner {
            return owner.validity();
        }
        if self.entry.nulls == 0 {
            return Ok(None);
        }
        let region = self.entry.region();
        let validity = Bitmap::parse(self.validity_section(), self.rows).map_err(region.of())?;
        let (nulls, expected) = (self.rows - validity.count_ones(), self.entry.nulls);
        region.check(nulls == expected, || format!("{nulls} nulls, expected {expected}"))?;
        Ok(Some(validity))
    }

    /// The index of an earlier RBC of the block whose validity this RBC shares, so that a caller
    /// need not decode the bitmap twice. `None` if it shares none.
    #[must_use]
    pub(crate) const fn validity_of(&self) -> Option<usize> {
        self.entry.validity_of
    }

    /// Decodes all rows.
    ///
    /// # Errors
    /// When the bytes do not decode, although the checksum may be right.
    pub fn decode(&self) -> Result<ColumnData<'_>, BlockError> {
        self.decode_where(&|_| true)
    }

    /// Decodes all rows, but leaves compressed texts empty if `is_wanted` returns false for the
    /// range of their rows.
    ///
    /// # Errors
    /// When the bytes do not decode, although the checksum may be right.
    pub fn decode_where(
        &self,
        is_wanted: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<ColumnData<'_>, BlockError> {
        let validity = self.validity()?;
        let streams = self.streams()?;
        let values = match &validity {
            Some(present) if self.entry.is_compact => decode_compact(&streams, present, is_wanted)?,
            _ => streams.decode(is_wanted)?,
        };
        let (kind, logical) = (self.kind(), self.logical());
        Ok(ColumnData { kind, logical, validity, values })
    }

    /// The streams of values, decompressed if the column is cold.
    pub(crate) fn streams(&self) -> Result<Streams<'_>, BlockError> {
        let nulls = if self.entry.is_compact { self.entry.nulls } else { 0 };
        let mut rest = self.value_bytes()?;
        let sections = self.entry.sections.map(|length| {
            let (section, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = after;
            section
        });
        Ok(Streams { entry: &self.entry, count: self.rows - nulls, sections })
    }

    /// The sections before the validity section.
    fn value_bytes(&self) -> Result<&[u8], BlockError> {
        let (Some(thawed), Some(frame_bytes)) = (&self.thawed, self.entry.frame_bytes) else {
            return Ok(&self.body[..self.entry.value_bytes()]);
        };
        if let Some(thawed) = thawed.get() {
            return Ok(thawed);
        }
        let frame = Decompressed::new(&self.body[..frame_bytes], self.entry.value_bytes());
        let frame = frame.map_err(self.entry.region().of())?;
        Ok(thawed.get_or_init(|| frame))
    }

    /// The validity section, empty if there is none. It is never cold.
    pub(crate) fn validity_section(&self) -> &'a [u8] {
        let length = self.entry.sections[self.entry.value_sections()];
        let end = self.entry.body_bytes();
        &self.body[end - length..end]
    }
}

/// Decodes a column that holds only the rows with a value, and expands the values to their rows.
fn decode_compact<'v>(
    streams: &Streams<'v>,
    present: &Bitmap,
    is_wanted: &dyn Fn(Range<usize>) -> bool,
) -> Result<Values<'v>, BlockError> {
    let rows = LazyCell::new(|| {
        let mut rows = Vec::new();
        kernels::indexes_of(present.words(), &mut rows);
        rows
    });
    let rows_of = |values: Range<usize>| {
        let rows = rows.get(values).unwrap_or_default();
        rows.first()
            .zip(rows.last())
            .map_or(0..0, |(&first, &last)| first as usize..last as usize + 1)
    };
    let values = streams.decode(&|values| is_wanted(rows_of(values)))?;
    Ok(values.spread(present, &rows))
}
