//! The memory for scanning one block, beside the partial result: decoded columns, and the values
//! that expressions compute.
//!
//! Memory is reserved from the query's budget before it is allocated. Exceptions are pieces of at
//! most one string ([`COMPUTED_STRING_BYTES_MAX`](hadal_types::limits::COMPUTED_STRING_BYTES_MAX))
//! or one column, and the first [`SCAN_FREE_BYTES`] of each thread, which are not charged to a
//! query. The bytes that expressions compute at a time are limited ([`PIECE_BYTES_MAX`]): a block
//! with larger values is processed in pieces.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use hadal_aggregate::{QueryError, QueryErrorCode, out_of_memory};
use hadal_block::BlockError;
use hadal_query::EvalError;
use hadal_types::limits::{PIECE_BYTES_MAX, SCAN_FREE_BYTES};
use hadal_types::{MemoryReservation, Value};

/// The bytes that may always be computed at a time, even if no memory is free.
const COMPUTED_MIN: usize = SCAN_FREE_BYTES / 2;
/// The granularity of reservations, in bytes.
const DRAWN_AT_ONCE: usize = 256 << 10;

/// Why the scan of a block stops early.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// The block's bytes are damaged.
    Damaged(BlockError),
    /// The computed values of these rows exceed the limit of one piece.
    TooManyBytes,
    /// The query fails: an expression computes too long a string, or memory is short.
    Failed(Box<QueryError>),
    /// The client no longer waits for the result.
    Cancelled,
}

impl From<BlockError> for Interrupt {
    fn from(error: BlockError) -> Self {
        Self::Damaged(error)
    }
}

impl From<EvalError> for Interrupt {
    fn from(error: EvalError) -> Self {
        QueryError::from(error).into()
    }
}

impl From<QueryError> for Interrupt {
    fn from(fault: QueryError) -> Self {
        Self::Failed(Box::new(fault))
    }
}

/// The memory reserved for one block.
pub(crate) struct ScanMemory<'r> {
    held: RefCell<MemoryReservation>,
    /// The bytes reserved for the partial result.
    partial_bytes: usize,
    /// The limit of computed bytes at a time; lowered if memory is short.
    computed_max: Cell<usize>,
    /// The error that lowered the limit.
    refused: RefCell<Option<QueryError>>,
    /// The bytes of decoded columns.
    decoded: Cell<usize>,
    /// The bytes computed by expressions under way.
    computed: Cell<usize>,
    /// Whether rows are processed in pieces.
    is_splitting: Cell<bool>,
    is_cancelled: &'r dyn Fn() -> bool,
    deadline: Option<Instant>,
}

impl<'r> ScanMemory<'r> {
    /// Starts with nothing reserved from the budget of `partial`, the reservation of the partial
    /// result. At most `computed_max` bytes are computed at a time.
    pub(crate) fn new(
        partial: &MemoryReservation,
        computed_max: usize,
        is_cancelled: &'r dyn Fn() -> bool,
    ) -> Self {
        Self {
            held: RefCell::new(partial.new_empty()),
            partial_bytes: partial.bytes(),
            computed_max: Cell::new(computed_max),
            refused: RefCell::default(),
            decoded: Cell::new(0),
            computed: Cell::new(0),
            is_splitting: Cell::new(false),
            is_cancelled,
            deadline: None,
        }
    }

    /// The same memory, for a query that ends at `deadline`.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// When the query ends.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether rows are processed in pieces. If so, nothing is computed for a whole block.
    pub(crate) fn is_splitting(&self) -> bool {
        self.is_splitting.get()
    }

    /// Processes rows in pieces from now on. No computed values may remain.
    pub(crate) fn split_rows(&self) {
        self.is_splitting.set(true);
        self.computed.set(0);
    }

    /// Reserves the bytes of a decoded column.
    pub(crate) fn keep(&self, bytes: usize) -> Result<(), Interrupt> {
        self.decoded.set(self.decoded.get().saturating_add(bytes));
        self.draw()
    }

    /// Releases the bytes of all decoded columns.
    pub(crate) fn drop_decoded(&self) {
        self.decoded.set(0);
    }

    /// The bytes of decoded columns.
    pub(crate) fn decoded(&self) -> usize {
        self.decoded.get()
    }

    /// Reserves the bytes that an expression is about to compute.
    pub(crate) fn compute(&self, bytes: usize) -> Result<(), Interrupt> {
        let before = self.computed.get();
        let computed = before.saturating_add(bytes);
        if computed > self.computed_max.get() {
            return Err(Interrupt::TooManyBytes);
        }
        self.computed.set(computed);
        match self.draw() {
            // Fewer rows may fit into the memory that needs no reservation.
            Err(Interrupt::Failed(fault)) if computed > COMPUTED_MIN => {
                self.computed.set(before);
                self.computed_max.set((computed / 2).max(COMPUTED_MIN));
                self.refused.replace(Some(*fault));
                Err(Interrupt::TooManyBytes)
            }
            drawn => drawn,
        }
    }

    /// The error for a single row whose computed values are too large.
    pub(crate) fn too_much_of_one_row(&self) -> QueryError {
        let message = format!(
            "the query's expressions compute more than {PIECE_BYTES_MAX} bytes of one row: ask for \
             fewer or shorter strings"
        );
        let refused = self.refused.take();
        refused.unwrap_or_else(|| QueryError::new(QueryErrorCode::Memory, &message))
    }

    /// The bytes computed by expressions under way, for [`Self::replace_computed`].
    pub(crate) fn mark(&self) -> usize {
        self.computed.get()
    }

    /// Replaces the bytes computed since `mark` by `bytes`.
    pub(crate) fn replace_computed(&self, mark: usize, bytes: usize) -> Result<(), Interrupt> {
        self.forget(mark);
        self.compute(bytes)
    }

    /// Releases the bytes computed since `mark`.
    pub(crate) fn forget(&self, mark: usize) {
        self.computed.set(mark);
    }

    /// Checks that the client still waits for the result.
    pub(crate) fn go_on(&self) -> Result<(), Interrupt> {
        if (self.is_cancelled)() { Err(Interrupt::Cancelled) } else { Ok(()) }
    }

    fn draw(&self) -> Result<(), Interrupt> {
        let bytes = self.decoded.get().saturating_add(self.computed.get());
        let mut held = self.held.borrow_mut();
        let more = bytes.saturating_sub(SCAN_FREE_BYTES);
        if more <= held.bytes() {
            return Ok(());
        }
        self.go_on()?;
        let more = more.next_multiple_of(DRAWN_AT_ONCE);
        Ok(held.resize(more).map_err(|spent| out_of_memory(self.partial_bytes + more, spent))?)
    }
}

/// Counts the bytes of values while they are computed.
pub(crate) struct ComputedBytes<'r> {
    memory: &'r ScanMemory<'r>,
    /// Bytes not yet reserved.
    bytes: usize,
}

impl<'r> ComputedBytes<'r> {
    /// Reserves the bytes of `count` values, without their heap bytes.
    pub(crate) fn new(memory: &'r ScanMemory<'r>, count: usize) -> Result<Self, Interrupt> {
        memory.compute(count.saturating_mul(size_of::<Value>()))?;
        Ok(Self { memory, bytes: 0 })
    }

    /// Counts the heap bytes of a value.
    #[inline]
    pub(crate) fn add(&mut self, value: &Value) -> Result<(), Interrupt> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Time(_) => Ok(()),
            value => {
                self.bytes += value.heap_bytes();
                if self.bytes < DRAWN_AT_ONCE { Ok(()) } else { self.draw() }
            }
        }
    }

    /// Reserves the bytes not yet reserved.
    pub(crate) fn draw(&mut self) -> Result<(), Interrupt> {
        self.memory.compute(std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::MemoryPool;

    use super::*;

    #[test]
    fn what_is_decoded_and_computed_is_drawn_beyond_what_is_free() {
        let budget = MemoryPool::new(SCAN_FREE_BYTES + PIECE_BYTES_MAX);
        let memory = ScanMemory::new(&budget.reservation(), PIECE_BYTES_MAX, &|| false);
        memory.keep(SCAN_FREE_BYTES).expect("free");
        assert_eq!(budget.reserved(), 0);
        let mark = memory.mark();
        memory.compute(PIECE_BYTES_MAX).expect("one piece");
        assert_eq!(budget.reserved(), PIECE_BYTES_MAX);
        assert!(matches!(memory.compute(1), Err(Interrupt::TooManyBytes)));
        memory.replace_computed(mark, 1).expect("less");
        memory.keep(PIECE_BYTES_MAX - 1).expect("as much as before");
        let refused = memory.keep(SCAN_FREE_BYTES + 1);
        assert!(matches!(refused, Err(Interrupt::Failed(_))), "{refused:?}");
        drop(memory);
        assert_eq!(budget.reserved(), 0);
    }

    #[test]
    fn where_little_is_free_less_is_computed_at_a_time() {
        let budget = MemoryPool::new(DRAWN_AT_ONCE);
        let memory = ScanMemory::new(&budget.reservation(), PIECE_BYTES_MAX, &|| false);
        assert!(matches!(memory.compute(4 * SCAN_FREE_BYTES), Err(Interrupt::TooManyBytes)));
        assert!(matches!(memory.compute(2 * SCAN_FREE_BYTES + 1), Err(Interrupt::TooManyBytes)));
        memory.compute(SCAN_FREE_BYTES + DRAWN_AT_ONCE).expect("all that is free");
        let memory = ScanMemory::new(&budget.reservation(), PIECE_BYTES_MAX, &|| false);
        memory.keep(SCAN_FREE_BYTES).expect("free");
        let refused = memory.compute(COMPUTED_MIN);
        assert!(matches!(refused, Err(Interrupt::Failed(_))), "{refused:?}");
        assert_eq!(memory.too_much_of_one_row().code, QueryErrorCode::Memory);
    }

    #[test]
    fn what_nobody_waits_for_is_not_computed() {
        let memory = ScanMemory::new(&MemoryReservation::default(), PIECE_BYTES_MAX, &|| true);
        memory.compute(SCAN_FREE_BYTES).expect("free");
        assert!(matches!(memory.compute(1), Err(Interrupt::Cancelled)));
    }
}
