//! Memory that looking at one block takes beside the partial answer: decoded columns, and what
//! expressions compute of them.
//!
//! It is drawn from the query's budget before it is allocated, but for pieces of at most one string
//! ([`COMPUTED_STRING_BYTES_MAX`](hadal_types::limits::COMPUTED_STRING_BYTES_MAX)) or one column,
//! and for the first [`SCAN_FREE_BYTES`] of each thread, which no query has to draw. What
//! expressions compute at a time is limited ([`PIECE_BYTES_MAX`]): a block whose values are larger
//! is looked at piece by piece.

use std::cell::{Cell, RefCell};

use hadal_aggregate::{QueryError, QueryErrorCode, out_of_memory};
use hadal_block::BlockError;
use hadal_query::EvalError;
use hadal_types::limits::{PIECE_BYTES_MAX, SCAN_FREE_BYTES};
use hadal_types::{MemoryReservation, Value};

/// Bytes that are computed at a time also where none are free.
const COMPUTED_MIN: usize = SCAN_FREE_BYTES / 2;
/// Bytes that are drawn at once.
const DRAWN_AT_ONCE: usize = 256 << 10;

/// Why a block is not looked at to its end.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// The block's bytes are damaged.
    Damaged(BlockError),
    /// What is computed of these rows is more than is computed at a time.
    TooManyBytes,
    /// The query fails: an expression computes too long a string, or there is no room.
    Failed(Box<QueryError>),
    /// Nobody waits for the answer any more.
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

/// What is held for one block.
pub(crate) struct ScanMemory<'r> {
    held: RefCell<MemoryReservation>,
    /// Bytes that are held for what was found.
    found: usize,
    /// Bytes that are computed at a time: fewer where no more are free.
    computed_max: Cell<usize>,
    /// Why they are fewer.
    refused: RefCell<Option<QueryError>>,
    /// Bytes of decoded columns.
    decoded: Cell<usize>,
    /// Bytes that expressions under way have computed.
    computed: Cell<usize>,
    /// Whether rows are looked at piece by piece.
    is_splitting: Cell<bool>,
    is_cancelled: &'r dyn Fn() -> bool,
}

impl<'r> ScanMemory<'r> {
    /// Nothing is drawn yet from the budget of `found`, which is held for what was found; so many bytes
    /// are computed at a time.
    pub(crate) fn new(
        found: &MemoryReservation,
        computed_max: usize,
        is_cancelled: &'r dyn Fn() -> bool,
    ) -> Self {
        Self {
            held: RefCell::new(found.new_empty()),
            found: found.bytes(),
            computed_max: Cell::new(computed_max),
            refused: RefCell::default(),
            decoded: Cell::new(0),
            computed: Cell::new(0),
            is_splitting: Cell::new(false),
            is_cancelled,
        }
    }

    /// Whether rows are looked at piece by piece: then nothing is computed of a whole block.
    pub(crate) fn is_splitting(&self) -> bool {
        self.is_splitting.get()
    }

    /// Has rows looked at piece by piece from now on; nothing is computed any more.
    pub(crate) fn split_rows(&self) {
        self.is_splitting.set(true);
        self.computed.set(0);
    }

    /// Draws bytes of a decoded column.
    pub(crate) fn keep(&self, bytes: usize) -> Result<(), Interrupt> {
        self.decoded.set(self.decoded.get().saturating_add(bytes));
        self.draw()
    }

    /// Says that all decoded columns are dropped.
    pub(crate) fn drop_decoded(&self) {
        self.decoded.set(0);
    }

    /// Bytes of decoded columns.
    pub(crate) fn decoded(&self) -> usize {
        self.decoded.get()
    }

    /// Draws bytes of what an expression is about to compute.
    pub(crate) fn compute(&self, bytes: usize) -> Result<(), Interrupt> {
        let before = self.computed.get();
        let computed = before.saturating_add(bytes);
        if computed > self.computed_max.get() {
            return Err(Interrupt::TooManyBytes);
        }
        self.computed.set(computed);
        match self.draw() {
            // Fewer rows may do with what needs no drawing.
            Err(Interrupt::Failed(fault)) if computed > COMPUTED_MIN => {
                self.computed.set(before);
                self.computed_max.set((computed / 2).max(COMPUTED_MIN));
                self.refused.replace(Some(*fault));
                Err(Interrupt::TooManyBytes)
            }
            drawn => drawn,
        }
    }

    /// The fault of one row of which too much is computed.
    pub(crate) fn too_much_of_one_row(&self) -> QueryError {
        let message = format!(
            "the query's expressions compute more than {PIECE_BYTES_MAX} bytes of one row: ask for \
             fewer or shorter strings"
        );
        let refused = self.refused.take();
        refused.unwrap_or_else(|| QueryError::new(QueryErrorCode::Memory, &message))
    }

    /// What expressions under way have computed by now: to be given to [`Self::replace_computed`].
    pub(crate) fn mark(&self) -> usize {
        self.computed.get()
    }

    /// Says that of all that was computed since `mark` only so many bytes are left.
    pub(crate) fn replace_computed(&self, mark: usize, bytes: usize) -> Result<(), Interrupt> {
        self.forget(mark);
        self.compute(bytes)
    }

    /// Says that nothing is left of what was computed since `mark`.
    pub(crate) fn forget(&self, mark: usize) {
        self.computed.set(mark);
    }

    /// Looks whether somebody still waits for the answer.
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
        Ok(held.resize(more).map_err(|spent| out_of_memory(self.found + more, spent))?)
    }
}

/// Counts values as they are computed.
pub(crate) struct ComputedBytes<'r> {
    memory: &'r ScanMemory<'r>,
    /// Bytes that are not drawn yet.
    bytes: usize,
}

impl<'r> ComputedBytes<'r> {
    /// Draws the room of `count` values without what they have on the heap.
    pub(crate) fn new(memory: &'r ScanMemory<'r>, count: usize) -> Result<Self, Interrupt> {
        memory.compute(count.saturating_mul(size_of::<Value>()))?;
        Ok(Self { memory, bytes: 0 })
    }

    /// Counts what a value has on the heap.
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

    /// Draws what is not drawn yet.
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
