//! Aggregates of queries, made of definitions. A state is JSON that only the worker reads.

use std::any::Any;
use std::sync::Arc;

use hadal_query::{AggregateUdf, UdfCall, UdfColumn, UdfError, UdfState};
use hadal_types::limits::FUNCTION_STATE_BYTES_MAX;
use hadal_types::{FunctionDefinition, Value, Weight};
use parking_lot::Mutex;

use crate::message::STATES_MAX;
use crate::worker_error::WorkerError;
use crate::worker_pool::Session;

/// The first byte of an encoded state.
const STATE: u8 = 0;
/// The first byte of an encoded error.
const FAILURE: u8 = 1;
/// A call that only the limits of functions end.
const UNBOUNDED: UdfCall<'_> = UdfCall { deadline: None, is_cancelled: &|| false };

/// An aggregate of one query.
#[derive(Clone, Debug)]
pub(crate) struct JsAggregate(Arc<Shared>);

/// What all states of an aggregate have in common.
#[derive(Debug)]
struct Shared {
    session: Session,
    /// The first error. After it, nothing is called any more.
    failure: Mutex<Option<UdfError>>,
}

/// The state of one group: texts that are still to be merged; none without rows.
#[derive(Clone, Debug)]
struct JsState {
    shared: Arc<Shared>,
    texts: Vec<String>,
}

impl JsAggregate {
    pub(crate) fn new(session: Session) -> Self {
        Self(Arc::new(Shared { session, failure: Mutex::default() }))
    }
}

impl AggregateUdf for JsAggregate {
    fn name(&self) -> &str {
        &self.0.session.definition().name
    }

    fn new_state(&self) -> Box<dyn UdfState> {
        Box::new(JsState { shared: Arc::clone(&self.0), texts: Vec::new() })
    }

    fn decode_state(&self, bytes: &[u8]) -> Result<Box<dyn UdfState>, UdfError> {
        let wrong = |reason: &str| UdfError {
            function: self.name().to_owned(),
            message: format!("bytes that are no state: {reason}"),
        };
        let (kind, text) = bytes.split_first().ok_or_else(|| wrong("none"))?;
        let text = std::str::from_utf8(text).map_err(|_| wrong("they are not UTF-8"))?;
        if text.len() > FUNCTION_STATE_BYTES_MAX {
            return Err(wrong("they are too many"));
        }
        let mut texts = Vec::new();
        match *kind {
            STATE => texts.push(text.to_owned()),
            FAILURE => {
                self.0.fail(UdfError { function: self.name().to_owned(), message: text.to_owned() })
            }
            _ => return Err(wrong("of another kind")),
        }
        Ok(Box::new(JsState { shared: Arc::clone(&self.0), texts }))
    }

    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        Some(self.0.session.definition())
    }

    fn failure(&self) -> Option<UdfError> {
        self.0.failure.lock().clone()
    }
}

impl Shared {
    fn fail(&self, error: UdfError) {
        self.failure.lock().get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().is_some()
    }

    /// The result of a call, unless it fails.
    fn kept<T>(&self, called: Result<T, WorkerError>) -> Option<T> {
        called.map_err(|error| self.fail(self.session.error_of(&error))).ok()
    }
}

impl JsState {
    /// Merges all texts to one.
    fn collapse(&mut self) {
        while self.texts.len() > 1 && !self.shared.has_failed() {
            let count = self.texts.len().min(STATES_MAX);
            let some = self.texts.drain(..count).collect();
            let merged = self.shared.kept(self.shared.session.merge(some, &UNBOUNDED));
            self.texts.extend(merged);
        }
    }
}

impl UdfState for JsState {
    fn add(&mut self, value: &Value, weight: Weight) {
        let definition = Arc::clone(self.shared.session.definition());
        let Some(parameter) = definition.parameters.first() else { return };
        let mut column = UdfColumn::with_capacity(parameter.value_type, 1);
        column.push(value);
        self.add_rows(&[column], &[weight_of(weight)], &UNBOUNDED);
    }

    fn add_rows(&mut self, columns: &[UdfColumn], weights: &[f64], call: &UdfCall<'_>) {
        if self.shared.has_failed() {
            return;
        }
        let state = self.texts.pop();
        let updated = self.shared.session.update(state, weights, columns, call);
        self.texts.extend(self.shared.kept(updated));
    }

    fn merge(&mut self, other: &dyn UdfState) {
        let Some(other) = other.as_any().downcast_ref::<Self>() else { return };
        self.texts.extend_from_slice(&other.texts);
        if let Some(error) = other.shared.failure.lock().clone()
            && !Arc::ptr_eq(&self.shared, &other.shared)
        {
            self.shared.fail(error);
        }
        if self.texts.len() >= STATES_MAX {
            self.collapse();
        }
    }

    fn finish(&self) -> Value {
        let mut all = self.clone();
        all.collapse();
        if all.shared.has_failed() {
            return Value::Null;
        }
        let Some(text) = all.texts.pop() else { return Value::Null };
        let finished = self.shared.kept(self.shared.session.finish(text, &UNBOUNDED));
        finished.map_or(Value::Null, |column| column.value(0))
    }

    fn encode(&self) -> Vec<u8> {
        let mut all = self.clone();
        all.collapse();
        let failure = all.shared.failure.lock().clone();
        let (kind, text) = match (failure, all.texts.pop()) {
            (Some(error), _) => (FAILURE, error.message),
            (None, Some(text)) => (STATE, text),
            (None, None) => (FAILURE, "a state without rows".to_owned()),
        };
        [&[kind], text.as_bytes()].concat()
    }

    fn heap_bytes(&self) -> usize {
        self.texts.iter().map(|text| size_of::<String>() + text.capacity()).sum()
    }

    fn boxed_clone(&self) -> Box<dyn UdfState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A weight as JavaScript has it.
fn weight_of(weight: Weight) -> f64 {
    weight.millionths() as f64 / Weight::UNIT as f64
}
