//! The columns of an answer before the statement is run: for clients that ask first.

use hadal_query::{Output, Type};
use hadal_sql::Statement;

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::query::number_class::NumberClass;
use crate::query::{QueryRequest, bind, describe, explain, has_weights, summarize};

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub value_type: Type,
    /// What is known of its numbers.
    pub numbers: NumberClass,
}

impl OutputColumn {
    /// A column whose type alone is known.
    #[must_use]
    pub fn new(name: &str, value_type: Type) -> Self {
        Self { name: name.to_owned(), value_type, numbers: NumberClass::Any }
    }

    fn all(columns: &[(&str, Type)]) -> Vec<Self> {
        columns.iter().map(|(name, value_type)| Self::new(name, *value_type)).collect()
    }
}

/// The column of the answer to a statement that defines or drops a function: its name.
pub(crate) const FUNCTION_COLUMN: (&str, Type) = ("function", Type::String);

impl Frontend {
    /// Returns the columns of the answer to a statement, which is parsed and bound, but not run.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not query, or the text is not a query.
    pub async fn columns(
        &self,
        principal: &Principal,
        request: &QueryRequest,
    ) -> Result<Vec<OutputColumn>, FrontendError> {
        principal.require(Permission::Query)?;
        request.check()?;
        let now = self.backend.clock.now();
        let parsed = request.parse(now)?;
        let (statement, _) = bind(self, request, &parsed, now).await?;
        Ok(match statement {
            Statement::Query { query, .. } => {
                let outputs = query
                    .outputs
                    .iter()
                    .zip(NumberClass::of_outputs(&query, has_weights(self, &query.table)));
                let column = |(output, numbers): (&Output, NumberClass)| OutputColumn {
                    numbers,
                    ..OutputColumn::new(&output.name, output.value_type)
                };
                outputs.map(column).collect()
            }
            Statement::Explain { .. } => OutputColumn::all(&explain::EXPLAIN_COLUMNS),
            Statement::ShowTables => OutputColumn::all(&describe::TABLES_COLUMNS),
            Statement::Describe(_) => OutputColumn::all(&describe::DESCRIBE_COLUMNS),
            Statement::Summarize(_) => OutputColumn::all(&summarize::SUMMARIZE_COLUMNS),
            Statement::CreateFunction { .. } | Statement::DropFunction { .. } => {
                OutputColumn::all(&[FUNCTION_COLUMN])
            }
            Statement::Values { columns, .. } => {
                columns.iter().map(|(name, kind)| OutputColumn::new(name, *kind)).collect()
            }
        })
    }
}
