//! The vocabulary of all other crates: values, kinds, schemas, times, weights, names, limits,
//! settings and the clock.
//!
//! This is floor 0. Nothing here knows a row block, a query or a socket. See `ARCHITECTURE.md`.

pub mod batch;
mod cancel;
pub mod clock;
pub mod decimal;
mod document;
mod function;
pub mod leaf;
pub mod limits;
pub mod machine;
mod memory_pool;
pub mod name;
pub mod number;
pub mod schema;
pub mod settings;
pub mod time;
pub mod value;
pub mod weight;

pub use batch::{BatchId, BatchIdError};
pub use cancel::{CancelOnDrop, Cancelled};
pub use clock::{Clock, FixedClock, SystemClock};
pub use decimal::Decimal;
pub use document::{Document, DocumentError, DocumentKind, DocumentSummary};
pub use function::{
    FunctionDefinition, FunctionError, FunctionKind, FunctionParameter, FunctionType,
};
pub use leaf::{LeafName, LeafState};
pub use machine::MachineName;
pub use memory_pool::{MemoryPool, MemoryReservation, PoolExhausted};
pub use name::{ColumnName, NameError, TableName};
pub use number::{Number, NumberRepr};
pub use schema::{ColumnPart, ColumnSchema, Kind, Logical, TableSchema};
pub use settings::{
    AgeLimit, ColumnUnit, ColumnUnits, SampleFactor, SettingsError, TableSettings, TableStorage,
};
pub use time::{Micros, TimeRange};
pub use value::Value;
pub use weight::{Weight, WeightError};
