//! The columns of an answer before the statement is run: for clients that ask first.

use hadal_query::{Output, Query, Type};
use hadal_sql::Statement;

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::query::completion::has_weights;
use crate::query::intervals::IntervalForm;
use crate::query::number_class::NumberClass;
use crate::query::{QueryRequest, bind, describe, explain, intervals, row_kinds, summarize};

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
                let classes = NumberClass::of_outputs(&query, has_weights(self, &query.table));
                columns_of(*query, classes, request)
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

/// The columns of the answer to a query whose outputs have these classes of numbers.
fn columns_of(
    mut query: Query,
    classes: Vec<NumberClass>,
    request: &QueryRequest,
) -> Vec<OutputColumn> {
    if request.intervals == IntervalForm::Columns {
        query.ask_for_confidence(None);
    }
    let mut columns = Vec::with_capacity(query.outputs.len());
    for (index, (output, numbers)) in query.outputs.iter().zip(classes).enumerate() {
        let Output { name, value_type, .. } = output;
        columns.push(OutputColumn { numbers, ..OutputColumn::new(name, *value_type) });
        if let Some(plan) = &query.confidence
            && intervals::has_columns(plan, index, *value_type)
        {
            let end = |name: String| OutputColumn {
                numbers: NumberClass::Real,
                ..OutputColumn::new(&name, Type::Number)
            };
            columns.extend(intervals::end_names(name).map(end));
        }
    }
    if request.row_kind_column && row_kinds::has_sums(&query) {
        columns.push(OutputColumn::new(row_kinds::COLUMN, Type::String));
    }
    columns
}
