//! The request for a contrast.

use std::time::Instant;

use hadal_sql::QuerySpec;
use hadal_types::limits::CONTRAST_FINDINGS_MAX;

use crate::error::{ErrorKind, FrontendError};

/// What to contrast.
#[derive(Debug)]
pub struct ContrastRequest {
    /// The table, the time range, and the filter of both sides; its `compare` has the sides.
    /// Groups, aggregates and the rest must be absent.
    pub query: QuerySpec,
    /// The columns to examine; if there are none, all that the sides are not defined by.
    pub columns: Vec<String>,
    /// How many findings to return; at most [`CONTRAST_FINDINGS_MAX`].
    pub limit: usize,
    /// When the request arrived.
    pub start: Instant,
    /// Deadline for delivering the result.
    pub until: Instant,
    /// The name that the client gives itself.
    pub client: String,
}

impl ContrastRequest {
    /// Whether the request has two sides, and nothing that does not matter for them.
    pub(crate) fn check(&self) -> Result<(), FrontendError> {
        let QuerySpec { compare, group_by, aggregates, columns, order_by, bucket, .. } =
            &self.query;
        let QuerySpec { limit, offset, series, totals, .. } = &self.query;
        let bad = |detail: &str, hint: &'static str| {
            Err(FrontendError::new(ErrorKind::BadRequest, detail.to_owned()).hint(hint))
        };
        let has_sides = compare
            .as_ref()
            .is_some_and(|compare| compare.condition.is_some() || compare.shift.is_some());
        if !has_sides {
            return bad(
                "the query has no sides to compare",
                "\"compare\": {\"where\": \"status >= 500\"} selects rows, and compares with the rest",
            );
        }
        let texts = [group_by, aggregates, columns, order_by];
        let has_numbers = limit.is_some() || offset.is_some() || series.is_some() || *totals;
        if bucket.is_some() || has_numbers || texts.iter().any(|texts| !texts.as_slice().is_empty())
        {
            return bad(
                "the query has groups, aggregates, columns, an order or a limit",
                "send table, from, to, filter, search, time_zone and compare only",
            );
        }
        if !(1..=CONTRAST_FINDINGS_MAX).contains(&self.limit) {
            let detail = format!("limit is {}; 1 to {CONTRAST_FINDINGS_MAX}", self.limit);
            return bad(&detail, "the strongest findings come first");
        }
        Ok(())
    }

    /// The request as the log of queries has it.
    pub(crate) fn to_text(&self) -> String {
        let QuerySpec { table, compare, .. } = &self.query;
        let compare = compare.clone().unwrap_or_default();
        let condition = compare.condition.or(compare.shift).unwrap_or_default();
        let against = compare.against.unwrap_or_else(|| "the rest".to_owned());
        format!("-- POST /v1/explain of {table}: {condition} against {against}")
    }
}
