//! Sets and vectors: a dictionary of the elements, and either each row's list or a dictionary of
//! lists, whichever is estimated to be smaller.

use hadal_encoding::lists::Lists;
use hadal_encoding::{Bitmap, ints, strings};
use hadal_types::Kind;

use super::sorted_strings::{sort_used, used_codes, used_codes_of};
use super::{Body, fill_placeholders};
use crate::directory::Encoding;
use crate::interner::{ListInterner, StringInterner};

pub(super) struct ListSource<'a> {
    pub(super) kind: Kind,
    pub(super) lists: &'a ListInterner,
    pub(super) elements: &'a StringInterner,
}

pub(super) fn encode_lists(
    mut codes: Vec<u32>,
    source: &ListSource<'_>,
    validity: Option<&Bitmap>,
    body: &mut Body,
) -> Encoding {
    fill_placeholders(&mut codes, validity);
    let used = used_codes(&codes, source.lists.len());
    let in_lists = used.iter().flat_map(|&list| source.lists.get(list)).copied();
    let used_elements = used_codes_of(in_lists, source.elements.len());
    let (entries, ranks) = sort_used(used_elements, source.elements);
    let elements = entries.len();

    let longest = used.iter().map(|&list| source.lists.get(list).len()).max().unwrap_or_default();
    let cost = |lists: &[u32]| {
        let total = lists.iter().map(|&list| source.lists.get(list).len()).sum();
        ints::encoded_bytes(lists.len(), longest as u64)
            + ints::encoded_bytes(total, (elements as u64).saturating_sub(1))
    };
    let code_bytes = ints::encoded_bytes(codes.len(), used.len() as u64 - 1);
    let by_dictionary = code_bytes + cost(&used) < cost(&codes);

    let mut lists = Lists::default();
    let mut push = |list: &[u32]| {
        let mut list: Vec<u32> = list.iter().map(|&code| ranks[code as usize]).collect();
        if source.kind == Kind::Set {
            list.sort_unstable();
        }
        lists.push(list);
    };
    if by_dictionary {
        let mut positions = vec![0; source.lists.len()];
        for (position, &list) in (0u32..).zip(&used) {
            positions[list as usize] = position;
            push(source.lists.get(list));
        }
        codes.iter_mut().for_each(|code| *code = positions[*code as usize]);
        body.codes(&codes);
    } else {
        let has = |row| validity.is_none_or(|validity| validity.get(row));
        for (row, &code) in codes.iter().enumerate() {
            push(if has(row) { source.lists.get(code) } else { &[] });
        }
    }
    body.section(|out| strings::encode(&entries, out));
    body.section(|out| lists.encode(out));
    match by_dictionary {
        true => Encoding::ListDictionary { elements, lists: used.len() },
        false => Encoding::Lists { elements },
    }
}
