//! Which rows of a table are too old, and which blocks are rewritten to drop these rows.

use std::sync::Arc;

use hadal_peer::ExpiryForecast;
use hadal_types::limits::EXPIRY_SLACK_SECONDS;
use hadal_types::{AgeLimit, Micros, TableSettings};

use crate::table::block::Block;

pub(crate) const DAY: i64 = 86_400 * Micros::SECOND;

/// The start of the UTC day that contains a time.
pub(crate) fn day_of(time: Micros) -> Micros {
    Micros(time.0.div_euclid(DAY).saturating_mul(DAY))
}

/// Returns the time before which rows are too old at `now`; `None` without an age limit. Rows of an
/// archived table expire by whole days.
pub(crate) fn cutoff(settings: Option<&TableSettings>, now: Micros) -> Option<Micros> {
    let settings = settings?;
    match settings.is_archived() {
        true => cutoff_of_days(settings.age_limit(), now),
        false => settings.age_limit().cutoff(now),
    }
}

/// The start of the first UTC day that has rows which are not too old at `now`.
pub(crate) fn cutoff_of_days(age: AgeLimit, now: Micros) -> Option<Micros> {
    age.cutoff(now).map(day_of)
}

/// Whether a block has rows that are too old and may be rewritten.
pub(crate) fn may_lose_rows(block: &Block, cutoff: Micros) -> bool {
    block.time_range.0 < cutoff && !block.has_batches && block.may_be_replaced()
}

/// Whether rewriting a block is worth it to drop `old` rows.
pub(crate) fn is_worth_rewriting(block: &Block, cutoff: Micros, old: usize) -> bool {
    let slack = Micros(cutoff.0.saturating_sub(EXPIRY_SLACK_SECONDS * Micros::SECOND));
    old > 0 && (old.saturating_mul(2) >= block.rows || block.time_range.0 < slack)
}

/// Estimates the rows and bytes of these blocks that the expiry pass at `at` will drop, if no rows
/// come in. Returns `None` without an age limit. For blocks that lose a part of their rows, the
/// estimate assumes evenly spread times.
pub(crate) fn forecast(
    blocks: &[Arc<Block>],
    settings: Option<&TableSettings>,
    at: Micros,
) -> Option<ExpiryForecast> {
    let until = cutoff(settings, at)?;
    let mut forecast = ExpiryForecast { at, until, rows: 0, bytes: 0 };
    for block in blocks {
        let (rows, bytes) = (block.rows as u64, block.byte_count() as u64);
        if block.time_range.1 < until {
            forecast.rows += rows;
            forecast.bytes += bytes;
        } else if may_lose_rows(block, until) {
            let old = share_before(block.time_range, until, rows);
            if is_worth_rewriting(block, until, usize::try_from(old).unwrap_or(usize::MAX)) {
                forecast.rows += old;
                forecast.bytes += share_before(block.time_range, until, bytes);
            }
        }
    }
    Some(forecast)
}

/// The share of `total` before `time`, which is in the range.
fn share_before((first, last): (Micros, Micros), time: Micros, total: u64) -> u64 {
    let before = i128::from(time.0) - i128::from(first.0);
    let length = (i128::from(last.0) - i128::from(first.0)).max(1);
    u64::try_from(i128::from(total).saturating_mul(before) / length).unwrap_or(total).min(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_estimated_within_their_range() {
        let range = (Micros(100), Micros(200));
        for (time, share) in [(100, 0), (150, 500), (199, 990), (200, 1_000)] {
            assert_eq!(share_before(range, Micros(time), 1_000), share, "{time}");
        }
        assert_eq!(share_before((Micros(5), Micros(5)), Micros(5), 7), 0);
        let all = (Micros(i64::MIN), Micros(i64::MAX));
        assert!(share_before(all, Micros(0), u64::MAX) <= u64::MAX / 2 + 1);
    }
}
