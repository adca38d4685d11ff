//! The worker processes of one process: started when they are needed, used again, and killed when
//! they do not answer in time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hadal_query::{UdfCall, UdfColumn, UdfError};
use hadal_types::FunctionDefinition;
use hadal_types::limits::{
    FUNCTION_CALL_MILLIS_MAX, FUNCTION_GRACE_MILLIS, FUNCTION_START_MILLIS_MAX,
    FUNCTION_WORKERS_MAX,
};
use parking_lot::Mutex;

use crate::link::{Launcher, Link, Until};
use crate::message::{Request, Response, encode_call};
use crate::message_error::MessageError;
use crate::worker_error::WorkerError;

/// The workers of this process.
#[derive(Debug)]
pub struct WorkerPool {
    launcher: Box<dyn Launcher>,
    /// Logs a sentence.
    note: fn(&str),
    idle: Mutex<Vec<Link>>,
    /// Workers in use and idle.
    count: AtomicUsize,
    /// Idle workers that are kept.
    idle_max: usize,
    next_session: AtomicU64,
    has_noted: AtomicBool,
}

/// A function of one query: its calls share no state with those of other sessions.
#[derive(Debug)]
pub struct Session {
    id: u64,
    definition: Arc<FunctionDefinition>,
    pool: Arc<WorkerPool>,
}

/// A worker in use; counts down when it goes.
struct Leased<'p> {
    pool: &'p WorkerPool,
    link: Option<Link>,
}

impl WorkerPool {
    /// A pool without workers yet. `note` logs what workers cannot give up, a sentence each, once.
    #[must_use]
    pub fn new(launcher: Box<dyn Launcher>, note: fn(&str)) -> Arc<Self> {
        Arc::new(Self {
            launcher,
            note,
            idle: Mutex::default(),
            count: AtomicUsize::new(0),
            idle_max: std::thread::available_parallelism().map_or(1, usize::from),
            next_session: AtomicU64::new(1),
            has_noted: AtomicBool::new(false),
        })
    }

    /// A function of one query.
    #[must_use]
    pub fn session(self: &Arc<Self>, definition: Arc<FunctionDefinition>) -> Session {
        let id = self.next_session.fetch_add(1, Ordering::Relaxed);
        Session { id, definition, pool: Arc::clone(self) }
    }

    /// An idle worker, if possible one that has loaded this session; else a new one.
    fn lease(&self, session: u64, until: &Until<'_>) -> Result<Leased<'_>, WorkerError> {
        while let Some(mut link) = self.take_idle(session) {
            if link.is_waiting() {
                return Ok(Leased { pool: self, link: Some(link) });
            }
            // The system may have killed it meanwhile.
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= FUNCTION_WORKERS_MAX {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Err(WorkerError::Busy);
        }
        // From here on, dropping `leased` counts down.
        let mut leased = Leased { pool: self, link: None };
        let mut link = Link::new(self.launcher.launch().map_err(WorkerError::Lost)?);
        let started = Instant::now() + Duration::from_millis(FUNCTION_START_MILLIS_MAX);
        let until = Until { at: started, is_cancelled: until.is_cancelled };
        match link.read_message(&until)? {
            Response::Ready(notes) => self.note(&notes),
            _ => return Err(MessageError::Unknown("first response", 0).into()),
        }
        leased.link = Some(link);
        Ok(leased)
    }

    fn take_idle(&self, session: u64) -> Option<Link> {
        let mut idle = self.idle.lock();
        let same = idle.iter().position(|link| link.loaded == Some(session));
        let index = same.or_else(|| idle.len().checked_sub(1));
        index.map(|index| idle.swap_remove(index))
    }

    /// Logs once what the kernel does not offer.
    fn note(&self, notes: &[String]) {
        if !notes.is_empty() && !self.has_noted.swap(true, Ordering::Relaxed) {
            for note in notes {
                (self.note)(note);
            }
        }
    }
}

impl Session {
    /// The function's definition.
    #[must_use]
    pub fn definition(&self) -> &Arc<FunctionDefinition> {
        &self.definition
    }

    /// The error of the function for the query.
    pub(crate) fn error_of(&self, error: &WorkerError) -> UdfError {
        UdfError { function: self.definition.name.clone(), message: error.to_string() }
    }

    /// Compiles the function.
    ///
    /// # Errors
    /// [`WorkerError`].
    pub fn check(&self) -> Result<(), WorkerError> {
        let until = Until { at: self.end(&limit(None)), is_cancelled: &|| false };
        let mut leased = self.pool.lease(self.id, &until)?;
        let outcome = self.load(&mut leased, &until);
        leased.settle(outcome)
    }

    /// Calls the function for each row.
    ///
    /// # Errors
    /// [`WorkerError`].
    pub fn call(
        &self,
        rows: usize,
        arguments: &[UdfColumn],
        call: &UdfCall<'_>,
    ) -> Result<UdfColumn, WorkerError> {
        self.ask(
            call,
            |millis| encode_call(millis, rows, arguments),
            |response| match response {
                Response::Column(column)
                    if column.len() == rows && column.value_type() == self.definition.returns =>
                {
                    Ok(column)
                }
                other => Err(error_of(other)),
            },
        )
    }

    /// Adds rows to the state of an aggregate; returns the new state.
    pub(crate) fn update(
        &self,
        state: Option<String>,
        weights: &[f64],
        arguments: &[UdfColumn],
        call: &UdfCall<'_>,
    ) -> Result<String, WorkerError> {
        let (weights, arguments) = (weights.to_vec(), arguments.to_vec());
        let rows = weights.len();
        let request = |millis| Request::Update { millis, state, rows, weights, arguments }.encode();
        self.ask(call, request, state_of)
    }

    /// Merges states of an aggregate.
    pub(crate) fn merge(
        &self,
        states: Vec<String>,
        call: &UdfCall<'_>,
    ) -> Result<String, WorkerError> {
        self.ask(call, |millis| Request::Merge { millis, states }.encode(), state_of)
    }

    /// The result of an aggregate: a column of one row.
    pub(crate) fn finish(
        &self,
        state: String,
        call: &UdfCall<'_>,
    ) -> Result<UdfColumn, WorkerError> {
        let request = |millis| Request::Finish { millis, state }.encode();
        self.ask(call, request, |response| match response {
            Response::Column(column) if column.len() == 1 => Ok(column),
            other => Err(error_of(other)),
        })
    }

    /// Has a worker answer a request, for which it has a time limit in milliseconds.
    fn ask<T>(
        &self,
        call: &UdfCall<'_>,
        request: impl FnOnce(u32) -> Vec<u8>,
        read: impl FnOnce(Response) -> Result<T, WorkerError>,
    ) -> Result<T, WorkerError> {
        let limit = limit(call.deadline);
        let until = Until { at: self.end(&limit), is_cancelled: call.is_cancelled };
        let mut leased = self.pool.lease(self.id, &until)?;
        // The start of a worker is not the function's time.
        let until = Until { at: self.end(&limit), ..until };
        let outcome = self.load(&mut leased, &until).and_then(|()| {
            let millis = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
            read(leased.ask(&request(millis), &until)?)
        });
        leased.settle(outcome)
    }

    fn end(&self, limit: &Duration) -> Instant {
        Instant::now() + *limit + Duration::from_millis(FUNCTION_GRACE_MILLIS)
    }

    /// Has the worker compile the function, unless it has done so.
    fn load(&self, leased: &mut Leased<'_>, until: &Until<'_>) -> Result<(), WorkerError> {
        if leased.link.as_ref().is_some_and(|link| link.loaded == Some(self.id)) {
            return Ok(());
        }
        let request = Request::Load((*self.definition).clone()).encode();
        match leased.ask(&request, until)? {
            Response::Loaded => {
                if let Some(link) = &mut leased.link {
                    link.loaded = Some(self.id);
                }
                Ok(())
            }
            other => Err(error_of(other)),
        }
    }
}

/// How long a call may take: the limit of a function, and less if the query ends soon. The rest of
/// the query's time is for the error to arrive.
fn limit(deadline: Option<Instant>) -> Duration {
    let most = Duration::from_millis(FUNCTION_CALL_MILLIS_MAX);
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()) * 4 / 5);
    left.map_or(most, |left| left.min(most))
}

fn state_of(response: Response) -> Result<String, WorkerError> {
    match response {
        Response::State(state) => Ok(state),
        other => Err(error_of(other)),
    }
}

fn error_of(response: Response) -> WorkerError {
    match response {
        Response::Error { line, message } => WorkerError::Function { line, message },
        Response::Ready(_) | Response::Loaded | Response::Column(_) | Response::State(_) => {
            MessageError::Unknown("order of responses", 0).into()
        }
    }
}

impl Leased<'_> {
    fn ask(&mut self, message: &[u8], until: &Until<'_>) -> Result<Response, WorkerError> {
        let lost = || WorkerError::Lost(io::ErrorKind::NotConnected.into());
        self.link.as_mut().ok_or_else(lost)?.ask(message, until)
    }

    /// Gives the worker back if it can be used again. After an error of the function itself it
    /// compiles again; after any other error it is killed.
    fn settle<T>(mut self, outcome: Result<T, WorkerError>) -> Result<T, WorkerError> {
        let Some(mut link) = self.link.take() else { return outcome };
        match &outcome {
            Ok(_) => {}
            Err(WorkerError::Function { .. }) => link.loaded = None,
            Err(_) => return outcome,
        }
        let mut idle = self.pool.idle.lock();
        if idle.len() < self.pool.idle_max {
            idle.push(link);
            drop(idle);
            // The worker stays counted.
            std::mem::forget(self);
        }
        outcome
    }
}

impl Drop for Leased<'_> {
    fn drop(&mut self) {
        self.pool.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
