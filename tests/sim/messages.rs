//! What processes send each other, and everything else that happens.

use std::rc::Rc;

use hadal_peer::TableReport;
use hadal_random::mix;
use hadal_tree::Pull;
use hadal_tree::batch_placement::{Lookup, SendOutcome};

use crate::faults::Failure;
use crate::observing::Knowledge;
use crate::queue::Time;
use crate::store::ReadRecord;

pub(crate) type LeafId = usize;
pub(crate) type BatchNumber = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Leaf(LeafId),
    Door(usize),
    Store,
    Client(BatchNumber),
}

/// What one process asks of another.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Post {
        batch: BatchNumber,
        first_try: bool,
    },
    LookUp {
        batch: BatchNumber,
        refuse: bool,
    },
    Accept {
        batch: BatchNumber,
        moves: bool,
    },
    Record {
        leaf: LeafId,
        batch: BatchNumber,
        instead: LeafId,
    },
    NoteHeld {
        batch: BatchNumber,
        leaf: LeafId,
    },
    ReadRecords {
        leaf: LeafId,
    },
    Query,
    /// What a door knows of the rows of leaves, since a version.
    Pull {
        epoch: u64,
        version: u64,
    },
    Restart,
}

/// What a leaf says with an acknowledgement.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub(crate) batch: BatchNumber,
    pub(crate) stored: Time,
    pub(crate) is_duplicate: bool,
    pub(crate) report: Rc<TableReport>,
}

/// The batches of a leaf, and the version of its table.
pub(crate) type RowsAsOf = (Rc<Vec<BatchNumber>>, (u64, u64));

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Posted(bool),
    /// With whether the leaf holds the batch durably.
    LookedUp(Lookup, bool),
    Accepted(SendOutcome, Option<Receipt>),
    /// The leaf that gets the batch instead, and when the record was made.
    Recorded(LeafId, Time),
    Records(Vec<ReadRecord>),
    /// The batches that a leaf serves, and the start and the version of its share; `None` if it
    /// does not serve.
    Rows(Option<RowsAsOf>),
    Pulled(Rc<Knowledge>),
    Restarts,
}

#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    Post,
    LookUp { request: u64, leaf: LeafId, process: u64, refuse: bool },
    Accept { request: u64, leaf: LeafId },
    Record { request: u64, leaf: LeafId },
    ReadRecords { number: u64 },
    Holds { batch: BatchNumber, leaf: LeafId, number: u64 },
    NoteHeld,
    Query { leaf: LeafId },
    Pull(Pull),
    Restart { leaf: LeafId },
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Arrive {
        call: u64,
        from: Node,
        to: Node,
        process: Option<u64>,
        request: Request,
    },
    /// The answer, or `None` when time is up or the connection broke.
    End {
        call: u64,
        answer: Option<Answer>,
    },
    Wake {
        node: Node,
        life: u64,
        what: Wake,
    },
    /// A leaf reports its rows to a door.
    Report {
        door: usize,
        life: u64,
        report: Rc<TableReport>,
    },
    Gossip,
    /// The rollover looks at the cluster.
    Look,
    Failure(Failure),
    /// A fault ends.
    Repair(Failure),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    Request { request: u64, number: u64 },
    Query,
    FinishQuery,
    Review { number: u64 },
    Records { number: u64 },
    Written { batch: BatchNumber },
    Dropped { batch: BatchNumber },
    Post { number: u64 },
    Report,
    Restored,
    Expire,
    Stopped,
}

impl Event {
    /// Distinguishes kinds of events in the trace.
    pub(crate) fn hash(&self) -> u64 {
        match self {
            Self::Arrive { call, .. } => mix(*call),
            Self::End { call, answer } => mix(*call ^ (1 << 40)) ^ u64::from(answer.is_some()),
            Self::Wake { life, .. } => mix(*life ^ (2 << 40)),
            Self::Gossip => 3,
            Self::Failure(_) => 4,
            Self::Repair(_) => 5,
            Self::Report { report, .. } => mix(report.version ^ (6 << 40)),
            Self::Look => 7,
        }
    }
}
