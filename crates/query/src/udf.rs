//! User functions: scalar functions and aggregates defined outside of the engine.
//!
//! A definition is a trait object in a [`FunctionRegistry`]. A query carries the registry of the
//! functions that it calls, so every stage that has the query can run them. Expressions and
//! measures name a function by its index in that registry. Messages between processes carry names,
//! and the definition of each function that has one. The receiver makes such functions by its
//! [`FunctionHost`], and looks the others up in its own registry.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use hadal_types::limits::COMPUTED_STRING_BYTES_MAX;
use hadal_types::{FunctionDefinition, Value, Weight};

use crate::string_limit::StringTooLong;
use crate::udf_column::UdfColumn;

/// The index of a scalar function in a [`FunctionRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// The index of an aggregate in a [`FunctionRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggregateId(pub u32);

/// Why a user function returns no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function}: {message}")]
pub struct UdfError {
    /// The function's name.
    pub function: String,
    /// The reason.
    pub message: String,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The expression computes too long a string.
    #[error(transparent)]
    StringTooLong(#[from] StringTooLong),
    /// A user function fails.
    #[error(transparent)]
    Udf(#[from] UdfError),
}

/// How long a call may take.
#[derive(Clone, Copy)]
pub struct UdfCall<'c> {
    /// When the query ends; `None` if the function's limit alone decides.
    pub deadline: Option<Instant>,
    /// Whether nobody waits for the result any more.
    pub is_cancelled: &'c dyn Fn() -> bool,
}

/// A user function of one row's values.
pub trait ScalarUdf: Debug + Send + Sync {
    /// The name for registration and calls.
    fn name(&self) -> &str;

    /// The value for these arguments. Called once per row, or once per dictionary entry if all
    /// other arguments are constant. So equal arguments must give equal values.
    ///
    /// # Errors
    /// [`UdfError`] fails the query.
    fn call(&self, arguments: &[Value]) -> Result<Value, UdfError>;

    /// The definition, if the function has one that other processes can make it of.
    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        None
    }

    /// The values for many rows at once. `arguments` has a column for each parameter of the
    /// definition, of its type and of `rows` values; so has the result. Called only if there is a
    /// [`Self::definition`].
    ///
    /// # Errors
    /// [`UdfError`] fails the query.
    fn call_rows(
        &self,
        rows: usize,
        arguments: &[UdfColumn],
        call: &UdfCall<'_>,
    ) -> Result<UdfColumn, UdfError> {
        let _ = (rows, arguments, call);
        let message = "it has no form for columns".to_owned();
        Err(UdfError { function: self.name().to_owned(), message })
    }
}

/// Makes functions of their definitions.
pub trait FunctionHost: Debug + Send + Sync {
    /// A scalar function for one query: it shares no state with another one.
    ///
    /// # Errors
    /// [`UdfError`] if this process runs no such functions.
    fn scalar(&self, definition: Arc<FunctionDefinition>) -> Result<Arc<dyn ScalarUdf>, UdfError>;

    /// An aggregate for one query: it shares no state with another one.
    ///
    /// # Errors
    /// [`UdfError`] if this process runs no such functions.
    fn aggregate(
        &self,
        definition: Arc<FunctionDefinition>,
    ) -> Result<Arc<dyn AggregateUdf>, UdfError>;

    /// Tries whether the source of a definition can be compiled.
    ///
    /// # Errors
    /// [`UdfError`] with the line.
    fn check(&self, definition: Arc<FunctionDefinition>) -> Result<(), UdfError>;
}

/// A user aggregate: how a group's values are accumulated and finished.
pub trait AggregateUdf: Debug + Send + Sync {
    /// The name for registration and calls.
    fn name(&self) -> &str;

    /// A state without values.
    fn new_state(&self) -> Box<dyn UdfState>;

    /// The state from the bytes of [`UdfState::encode`].
    ///
    /// # Errors
    /// [`UdfError`] for any other bytes.
    fn decode_state(&self, bytes: &[u8]) -> Result<Box<dyn UdfState>, UdfError>;

    /// The definition, if the aggregate has one that other processes can make it of.
    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        None
    }

    /// The first error of any of its states. It fails the query: the results are worth nothing.
    fn failure(&self) -> Option<UdfError> {
        None
    }
}

/// The state of a user aggregate in one group.
///
/// Merging must be associative and commutative, as for every built-in state. Then the result does
/// not depend on how rows are spread over leaves.
pub trait UdfState: Debug + Send + Sync {
    /// Adds the value of one row; it is not null.
    fn add(&mut self, value: &Value, weight: Weight);

    /// Adds many rows: a column for each parameter of the definition, and the weights of the rows.
    /// Called instead of [`Self::add`] if there is a [`AggregateUdf::definition`]. An error is
    /// in [`AggregateUdf::failure`].
    fn add_rows(&mut self, columns: &[UdfColumn], weights: &[f64], call: &UdfCall<'_>) {
        let _ = (columns, weights, call);
    }

    /// Adds the values of `other`, a state of the same aggregate.
    fn merge(&mut self, other: &dyn UdfState);

    /// The aggregate of all added values.
    fn finish(&self) -> Value;

    /// The state's bytes. Equal states have equal bytes.
    fn encode(&self) -> Vec<u8>;

    /// Approximate bytes on the heap; they count against the query's memory.
    fn heap_bytes(&self) -> usize;

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn UdfState>;

    /// The state itself, so that [`Self::merge`] can downcast the other state.
    fn as_any(&self) -> &dyn Any;
}

/// User functions, by index and by name. Registries are equal if they have the same names in the
/// same order, because a name stands for one definition.
#[derive(Clone, Debug, Default)]
pub struct FunctionRegistry {
    scalars: Vec<Arc<dyn ScalarUdf>>,
    aggregates: Vec<Arc<dyn AggregateUdf>>,
    host: Option<Arc<dyn FunctionHost>>,
}

impl FunctionRegistry {
    /// A registry without functions, and with a host for those that come as definitions.
    #[must_use]
    pub fn with_host(host: Option<Arc<dyn FunctionHost>>) -> Self {
        Self { host, ..Self::default() }
    }

    /// Whether the query calls no user function.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scalars.is_empty() && self.aggregates.is_empty()
    }

    /// Makes functions of definitions; `None` if this process runs none.
    #[must_use]
    pub fn host(&self) -> Option<&Arc<dyn FunctionHost>> {
        self.host.as_ref()
    }

    /// Adds a scalar function. It replaces a function of the same name and takes over its index.
    pub fn add_scalar(&mut self, function: Arc<dyn ScalarUdf>) -> FunctionId {
        let index = self.scalars.iter().position(|other| other.name() == function.name());
        FunctionId(put(&mut self.scalars, index, function))
    }

    /// Adds an aggregate. It replaces an aggregate of the same name and takes over its index.
    pub fn add_aggregate(&mut self, aggregate: Arc<dyn AggregateUdf>) -> AggregateId {
        let index = self.aggregates.iter().position(|other| other.name() == aggregate.name());
        AggregateId(put(&mut self.aggregates, index, aggregate))
    }

    /// The scalar function with this index.
    #[must_use]
    pub(crate) fn scalar(&self, id: FunctionId) -> Option<&Arc<dyn ScalarUdf>> {
        self.scalars.get(id.0 as usize)
    }

    /// The aggregate with this index.
    #[must_use]
    pub fn aggregate(&self, id: AggregateId) -> Option<&Arc<dyn AggregateUdf>> {
        self.aggregates.get(id.0 as usize)
    }

    /// The first error of any aggregate.
    #[must_use]
    pub fn failure(&self) -> Option<UdfError> {
        self.aggregates.iter().find_map(|aggregate| aggregate.failure())
    }

    /// The definitions of all functions that have one.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<FunctionDefinition>> {
        let aggregates = self.aggregates.iter().filter_map(|aggregate| aggregate.definition());
        self.scalars.iter().filter_map(|scalar| scalar.definition()).chain(aggregates)
    }

    /// All scalar functions, by index.
    pub fn scalars(&self) -> impl Iterator<Item = &Arc<dyn ScalarUdf>> {
        self.scalars.iter()
    }

    /// All aggregates, by index.
    pub fn aggregates(&self) -> impl Iterator<Item = &Arc<dyn AggregateUdf>> {
        self.aggregates.iter()
    }
}

impl PartialEq for FunctionRegistry {
    fn eq(&self, other: &Self) -> bool {
        let scalars = other.scalars.iter().map(|function| function.name());
        let aggregates = other.aggregates.iter().map(|aggregate| aggregate.name());
        self.scalars.iter().map(|function| function.name()).eq(scalars)
            && self.aggregates.iter().map(|aggregate| aggregate.name()).eq(aggregates)
    }
}

impl Eq for FunctionRegistry {}

/// Stores `value` at `index`, or appends it; returns its index.
fn put<T>(values: &mut Vec<T>, index: Option<usize>, value: T) -> u32 {
    let index = index.unwrap_or(values.len());
    match values.get_mut(index) {
        Some(old) => *old = value,
        None => values.push(value),
    }
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Calls a user function. Its result has the size limit of computed strings.
///
/// # Errors
/// [`EvalError`] if the function fails or its result is too large.
pub fn call_udf(function: &dyn ScalarUdf, arguments: &[Value]) -> Result<Value, EvalError> {
    let value = function.call(arguments)?;
    match value.heap_bytes() > COMPUTED_STRING_BYTES_MAX {
        true => Err(StringTooLong.into()),
        false => Ok(value),
    }
}
