//! Weights in ascending order of where they lie: the buckets of a sketch, the cells of a
//! histogram. Two such lists merge in one walk over both.

/// Adds weights to others of which each place occurs once; `more` is in ascending order too.
///
/// Sums saturate: weights are positive, so that this does not depend on their order either.
pub(crate) fn add_ascending<P: Copy + Ord>(
    own: &mut Vec<(P, i128)>,
    more: impl IntoIterator<Item = (P, i128)>,
) {
    let known = own.len();
    let mut more = more.into_iter().peekable();
    let mut at = more.peek().map_or(0, |first| own.partition_point(|old| old.0 < first.0));
    for (group_index, weight) in more {
        at += own[at..known].iter().take_while(|old| old.0 < group_index).count();
        match own[..known].get_mut(at) {
            Some(old) if old.0 == group_index => old.1 = old.1.saturating_add(weight),
            _ => own.push((group_index, weight)),
        }
    }
    debug_assert!(is_ascending(&own[known..]), "weights in ascending order");
    if own.len() > known {
        // Two ascending runs, which this sort merges.
        own.sort_by_key(|old| old.0);
    }
}

/// Whether each place occurs once, in ascending order.
pub(crate) fn is_ascending<P: Ord>(weights: &[(P, i128)]) -> bool {
    weights.is_sorted_by(|left, right| left.0 < right.0)
}
