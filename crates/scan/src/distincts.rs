//! Different numbers of all groups of a block, row by row: where values hardly repeat within a block,
//! so that looking for repetitions would cost more than hashing each.
//!
//! Hashes, and where they go in a sketch, are found for many rows at a time; what is left per row
//! is one byte of its group's sketch, or a look into the small set that it has instead.

use hadal_aggregate::{
    DISTINCT_REGISTER_BITS, Distinct, Groups, INTEGER_SALT, State, hash_decimal,
};
use hadal_encoding::kernels;

use crate::mantissas::{ByCode, Mantissas};
use crate::rows::Rows;
use crate::values::Numbers;

/// So many rows are hashed at a time, which stay in the nearest cache.
const ROWS_AT_ONCE: usize = 1_024;

/// Adds the selected rows' values to the measure of this index of all groups: of their number here
/// and their place there.
pub(crate) fn add(
    numbers: &Numbers,
    groups: &mut Groups,
    measure: usize,
    found: &[(usize, u32)],
    rows: &Rows<'_>,
) {
    let states = groups.states_mut(measure);
    let mut sets = vec![Distinct::default(); rows.space];
    for &(number, place) in found {
        if let State::Distinct(own) = &mut states[place as usize] {
            std::mem::swap(own, &mut sets[number]);
        }
    }
    add_to_sets(numbers, rows, &mut sets);
    for &(number, place) in found {
        if let State::Distinct(own) = &mut states[place as usize] {
            std::mem::swap(own, &mut sets[number]);
        }
    }
}

/// Adds the selected rows' values to the sets of their group numbers.
fn add_to_sets(numbers: &Numbers, rows: &Rows<'_>, sets: &mut [Distinct]) {
    let valid = numbers.valid.as_deref();
    if let Mantissas::ByCode(ByCode { codes, values }) = &numbers.mantissas {
        let Hashes { hashes, ranked } = Hashes::of(values, numbers.scale);
        return rows.for_each(valid, |number, row| {
            let code = codes[row] as usize;
            sets[number].add_ranked(ranked[code], || hashes[code]);
        });
    }
    let (mut own, mut mantissas) = (Vec::new(), Vec::new());
    let mut add = |own: &mut Vec<usize>, mantissas: &mut Vec<i64>| {
        let Hashes { hashes, ranked } = Hashes::of(mantissas, numbers.scale);
        for ((&number, hash), ranked) in own.iter().zip(hashes).zip(ranked) {
            sets[number].add_ranked(ranked, || hash);
        }
        own.clear();
        mantissas.clear();
    };
    rows.for_each(valid, |number, row| {
        own.push(number);
        mantissas.push(numbers.mantissas.get(row));
        if own.len() == ROWS_AT_ONCE {
            add(&mut own, &mut mantissas);
        }
    });
    add(&mut own, &mut mantissas);
}

/// Hashes, and what each is to a sketch.
struct Hashes {
    hashes: Vec<u64>,
    /// Register · 256 + rank.
    ranked: Vec<u32>,
}

impl Hashes {
    /// Of decimals of this scale.
    fn of(mantissas: &[i64], scale: u8) -> Self {
        let mut hashes = vec![0; mantissas.len()];
        if scale == 0 {
            kernels::hash_i64(mantissas, INTEGER_SALT, &mut hashes);
        } else {
            let all = hashes.iter_mut().zip(mantissas);
            all.for_each(|(hash, &mantissa)| *hash = hash_decimal(mantissa, scale));
        }
        let mut ranked = vec![0; hashes.len()];
        kernels::register_ranks(&hashes, DISTINCT_REGISTER_BITS, &mut ranked);
        Self { hashes, ranked }
    }
}
