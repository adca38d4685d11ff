//! Raw rows of one block, offered to the best rows so far.

use hadal_aggregate::TopRows;
use hadal_block::BlockError;
use hadal_types::Value;

use crate::columns::Columns;
use crate::eval::eval;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::values::BlockValues;

/// Adds the selected rows of one block to `best`, as far as they are among the best.
pub(crate) fn add(
    plan: &Plan,
    columns: &Columns<'_, '_>,
    selection: &Selection,
    best: &mut TopRows,
) -> Result<(), BlockError> {
    let leading = best.leading();
    let first = match leading {
        Some(index) => Some(eval(&plan.keys[index], columns, selection)?),
        None => None,
    };
    let rows: Vec<u32> = selection.to_rows();
    let could_keep = |best: &TopRows, row: usize| {
        first.as_ref().is_none_or(|values| best.could_keep(&values.value(row)))
    };
    if !rows.iter().any(|&row| could_keep(best, row as usize)) {
        return Ok(());
    }
    let values = plan
        .keys
        .iter()
        .map(|value| eval(value, columns, selection))
        .collect::<Result<Vec<BlockValues<'_>>, _>>()?;
    for row in rows {
        let row = row as usize;
        if could_keep(best, row) {
            best.add(values.iter().map(|values| values.value(row)).collect::<Box<[Value]>>());
        }
    }
    Ok(())
}
