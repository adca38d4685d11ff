//! Codec of the states of histograms.

use hadal_aggregate::{EdgeHistogram, EdgeHistogramParts, Histogram, HistogramParts, LogHistogram};
use hadal_types::limits::HISTOGRAM_BUCKETS_MAX;

use crate::error::{At, DecodeError, at_most, each, unfit};
use crate::proto;
use crate::value::{decode_integer, decode_number, encode_integer, encode_number};

pub(crate) fn encode_histogram(histogram: &Histogram) -> proto::HistogramCells {
    let Some(HistogramParts { min, max, cells }) = histogram.to_parts() else {
        return proto::HistogramCells::default();
    };
    let cells = cells
        .into_iter()
        .map(|(cell, weight)| proto::HistogramCell { cell, weight: Some(encode_integer(weight)) });
    proto::HistogramCells {
        min: Some(encode_number(min)),
        max: Some(encode_number(max)),
        cells: cells.collect(),
    }
}

pub(crate) fn decode_histogram(
    message: proto::HistogramCells,
    buckets: u16,
) -> Result<Histogram, DecodeError> {
    at_most("cells", message.cells.len(), Histogram::cells_max(buckets))?;
    let parts = match (message.min, message.max) {
        (None, None) if message.cells.is_empty() => None,
        (min, max) => Some(HistogramParts {
            min: decode_number(min).at("min")?,
            max: decode_number(max).at("max")?,
            cells: each("cells", message.cells, |cell| {
                Ok((cell.cell, decode_integer(cell.weight)?))
            })?,
        }),
    };
    Histogram::from_parts(buckets, parts)
        .ok_or_else(|| unfit("cells out of order or range", "those from min to max"))
}

pub(crate) fn encode_log_histogram(histogram: &LogHistogram) -> proto::LogHistogramCells {
    let cells = histogram.cells().iter().map(|&(cell, weight)| proto::LogHistogramCell {
        cell,
        weight: Some(encode_integer(weight)),
    });
    proto::LogHistogramCells { cells: cells.collect() }
}

pub(crate) fn decode_log_histogram(
    message: proto::LogHistogramCells,
    base: u16,
) -> Result<LogHistogram, DecodeError> {
    let cells = each("cells", message.cells, |cell| Ok((cell.cell, decode_integer(cell.weight)?)))?;
    LogHistogram::of_cells(base, cells)
        .ok_or_else(|| unfit("cells out of order or range", "ascending cells of powers"))
}

pub(crate) fn encode_edge_histogram(histogram: &EdgeHistogram) -> proto::EdgeHistogramCells {
    let Some(EdgeHistogramParts { edges, weights, min, max }) = histogram.to_parts() else {
        return proto::EdgeHistogramCells::default();
    };
    proto::EdgeHistogramCells {
        edges: edges.into_iter().map(encode_number).collect(),
        weights: weights.into_iter().map(encode_integer).collect(),
        min: Some(encode_number(min)),
        max: Some(encode_number(max)),
    }
}

pub(crate) fn decode_edge_histogram(
    message: proto::EdgeHistogramCells,
) -> Result<EdgeHistogram, DecodeError> {
    if message == proto::EdgeHistogramCells::default() {
        return Ok(EdgeHistogram::default());
    }
    at_most("edges", message.edges.len(), usize::from(HISTOGRAM_BUCKETS_MAX))?;
    let parts = EdgeHistogramParts {
        edges: each("edges", message.edges, |edge| decode_number(Some(edge)))?,
        weights: each("weights", message.weights, |weight| decode_integer(Some(weight)))?,
        min: decode_number(message.min).at("min")?,
        max: decode_number(message.max).at("max")?,
    };
    EdgeHistogram::from_parts(Some(parts))
        .ok_or_else(|| unfit("edges or weights out of order or range", "those from min to max"))
}
