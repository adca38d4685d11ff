//! Writes the numbers of templates: similar numbers are written to the same stream.

use super::{STREAMS_MAX, is_placeholder};
use crate::cursor::{write_length, write_prefixed};
use crate::{ints, packing};

/// Placeholders from this position on share a shape, per width.
const POSITIONS: usize = 4;

/// Appends the numbers of strings: per string its template, as an index into `templates`; and its
/// numbers, concatenated in `numbers`.
pub fn encode_numbers(codes: &[u32], templates: &[&str], numbers: &[i64], out: &mut Vec<u8>) {
    let firsts = first_placeholders(templates);
    let count = firsts.last().copied().unwrap_or_default();
    let mut widths = vec![0u8; count];
    for_each_number(codes, &firsts, numbers, |place, number| {
        widths[place] = widths[place].max(packing::bit_width(number.cast_unsigned()));
    });
    let shapes = firsts.windows(2).flat_map(|pair| 0..pair[1] - pair[0]).zip(&widths);
    let shapes: Vec<usize> = shapes.map(|(position, &width)| shape(position, width)).collect();
    let (streams, stream_count) = number_through(&shapes);
    let mut split: Vec<Vec<i64>> = vec![Vec::new(); stream_count];
    for_each_number(codes, &firsts, numbers, |place, number| {
        split[streams[place] as usize].push(number);
    });
    write_length(stream_count, out);
    write_prefixed(out, |out| ints::encode_codes(&streams, out));
    for stream in split {
        write_prefixed(out, |out| ints::encode(&stream, out));
    }
}

/// Calls `each` with every number and the index of its placeholder.
fn for_each_number(
    codes: &[u32],
    firsts: &[usize],
    numbers: &[i64],
    mut each: impl FnMut(usize, i64),
) {
    let mut rest = numbers;
    for &code in codes {
        let (first, end) = (firsts[code as usize], firsts[code as usize + 1]);
        let (string_numbers, after) = rest.split_at(rest.len().min(end - first));
        for (place, &number) in (first..end).zip(string_numbers) {
            each(place, number);
        }
        rest = after;
    }
}

/// The index of each template's first placeholder among all placeholders, and their total number.
fn first_placeholders(templates: &[&str]) -> Vec<usize> {
    let mut firsts = vec![0];
    let mut count = 0;
    for template in templates {
        count += template.bytes().filter(|&byte| is_placeholder(byte)).count();
        firsts.push(count);
    }
    firsts
}

/// The shape of a placeholder's numbers: their position in the template, and their approximate
/// size. So a random number does not widen the small numbers at the same position of other
/// templates.
fn shape(position: usize, width: u8) -> usize {
    let size = match width {
        0..=8 => 0,
        9..=16 => 1,
        17..=32 => 2,
        _ => 3,
    };
    position.min(POSITIONS - 1) + size * POSITIONS
}

/// Numbers the shapes that occur, from 0 on; returns the number of each shape's stream, and the
/// number of streams.
fn number_through(shapes: &[usize]) -> (Vec<u32>, usize) {
    let mut numbers = [None; STREAMS_MAX];
    let mut count = 0u32;
    let mut number = |&shape: &usize| {
        *numbers[shape].get_or_insert_with(|| {
            count += 1;
            count - 1
        })
    };
    let streams = shapes.iter().map(&mut number).collect();
    (streams, count as usize)
}

const _: () = assert!(STREAMS_MAX >= 4 * POSITIONS, "a stream for each shape");
