//! User functions: to define, list and drop them, and to find those that a query calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_definitions::Versioned;
use hadal_query::{AggregateUdf, FunctionHost, ScalarUdf, UdfError};
use hadal_sql::Catalog;
use hadal_types::{FunctionDefinition, FunctionError, FunctionKind, TableName, TableSchema};

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::{Frontend, blocking};
use crate::principal::{Permission, Principal};

const OFF: &str = "user functions are off: start every process with --allow-functions";

impl Frontend {
    /// All user functions, by name.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not query, or the definitions cannot be read.
    pub async fn functions(
        &self,
        principal: &Principal,
    ) -> Result<Vec<Versioned<FunctionDefinition>>, FrontendError> {
        principal.require(Permission::Query)?;
        let functions = self.backend.definitions.functions().await;
        functions.map_err(|error| FrontendError::from(&error))
    }

    /// The user function of this name.
    ///
    /// # Errors
    /// As [`Self::functions`], and [`ErrorKind::UnknownFunction`].
    pub async fn function(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<Versioned<FunctionDefinition>, FrontendError> {
        if !FunctionDefinition::is_name(name) {
            return Err(unknown(name));
        }
        let functions = self.functions(principal).await?.into_iter();
        let mut named = functions.filter(|function| function.value.name == name);
        named.next().ok_or_else(|| unknown(name))
    }

    /// Defines a function, or replaces it; returns its version. Its source is compiled first.
    /// `based_on` is the version that it replaces, 0 if there is none, or `None` for any.
    ///
    /// # Errors
    /// [`FrontendError`] when functions are off, the principal may not define them, the definition
    /// is not valid, or the function was changed meanwhile.
    pub async fn define_function(
        &self,
        principal: &Principal,
        based_on: Option<i64>,
        definition: FunctionDefinition,
    ) -> Result<i64, FrontendError> {
        principal.require(Permission::Functions)?;
        let host = self.function_host()?;
        definition.check().map_err(|error| FrontendError::from(&error))?;
        if hadal_sql::is_built_in(&definition.name) {
            let reason = format!("{} is a built-in function", definition.name);
            return Err(FrontendError::from(&FunctionError::new("name", reason)));
        }
        if definition.kind == FunctionKind::Aggregate {
            check_aggregate(&definition).map_err(|error| FrontendError::from(&error))?;
        }
        let checked = Arc::new(definition.clone());
        let compiled = blocking(move || host.check(checked)).await?;
        compiled.map_err(|error| not_compiled(&error))?;
        let version = self.backend.definitions.set_function(based_on, &definition).await;
        version.map_err(|error| FrontendError::from(&error))
    }

    /// Drops a function.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not do that, or there is no such function.
    pub async fn drop_function(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<(), FrontendError> {
        principal.require(Permission::Functions)?;
        if !FunctionDefinition::is_name(name) {
            return Err(unknown(name));
        }
        let removed = self.backend.definitions.remove_function(name).await;
        match removed.map_err(|error| FrontendError::from(&error))? {
            true => Ok(()),
            false => Err(unknown(name)),
        }
    }

    fn function_host(&self) -> Result<Arc<dyn FunctionHost>, FrontendError> {
        self.config.functions.clone().ok_or_else(|| FrontendError::new(ErrorKind::Forbidden, OFF))
    }

    /// The functions that queries can call; `None` if functions are off or none is defined.
    pub(crate) async fn callable_functions(
        &self,
    ) -> Result<Option<CallableFunctions>, FrontendError> {
        let Some(host) = self.config.functions.clone() else { return Ok(None) };
        let functions = self.backend.definitions.functions().await;
        let functions = functions.map_err(|error| FrontendError::from(&error))?;
        let by_name = |function: Versioned<FunctionDefinition>| {
            (function.value.name.clone(), Arc::new(function.value))
        };
        let definitions: BTreeMap<_, _> = functions.into_iter().map(by_name).collect();
        Ok((!definitions.is_empty()).then_some(CallableFunctions { host, definitions }))
    }
}

/// The functions that queries can call.
pub(crate) struct CallableFunctions {
    host: Arc<dyn FunctionHost>,
    definitions: BTreeMap<String, Arc<FunctionDefinition>>,
}

/// Tables, and functions beside them.
pub(crate) struct WithFunctions<'c> {
    pub(crate) tables: &'c dyn Catalog,
    pub(crate) functions: &'c CallableFunctions,
}

impl Catalog for WithFunctions<'_> {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.tables.table(name)
    }

    fn table_names(&self) -> Vec<TableName> {
        self.tables.table_names()
    }

    fn function(&self, name: &str) -> Option<Arc<dyn ScalarUdf>> {
        let definition = self.functions.definitions.get(name)?;
        // An aggregate is none: the call is then of an unknown function.
        self.functions.host.scalar(Arc::clone(definition)).ok()
    }

    fn aggregate(&self, name: &str) -> Option<Arc<dyn AggregateUdf>> {
        let definition = self.functions.definitions.get(name)?;
        self.functions.host.aggregate(Arc::clone(definition)).ok()
    }
}

/// Rows where an argument is null are left out, so FILTER can leave out rows. A measure has one
/// expression or two.
fn check_aggregate(definition: &FunctionDefinition) -> Result<(), FunctionError> {
    if definition.called_on_null {
        let reason = "an aggregate leaves out rows with a null argument";
        return Err(FunctionError::new("called_on_null", reason));
    }
    match definition.parameters.len() {
        1 | 2 => Ok(()),
        count => {
            let reason = format!("an aggregate has one or two, not {count}");
            Err(FunctionError::new("parameters", reason))
        }
    }
}

fn unknown(name: &str) -> FrontendError {
    FrontendError::new(ErrorKind::UnknownFunction, format!("there is no function {name}"))
}

fn not_compiled(error: &UdfError) -> FrontendError {
    let mut failed = FrontendError::new(ErrorKind::BadFunction, error.to_string());
    failed.context.field = Some("source".to_owned());
    failed
}

impl From<&FunctionError> for FrontendError {
    fn from(error: &FunctionError) -> Self {
        let mut failed = Self::new(ErrorKind::BadFunction, error.to_string());
        failed.context.field = Some(error.field.clone());
        failed
    }
}
