//! User aggregates: rows are added in batches if the aggregate has a definition, else one by one.

use hadal_aggregate::UserState;
use hadal_query::{AggregateUdf, EvalError, UdfCall, UdfColumn};
use hadal_types::limits::FUNCTION_BATCH_ROWS;
use hadal_types::{Value, Weight};

use crate::column::column_values::ColumnValues;
use crate::column::weights::Weights;
use crate::scan_memory::{Interrupt, ScanMemory};

/// One user aggregate of one block.
pub(crate) struct UserRows<'v> {
    pub(crate) aggregate: &'v dyn AggregateUdf,
    pub(crate) values: &'v ColumnValues<'v>,
    pub(crate) second: Option<&'v ColumnValues<'v>>,
    pub(crate) memory: &'v ScanMemory<'v>,
}

impl UserRows<'_> {
    /// Adds the values of these rows, all of one group, to the group's state.
    pub(crate) fn add_to(&self, state: &mut UserState, rows: &[u32], weights: &Weights) {
        let Some(definition) = self.aggregate.definition() else {
            for row in rows.iter().map(|&row| row as usize) {
                state.add(self.aggregate, &self.values.value(row), weights.of(row));
            }
            return;
        };
        let is_cancelled = || self.memory.go_on().is_err();
        let call = UdfCall { deadline: self.memory.deadline(), is_cancelled: &is_cancelled };
        let inputs: Vec<_> = [Some(self.values), self.second].into_iter().flatten().collect();
        for batch in rows.chunks(FUNCTION_BATCH_ROWS) {
            let types = definition.parameters.iter().map(|one| one.value_type);
            let mut columns: Vec<UdfColumn> =
                types.map(|kind| UdfColumn::with_capacity(kind, batch.len())).collect();
            let mut row_weights = Vec::with_capacity(batch.len());
            for row in batch.iter().map(|&row| row as usize) {
                let values: Vec<Value> = inputs.iter().map(|input| input.value(row)).collect();
                // Rows that FILTER leaves out are null, too.
                if values.iter().any(Value::is_null) {
                    continue;
                }
                columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(value));
                let weight = weights.of(row).millionths() as f64 / Weight::UNIT as f64;
                row_weights.push(weight);
            }
            if !row_weights.is_empty() && self.aggregate.failure().is_none() {
                state.add_rows(self.aggregate, &columns, &row_weights, &call);
            }
        }
    }

    /// The error of the aggregate, if it has failed.
    pub(crate) fn check(&self) -> Result<(), Interrupt> {
        match self.aggregate.failure() {
            // The end of the query may be the reason.
            Some(error) => {
                self.memory.go_on()?;
                Err(EvalError::from(error).into())
            }
            None => Ok(()),
        }
    }
}
