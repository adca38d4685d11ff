//! From the parts of a question to the one [`Query`].

use std::time::Duration;

use hadal_query::{Expr, Function, Output, Query, RowExpr, SeriesLimit, Shape, time_bucket_width};
use hadal_types::{TableSchema, Value, limits};
use sqlparser::ast;

use crate::Note;
use crate::aggregate::row_expr;
use crate::bind::{Aggregates, Binder, operands};
use crate::bound::Bound;
use crate::error::{Fault, NOWHERE, Read, SqlError};
use crate::group::{self, Slots};
use crate::parts::{Groups, Item, Parts, Piece};
use crate::place::place;
use crate::scope::{Column, Scope};
use crate::slot::{self, Place};
use crate::time_range::{Intervals, Split, split};

/// One output column before it is known what it is computed from.
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) bound: Bound,
    /// The item that it comes from.
    pub(crate) item: usize,
}

/// Lowers a question about the table of `scope`.
pub(crate) fn lower(parts: Parts<'_>, scope: Scope<'_>) -> Result<(Query, Vec<Note>), SqlError> {
    let Some(table) = scope.table() else {
        return Err(missing_table());
    };
    let now = scope.now();
    let mut binder = Binder::new(scope);
    let (intervals, filter) = conditions(&mut binder, &parts)?;
    let selected = select(&mut binder, table, &parts)?;
    binder.aliases = aliases(&parts, &selected);
    let (mut slots, outputs) = match is_grouped(&parts, &selected) {
        true => group::lower(&mut binder, &parts, &selected)?,
        false => slot::raw(&selected),
    };
    let having = slot::having(&mut binder, &parts, &mut slots)?;
    let order = slot::order(&mut binder, &parts, &outputs, &mut slots)?;
    let series = series(&parts, &selected, &outputs, &slots)?;
    check_outputs(&outputs)?;
    let shape = slots.into_shape(&intervals, parts.source_of_groups())?;
    let limit = limit(&parts, &mut binder.notes);
    note_open_range(&intervals, &mut binder.notes);
    let query = Query {
        table: table.name.clone(),
        range: intervals.hull(),
        filter,
        shape,
        outputs,
        having,
        order,
        series,
        limit,
        offset: parts.offset,
        now,
        deadline: Duration::from_millis(parts.deadline_ms),
        require_complete: parts.require_complete,
    };
    check_depth(&query, &parts)?;
    Ok((query, binder.notes))
}
