//! One row block as a leaf holds it.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use hadal_block::{BlockError, BlockRegion, BlockView, ColumnView};
use hadal_scan::InternedIds;
use hadal_store::{BlockBytes, BlockNumber, Sequence};
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{ColumnName, Kind, Logical, Micros};

use crate::limits::Hold;
use crate::table::string_ids::StringIds;

/// A row block that queries can see.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: BlockBytes,
    /// Its share of the fresh bytes, held while it is not in a segment.
    _hold: Option<Hold>,
    /// The copy that survives a crash.
    pub(crate) origin: Origin,
    pub(crate) rows: usize,
    pub(crate) raw_bytes: u64,
    /// The first and the last time, both inclusive.
    pub(crate) time_range: (Micros, Micros),
    pub(crate) created_at: Micros,
    /// Whether it has batches that may still be revoked, and so keeps arrival order.
    pub(crate) has_batches: bool,
    /// The sample factor: one of this many rows was kept; 1 if the block was never sampled.
    pub(crate) kept_one_in: u16,
    pub(crate) time_column: ColumnName,
    pub(crate) columns: Vec<BlockColumn>,
    /// Per column: 1 + the segment's fault count when its checksum was verified, or 0.
    verified: Box<[AtomicU32]>,
    /// Per column: the ids of its strings, once requested.
    interned: Box<[OnceLock<Option<InternedIds>>]>,
    /// Whether a part of it is cold; then all parts that save enough are.
    is_cold: bool,
    /// Whether an attempt showed that the cold form is hardly smaller.
    is_incompressible: AtomicBool,
    /// Whether a part of it could not be read.
    damaged: AtomicBool,
    /// Whether its bytes, even if valid, differ from the bytes that were written.
    has_checksum_mismatch: AtomicBool,
    /// Whether its rows are being archived.
    archiving: AtomicBool,
    is_in_order: OnceLock<bool>,
}

/// The copy of a block that survives a crash.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The log frames that hold its rows.
    Log(Vec<Sequence>),
    /// A block in a segment, named by the manifest.
    Segment(BlockNumber),
}

/// The facts of one row block column that a catalog needs.
#[derive(Clone, Debug)]
pub(crate) struct BlockColumn {
    pub(crate) name: ColumnName,
    pub(crate) kind: Kind,
    pub(crate) logical: Logical,
    /// Rows that have a value.
    pub(crate) rows: u64,
    /// Bytes of the encoded column.
    pub(crate) bytes: u64,
}

impl Origin {
    /// Whether the only copy is in the log.
    pub(crate) fn is_log(&self) -> bool {
        matches!(self, Self::Log(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(frames) => write!(formatter, "of {} log frames", frames.len()),
            Self::Segment(number) => number.fmt(formatter),
        }
    }
}

impl Block {
    /// Reads the header and directory of a block.
    pub(crate) fn new(bytes: BlockBytes, origin: Origin) -> Result<Self, BlockError> {
        let view = BlockView::parse(&bytes)?;
        let columns: Vec<BlockColumn> = view.columns().iter().map(BlockColumn::new).collect();
        let interned = columns.iter().map(|_| OnceLock::new()).collect();
        let verified = columns.iter().map(|_| AtomicU32::new(0)).collect();
        Ok(Self {
            origin,
            rows: view.rows(),
            raw_bytes: view.raw_bytes(),
            time_range: view.time_range(),
            created_at: view.created_at(),
            has_batches: !view.batches().is_empty(),
            kept_one_in: view.kept_one_in(),
            time_column: view.time_column().name().clone(),
            is_cold: view.columns().iter().any(ColumnView::is_cold),
            is_incompressible: AtomicBool::new(false),
            columns,
            verified,
            interned,
            damaged: AtomicBool::new(false),
            has_checksum_mismatch: AtomicBool::new(false),
            archiving: AtomicBool::new(false),
            is_in_order: OnceLock::new(),
            bytes,
            _hold: None,
        })
    }

    /// Attaches the hold that counts the block as fresh as long as it lives.
    pub(crate) fn holding(self, hold: Hold) -> Self {
        Self { _hold: Some(hold), ..self }
    }

    /// Whether it takes memory of its own, and is not read from disk or the log.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.bytes.is_in_memory()
    }

    /// The bytes, unchecked.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the block for a scan.
    pub(crate) fn view(&self) -> Result<BlockView<'_>, BlockError> {
        if self.has_checksum_mismatch.load(Ordering::Relaxed) {
            let reason = "its bytes are not those that were written".to_owned();
            return Err(BlockError::Corrupt { region: BlockRegion::Front, reason });
        }
        BlockView::parse(&self.bytes)
    }

    /// Notes that its bytes differ from the bytes that were written. From then on nothing of it can
    /// be read.
    pub(crate) fn note_checksum_mismatch(&self) {
        self.has_checksum_mismatch.store(true, Ordering::Relaxed);
    }

    /// Notes that a part of it cannot be read; returns true the first time. Queries still scan the
    /// readable parts; merges leave the block alone.
    pub(crate) fn note_damaged(&self) -> bool {
        self.bytes.note_damaged();
        !self.damaged.swap(true, Ordering::Relaxed)
    }

    /// A description of where its bytes are stored.
    pub(crate) fn describe_location(&self) -> String {
        self.bytes.describe_location()
    }

    /// Whether it may be rewritten because of its age. Its batches can no longer be revoked, and it
    /// is in a segment, so no merge of fresh rows takes it.
    pub(crate) fn may_be_rewritten(&self) -> bool {
        !self.has_batches && self.may_be_moved()
    }

    /// Whether it may be written elsewhere unchanged, with its batches: it is in a segment.
    pub(crate) fn may_be_moved(&self) -> bool {
        !self.origin.is_log() && self.may_be_replaced()
    }

    /// Whether another block may replace it: it is sound and not being archived.
    pub(crate) fn may_be_replaced(&self) -> bool {
        !self.is_damaged() && !self.is_archiving()
    }

    /// Whether its rows are being archived, so that nothing else may change it.
    pub(crate) fn is_archiving(&self) -> bool {
        self.archiving.load(Ordering::SeqCst)
    }

    pub(crate) fn note_archiving(&self, is_archiving: bool) {
        self.archiving.store(is_archiving, Ordering::SeqCst);
    }

    /// Its number, once it is in a segment.
    pub(crate) fn number(&self) -> Option<BlockNumber> {
        match self.origin {
            Origin::Segment(number) => Some(number),
            Origin::Log(_) => None,
        }
    }

    /// Whether recompressing it may save space: this process has not tried yet.
    pub(crate) fn may_be_recompressed(&self) -> bool {
        !self.is_cold && !self.is_incompressible.load(Ordering::Relaxed)
    }

    /// Notes that recompressing it saves nothing.
    pub(crate) fn note_incompressible(&self) {
        self.is_incompressible.store(true, Ordering::Relaxed);
    }

    /// Whether damage was detected.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Whether it has many rows, all of one day and in time order; `false` also if the times cannot
    /// be read. Decodes the times on the first call.
    pub(crate) fn is_in_order(&self) -> bool {
        *self.is_in_order.get_or_init(|| {
            has_many_rows(self.rows)
                && self.view().and_then(|view| view.is_in_time_order()).unwrap_or(false)
        })
    }

    /// Encoded bytes.
    pub(crate) fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// The ids of the strings of a checked column; computed once.
    pub(crate) fn interned(
        &self,
        index: usize,
        column: &ColumnView<'_>,
        string_ids: &StringIds,
    ) -> Option<InternedIds> {
        let interned = self.interned.get(index)?;
        if let Some(interned) = interned.get() {
            return interned.clone();
        }
        let before = self.faults();
        let ids = string_ids.interned(column);
        // Ids that may stem from zeroed pages are not kept.
        if self.faults() != before {
            return None;
        }
        interned.get_or_init(|| ids).clone()
    }

    /// Marks all its bytes as verified; that holds while its segment has no faults.
    pub(crate) fn verified(self) -> Self {
        self.verified.iter().for_each(|stamp| stamp.store(1, Ordering::Relaxed));
        self
    }

    /// Notes that all its bytes were verified while its segment had this fault count.
    pub(crate) fn note_verified(&self, faults: u64) {
        let stamp = stamp(faults);
        self.verified.iter().for_each(|verified| verified.store(stamp, Ordering::Relaxed));
    }

    /// Returns the number of its segment's pages that could not be read so far and read as zeros
    /// since. A reader compares the count before its checks with the count at the end; if it
    /// changed, the results are worthless.
    pub(crate) fn faults(&self) -> u64 {
        self.bytes.faults()
    }

    /// Verifies a column's checksum, unless it was verified before and no page has failed since.
    pub(crate) fn check(&self, index: usize, column: &ColumnView<'_>) -> Result<(), BlockError> {
        let Some(verified) = self.verified.get(index) else { return column.verify() };
        let stamp = self.stamp();
        if verified.load(Ordering::Relaxed) != stamp {
            column.verify()?;
            verified.store(stamp, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Verifies the checksums of all columns, even those verified before. A column that fails is no
    /// longer trusted. Returns the first error.
    pub(crate) fn verify(&self) -> Result<(), BlockError> {
        let stamp = self.stamp();
        let each = self.view()?.verify_each();
        for (verified, outcome) in self.verified.iter().zip(&each) {
            verified.store(if outcome.is_ok() { stamp } else { 0 }, Ordering::Relaxed);
        }
        each.into_iter().collect()
    }

    /// The current value of `verified` for a column that is verified now.
    fn stamp(&self) -> u32 {
        stamp(self.faults())
    }
}

/// Whether a block has enough rows to be ordered by time and left as it is.
pub(crate) fn has_many_rows(rows: usize) -> bool {
    rows > BLOCK_ROWS_MAX / 2
}

fn stamp(faults: u64) -> u32 {
    u32::try_from(faults).unwrap_or(u32::MAX).saturating_add(1)
}

impl BlockColumn {
    fn new(column: &ColumnView<'_>) -> Self {
        Self {
            name: column.name().clone(),
            kind: column.kind(),
            logical: column.logical(),
            rows: (column.rows() - column.null_count()) as u64,
            bytes: column.encoded_bytes() as u64,
        }
    }
}
