//! Weights sorted by position: by the bucket of a sketch or the cell of a histogram. Two such lists
//! merge in one pass over both.

/// Adds weights to a list that is ascending and has each position once; `more` is ascending too.
///
/// Sums saturate. Weights are positive, so the result does not depend on the order of additions.
pub(crate) fn add_ascending<P: Copy + Ord>(
    weights: &mut Vec<(P, i128)>,
    more: impl IntoIterator<Item = (P, i128)>,
) {
    let sorted = weights.len();
    let mut more = more.into_iter().peekable();
    let mut at = more.peek().map_or(0, |first| weights.partition_point(|old| old.0 < first.0));
    for (position, weight) in more {
        at += weights[at..sorted].iter().take_while(|old| old.0 < position).count();
        match weights[..sorted].get_mut(at) {
            Some(old) if old.0 == position => old.1 = old.1.saturating_add(weight),
            _ => weights.push((position, weight)),
        }
    }
    debug_assert!(is_ascending(&weights[sorted..]), "weights in ascending order");
    if weights.len() > sorted {
        // The list is now two ascending runs, which this stable sort merges.
        weights.sort_by_key(|old| old.0);
    }
}

/// Whether the positions are ascending and each occurs once.
pub(crate) fn is_ascending<P: Ord>(weights: &[(P, i128)]) -> bool {
    weights.is_sorted_by(|left, right| left.0 < right.0)
}
