//! Different numbers of all groups of a block, row by row: where values hardly repeat within a block,
//! so that looking for repetitions would cost more than hashing each.

use hadal_aggregate::{Groups, State, hash_decimal};

use crate::mantissas::{ByCode, Mantissas};
use crate::rows::Rows;
use crate::values::Numbers;

/// No place: the group was dropped.
const NOWHERE: u32 = u32::MAX;

/// Adds the selected rows' values to the measure of this index of all groups: of their number here
/// and their place there.
pub(crate) fn add(
    numbers: &Numbers,
    groups: &mut Groups,
    measure: usize,
    found: &[(usize, u32)],
    rows: &Rows<'_>,
) {
    let mut places = vec![NOWHERE; rows.space];
    found.iter().for_each(|&(number, place)| places[number] = place);
    let states = groups.states_mut(measure);
    let mut add = |hash: &dyn Fn(usize) -> u64| {
        rows.for_each(numbers.valid.as_deref(), |number, row| {
            if let Some(State::Distinct(own)) = states.get_mut(places[number] as usize) {
                own.add_hash(hash(row));
            }
        });
    };
    match &numbers.mantissas {
        Mantissas::ByCode(ByCode { codes, values }) => {
            let hash = |&mantissa: &i64| hash_decimal(mantissa, numbers.scale);
            let hashes: Vec<u64> = values.iter().map(hash).collect();
            add(&|row| hashes[codes[row] as usize]);
        }
        mantissas => add(&|row| hash_decimal(mantissas.get(row), numbers.scale)),
    }
}
