//! The strings of an interner that a column uses, sorted for its dictionary.

use crate::interner::StringInterner;

/// The codes that occur, ascending.
pub(super) fn used_codes(codes: &[u32], limit: usize) -> Vec<u32> {
    used_codes_of(codes.iter().copied(), limit)
}

pub(super) fn used_codes_of(codes: impl Iterator<Item = u32>, limit: usize) -> Vec<u32> {
    let mut used = vec![false; limit];
    codes.for_each(|code| used[code as usize] = true);
    (0u32..).zip(used).filter_map(|(code, used)| used.then_some(code)).collect()
}

/// The strings of these codes, sorted and distinct, and each code's index among them.
pub(super) fn sort_used(used: Vec<u32>, source: &StringInterner) -> (Vec<&str>, Vec<u32>) {
    let shared = shared_bytes(&used, source);
    let begins = |code| (begin(&source.get(code).as_bytes()[shared..]), code);
    let mut used: Vec<(u128, u32)> = used.into_iter().map(begins).collect();
    used.sort_unstable_by(|(left, left_code), (right, right_code)| {
        left.cmp(right).then_with(|| source.get(*left_code).cmp(source.get(*right_code)))
    });
    let mut entries: Vec<&str> = Vec::with_capacity(used.len());
    let mut ranks = vec![0; source.len()];
    let mut rank = 0;
    for (_, code) in used {
        let string = source.get(code);
        // A string may have several codes.
        if entries.last() != Some(&string) {
            rank = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            entries.push(string);
        }
        ranks[code as usize] = rank;
    }
    (entries, ranks)
}

/// Total length of the strings of these codes.
pub(super) fn text_bytes(codes: &[u32], source: &StringInterner) -> usize {
    codes.iter().map(|&code| source.bytes_of(code)).sum()
}

/// The length of the common prefix of these strings.
fn shared_bytes(used: &[u32], source: &StringInterner) -> usize {
    let Some(&first) = used.first() else { return 0 };
    let first = source.get(first).as_bytes();
    used.iter().fold(first.len(), |shared, &code| {
        let pairs = first[..shared].iter().zip(source.get(code).as_bytes());
        pairs.take_while(|(left, right)| left == right).count()
    })
}

/// The first 16 bytes of a string as a number. Numbers that differ have the same order as their
/// strings.
fn begin(string: &[u8]) -> u128 {
    if let Some(first) = string.first_chunk() {
        return u128::from_be_bytes(*first);
    }
    let mut first = [0; 16];
    first[..string.len()].copy_from_slice(string);
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strings_are_sorted(
            prefix in "[a-c]{0,20}",
            ends in prop::collection::vec("[\0-\u{2}a\u{e9}]{0,20}", 0..60),
        ) {
            let mut source = StringInterner::default();
            for end in ends.iter().flat_map(|end| [end, ""]) {
                source.intern(&format!("{prefix}{end}"));
            }
            let (entries, ranks) = sort_used((0u32..).take(source.len()).collect(), &source);
            prop_assert!(entries.is_sorted_by(|left, right| left < right));
            for (code, rank) in (0u32..).zip(ranks) {
                prop_assert_eq!(entries[rank as usize], source.get(code));
            }
        }
    }
}
