//! Codec of the states of one measure.

use std::borrow::Cow;

use bytes::Bytes;
use hadal_aggregate::{MeasureColumn, MinMax, Moments, State, WeightedCount};
use hadal_query::{FunctionRegistry, StateKind};
use hadal_types::Weight;
use hadal_types::limits::DECIMAL_SCALE_MAX;

use super::weighted_counts::{decode_counts, encode_counts};
use crate::error::{At, DecodeError, required, unfit};
use crate::frames;
use crate::numbers::{self, of_zigzag, zigzag};
use crate::proto::{self, extremes_column, moments_column, state_column};
use crate::size_guard::MemoryLimit;
use crate::state::{decode_state, decode_sum, encode_state, encode_sum};
use crate::value::{decode_value, encode_value};

type ColumnStates = state_column::States;

/// Encodes a measure of groups with these counts of rows.
pub(super) fn encode_measure(
    measure: MeasureColumn<'_>,
    rows: &[WeightedCount],
) -> proto::StateColumn {
    let states = match measure {
        MeasureColumn::Sums { counts, scale, sums } => {
            let sums = numbers::encode(sums.iter().map(|&sum| zigzag(sum)));
            let sums = proto::ScaledSums { scale: scale.into(), sums };
            encode_moments(&counts, rows, moments_column::Sums::Scaled(sums))
        }
        MeasureColumn::Ranges { are_times, scale, ranges } => {
            ColumnStates::Extremes(encode_ranges(are_times, scale, &ranges))
        }
        MeasureColumn::States(states) => match states.first().map(|state| state.kind()) {
            Some(StateKind::Moments) => encode_exact(&states, rows),
            Some(StateKind::MinMax) => ColumnStates::Extremes(encode_extremes(&states)),
            _ => {
                let states = states.iter().map(|state| encode_state(state));
                ColumnStates::Others(frames::encode(states))
            }
        },
    };
    proto::StateColumn { states: Some(states) }
}

fn encode_moments(
    counts: &[WeightedCount],
    rows: &[WeightedCount],
    sums: moments_column::Sums,
) -> ColumnStates {
    let tallies = (counts != rows).then(|| encode_counts(counts));
    ColumnStates::Moments(proto::MomentsColumn { tallies, sums: Some(sums) })
}

fn encode_exact(states: &[Cow<'_, State>], rows: &[WeightedCount]) -> ColumnStates {
    let moments = states.iter().filter_map(|state| match &**state {
        State::Moments(moments) => Some(moments),
        _ => None,
    });
    let counts: Vec<WeightedCount> = moments.clone().map(|moments| moments.count).collect();
    let sums = frames::encode(moments.map(|moments| encode_sum(&moments.sum)));
    encode_moments(&counts, rows, moments_column::Sums::Exact(sums))
}

fn encode_ranges(
    are_times: bool,
    scale: u8,
    ranges: &[Option<(i64, i64)>],
) -> proto::ExtremesColumn {
    let filled = || ranges.iter().flatten();
    let ranges_of = proto::Ranges {
        scale: scale.into(),
        minima: numbers::encode(filled().map(|&(min, _)| zigzag(min.into()))),
        widths: numbers::encode(filled().map(|&(min, max)| max.abs_diff(min).into())),
    };
    let extremes = match are_times {
        true => extremes_column::Extremes::Times(ranges_of),
        false => extremes_column::Extremes::Numbers(ranges_of),
    };
    let valid = encode_valid(ranges.iter().map(Option::is_some).collect());
    proto::ExtremesColumn { valid, extremes: Some(extremes) }
}

fn encode_extremes(states: &[Cow<'_, State>]) -> proto::ExtremesColumn {
    let range = |state: &Cow<'_, State>| match &**state {
        State::MinMax(extremes) => {
            Some([encode_value(extremes.min()?), encode_value(extremes.max()?)])
        }
        _ => None,
    };
    let ranges: Vec<_> = states.iter().map(range).collect();
    let valid = encode_valid(ranges.iter().map(Option::is_some).collect());
    let values = frames::encode(ranges.into_iter().flatten().flatten());
    proto::ExtremesColumn { valid, extremes: Some(extremes_column::Extremes::Others(values)) }
}

/// Encodes which groups have values; nothing if all have some.
fn encode_valid(valid: Vec<bool>) -> Bytes {
    if valid.iter().all(|is_valid| *is_valid) { Bytes::new() } else { numbers::encode_bits(&valid) }
}

/// Decodes the states of one measure, which must be of this kind, of groups with these counts of
/// rows.
pub(super) fn decode_measure(
    column: &proto::StateColumn,
    (kind, functions): (StateKind, &FunctionRegistry),
    rows: &[WeightedCount],
    memory: &mut MemoryLimit,
) -> Result<MeasureColumn<'static>, DecodeError> {
    match (required(column.states.as_ref())?, kind) {
        (ColumnStates::Moments(moments), StateKind::Moments) => {
            decode_moments(moments, rows, memory).at("moments")
        }
        (ColumnStates::Extremes(extremes), StateKind::MinMax) => {
            decode_extremes(extremes, rows.len(), memory).at("extremes")
        }
        (ColumnStates::Others(_), StateKind::Moments | StateKind::MinMax) => {
            Err(unfit("states", format_args!("{kind:?}")))
        }
        (ColumnStates::Others(states), _) => {
            let decode = |state, memory: &mut MemoryLimit| {
                decode_state(state, (kind, functions), memory).map(Cow::Owned)
            };
            let states = ("others", states.clone());
            frames::decode(states, rows.len(), memory, decode).map(MeasureColumn::States)
        }
        (ColumnStates::Moments(_), _) => Err(unfit("Moments", format_args!("{kind:?}"))),
        (ColumnStates::Extremes(_), _) => Err(unfit("MinMax", format_args!("{kind:?}"))),
    }
}

fn decode_moments(
    column: &proto::MomentsColumn,
    rows: &[WeightedCount],
    memory: &mut MemoryLimit,
) -> Result<MeasureColumn<'static>, DecodeError> {
    let counts = match &column.tallies {
        Some(tallies) => decode_counts(Some(tallies), rows.len(), memory).at("tallies")?,
        None => {
            memory.spend(rows.len(), size_of::<WeightedCount>())?;
            rows.to_vec()
        }
    };
    match required(column.sums.as_ref()).at("sums")? {
        moments_column::Sums::Scaled(scaled) => {
            let scale = decode_scale(scaled.scale, DECIMAL_SCALE_MAX + Weight::SCALE)?;
            let sum = |number| Some(of_zigzag(number));
            let sums = numbers::decode(&scaled.sums, rows.len(), memory, sum).at("sums")?;
            Ok(MeasureColumn::Sums { counts, scale, sums })
        }
        moments_column::Sums::Exact(sums) => {
            let mut counts = counts.into_iter();
            let decode = |sum, _: &mut MemoryLimit| {
                let (count, sum) = (required(counts.next())?, decode_sum(sum)?);
                Ok(Cow::Owned(State::Moments(Moments { count, sum })))
            };
            let states = frames::decode(("exact", sums.clone()), rows.len(), memory, decode);
            states.map(MeasureColumn::States)
        }
    }
}

fn decode_scale(scale: u32, most: u8) -> Result<u8, DecodeError> {
    let fitting = u8::try_from(scale).ok().filter(|&scale| scale <= most);
    fitting.ok_or_else(|| unfit(scale, format_args!("0 to {most}"))).at("scale")
}

fn decode_extremes(
    column: &proto::ExtremesColumn,
    count: usize,
    memory: &mut MemoryLimit,
) -> Result<MeasureColumn<'static>, DecodeError> {
    let valid = match &column.valid {
        valid if valid.is_empty() => None,
        valid => Some(numbers::decode_bits(valid, count, memory).at("valid")?),
    };
    let filled = valid.as_ref().map_or(count, |valid| valid.iter().filter(|bit| **bit).count());
    match required(column.extremes.as_ref())? {
        extremes_column::Extremes::Others(values) => {
            let values =
                frames::decode(("others", values.clone()), 2 * filled, memory, |value, _| {
                    decode_value(value)
                });
            let mut values = values?.into_iter();
            let ranges = std::iter::from_fn(|| values.next().zip(values.next()));
            memory.spend(count, size_of::<State>())?;
            let states = spread(ranges.map(Some), valid, count).map(|range| {
                let extremes = MinMax::from_parts(range).map(State::MinMax);
                extremes.map(Cow::Owned).ok_or_else(range_upside_down)
            });
            Ok(MeasureColumn::States(states.collect::<Result<_, _>>().at("others")?))
        }
        extremes_column::Extremes::Numbers(ranges) => {
            decode_ranges(false, ranges, (filled, count), valid, memory).at("numbers")
        }
        extremes_column::Extremes::Times(ranges) => {
            decode_ranges(true, ranges, (filled, count), valid, memory).at("times")
        }
    }
}

fn range_upside_down() -> DecodeError {
    unfit("a range upside down or of null", "min to max")
}

fn decode_ranges(
    are_times: bool,
    ranges: &proto::Ranges,
    (filled, count): (usize, usize),
    valid: Option<Vec<bool>>,
    memory: &mut MemoryLimit,
) -> Result<MeasureColumn<'static>, DecodeError> {
    let scale = decode_scale(ranges.scale, if are_times { 0 } else { DECIMAL_SCALE_MAX })?;
    let min = |number| i64::try_from(of_zigzag(number)).ok();
    let minima = numbers::decode(&ranges.minima, filled, memory, min).at("minima")?;
    let mut mins = minima.iter();
    let range = |width| {
        let min = *mins.next()?;
        Some(Some((min, min.checked_add_unsigned(u64::try_from(width).ok()?)?)))
    };
    let ranges = numbers::decode(&ranges.widths, filled, memory, range).at("widths")?;
    memory.spend(count, size_of::<Option<(i64, i64)>>())?;
    let ranges = spread(ranges.into_iter(), valid, count).collect();
    Ok(MeasureColumn::Ranges { are_times, scale, ranges })
}

/// The elements at the groups that have values, and none at the others.
fn spread<T>(
    elements: impl Iterator<Item = Option<T>>,
    valid: Option<Vec<bool>>,
    count: usize,
) -> impl Iterator<Item = Option<T>> {
    let mut elements = elements;
    let valid = valid.unwrap_or_else(|| vec![true; count]).into_iter();
    valid.map(move |is_valid| if is_valid { elements.next().flatten() } else { None })
}
