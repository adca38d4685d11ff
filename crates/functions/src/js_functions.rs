//! Functions of queries, made of definitions.

use std::sync::Arc;

use hadal_query::{AggregateUdf, FunctionHost, ScalarUdf, UdfCall, UdfColumn, UdfError};
use hadal_types::{FunctionDefinition, FunctionKind, Value};

use crate::js_aggregate::JsAggregate;
use crate::worker_pool::{Session, WorkerPool};

/// Makes functions that run in the workers of a pool.
#[derive(Debug)]
pub struct JsFunctions(Arc<WorkerPool>);

/// A scalar function of one query.
#[derive(Debug)]
struct JsScalar(Session);

impl JsFunctions {
    /// Functions that run in the workers of `pool`.
    #[must_use]
    pub fn new(pool: Arc<WorkerPool>) -> Self {
        Self(pool)
    }
}

impl FunctionHost for JsFunctions {
    fn scalar(&self, definition: Arc<FunctionDefinition>) -> Result<Arc<dyn ScalarUdf>, UdfError> {
        if definition.kind != FunctionKind::Scalar {
            let message = "an aggregate is called like a function of one row".to_owned();
            return Err(UdfError { function: definition.name.clone(), message });
        }
        Ok(Arc::new(JsScalar(self.0.session(definition))))
    }

    fn aggregate(
        &self,
        definition: Arc<FunctionDefinition>,
    ) -> Result<Arc<dyn AggregateUdf>, UdfError> {
        if definition.kind != FunctionKind::Aggregate {
            let message = "a function of one row is called like an aggregate".to_owned();
            return Err(UdfError { function: definition.name.clone(), message });
        }
        Ok(Arc::new(JsAggregate::new(self.0.session(definition))))
    }

    fn check(&self, definition: Arc<FunctionDefinition>) -> Result<(), UdfError> {
        let session = self.0.session(definition);
        session.check().map_err(|error| session.error_of(&error))
    }
}

impl ScalarUdf for JsScalar {
    fn name(&self) -> &str {
        &self.0.definition().name
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, UdfError> {
        let parameters = self.0.definition().parameters.iter();
        let columns: Vec<UdfColumn> = parameters
            .zip(arguments)
            .map(|(parameter, value)| {
                let mut column = UdfColumn::with_capacity(parameter.value_type, 1);
                column.push(value);
                column
            })
            .collect();
        let call = UdfCall { deadline: None, is_cancelled: &|| false };
        self.call_rows(1, &columns, &call).map(|column| column.value(0))
    }

    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        Some(self.0.definition())
    }

    fn call_rows(
        &self,
        rows: usize,
        arguments: &[UdfColumn],
        call: &UdfCall<'_>,
    ) -> Result<UdfColumn, UdfError> {
        self.0.call(rows, arguments, call).map_err(|error| self.0.error_of(&error))
    }
}
